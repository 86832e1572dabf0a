-- SPDX-License-Identifier: MIT
-- Tables: sieve, matrices in floating point, sorting, a heap, word counts, objects.
local n = tonumber(arg[1] or 1)

local seed = 42
local function random(limit)
	seed = (seed * 1103515245 + 12345) & 0x7fffffff
	return seed % limit + 1
end

local function sieve(limit)
	local composite, count = {}, 0
	for i = 2, limit do
		if not composite[i] then
			count = count + 1
			for j = i * i, limit, i do composite[j] = true end
		end
	end
	return count
end

local function matrix(size)
	local m = {}
	for i = 1, size do
		m[i] = {}
		for j = 1, size do m[i][j] = (i * j % 7) / 3 end
	end
	return m
end

local function multiply(a, b)
	local size, c = #a, {}
	for i = 1, size do
		local row = {}
		for j = 1, size do
			local sum = 0.0
			for k = 1, size do sum = sum + a[i][k] * b[k][j] end
			row[j] = sum
		end
		c[i] = row
	end
	return c
end

local Heap = {}
Heap.__index = Heap

function Heap:push(value)
	local i = #self + 1
	while i > 1 and self[i // 2] > value do
		self[i] = self[i // 2]
		i = i // 2
	end
	self[i] = value
end

function Heap:pop()
	local top, last = self[1], table.remove(self)
	if #self == 0 then return top end
	local i, size = 1, #self
	while 2 * i <= size do
		local child = 2 * i
		if child < size and self[child + 1] < self[child] then child = child + 1 end
		if last <= self[child] then break end
		self[i] = self[child]
		i = child
	end
	self[i] = last
	return top
end

local check = 0
for _ = 1, n do
	check = check + sieve(20000)
	local a = matrix(30)
	check = check + multiply(a, a)[30][30]

	local list = {}
	for i = 1, 5000 do list[i] = random(100000) end
	table.sort(list)
	table.sort(list, function(x, y) return x % 1000 < y % 1000 end)
	check = check + list[2500] % 1000

	local heap = setmetatable({}, Heap)
	for _ = 1, 3000 do heap:push(random(100000)) end
	for _ = 1, 3000 do check = check + heap:pop() % 3 end

	local counts = {}
	for _ = 1, 10000 do
		local key = "word" .. random(500)
		counts[key] = (counts[key] or 0) + 1
	end
	local most = 0
	for _, count in pairs(counts) do most = math.max(most, count) end
	check = check + most
end
print(string.format("%.6f", check))
