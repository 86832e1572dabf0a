-- SPDX-License-Identifier: MIT
-- Calls: Fibonacci, Ackermann, queens, closures and coroutines.
local n = tonumber(arg[1] or 1)

local function fib(k)
	if k < 2 then return k end
	return fib(k - 1) + fib(k - 2)
end

local function ackermann(a, b)
	if a == 0 then return b + 1 end
	if b == 0 then return ackermann(a - 1, 1) end
	return ackermann(a - 1, ackermann(a, b - 1))
end

local function queens(size)
	local found, row, up, down = 0, {}, {}, {}
	local function place(column)
		if column > size then found = found + 1 return end
		for r = 1, size do
			local u, d = r + column, r - column + size
			if not (row[r] or up[u] or down[d]) then
				row[r], up[u], down[d] = true, true, true
				place(column + 1)
				row[r], up[u], down[d] = nil, nil, nil
			end
		end
	end
	place(1)
	return found
end

local function permutations(list)
	local function generate(k)
		if k == 0 then coroutine.yield() return end
		for i = 1, k do
			list[i], list[k] = list[k], list[i]
			generate(k - 1)
			list[i], list[k] = list[k], list[i]
		end
	end
	return coroutine.wrap(function() generate(#list) return true end)
end

local sum = 0
for _ = 1, n do
	sum = sum + fib(20) + ackermann(2, 60) + queens(6)
	local count, step = 0, permutations { 1, 2, 3, 4, 5, 6 }
	while not step() do count = count + 1 end
	sum = sum + count
end
print(sum)
