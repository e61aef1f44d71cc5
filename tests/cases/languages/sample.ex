defmodule Shop.Cart do
  @doc "x"
  def total(a, b) when a > 1 do
    a + b
  end

  defp helper(x), do: x
  defmacro m(x) do
    x
  end
  def bare do
    1
  end
end
