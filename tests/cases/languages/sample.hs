module Shop where
import Data.List

-- | doc
data Cart = Cart { n :: Int }

class Shape a where
  area :: a -> Double

instance Shape Cart where
  area c = 1.0

total :: Int -> Int
total 0 = 1
total x = helper x
  where
    helper y = y + 1

main = putStrLn "hi"
