-- note
local function inner(a)
  return a
end
function M.total(a)
  local f = function(b) return b end
  return "x"
end
function M:method() end
M.other = function(a)
  return a
end
local g = function() return 1 end
t = { key = function() return 1 end }
