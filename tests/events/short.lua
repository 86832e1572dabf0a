-- SPDX-License-Identifier: MIT
-- A little of everything, in few instructions.
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local sum = fib(tonumber(arg and arg[1] or 8))
local t = setmetatable({}, {__index = function(_, k) return k * 2 end})
for i = 1, 20 do t[i] = t[i] + i end
table.sort(t, function(a, b) return a > b end)
for k, v in pairs(t) do sum = sum + k * v end
for i = 1, 6 do
	local fine, what = pcall(function() if i % 2 == 0 then error({i}) end return i end)
	sum = sum + (fine and what or what[1])
end
local co = coroutine.wrap(function(a) while true do a = coroutine.yield(a * 3) end end)
for i = 1, 5 do sum = sum + co(i) end
local s = ("x"):rep(10) .. string.format("%d %5.2f", sum, sum / 3)
sum = sum + #s:gsub("%d", "y") + (s:find("x%s*%d") or 0) + select("#", table.unpack(t))
goto done
sum = 0
::done::
print(sum, s)
