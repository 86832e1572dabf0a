-- SPDX-License-Identifier: MIT
-- Strings: patterns, substitution, formatting, concatenation, packing.
local n = tonumber(arg[1] or 1)

local text = {}
for i = 1, 400 do
	text[#text + 1] = string.format("%05d: the quick brown fox (%x) jumps over %q; user%d@example%d.org", i, i * 37, "lazy dog", i, i % 10)
end
text = table.concat(text, "\n")

local function caesar(line)
	return (line:gsub("%a", function(c)
		local base = c:match("%u") and 65 or 97
		return string.char((c:byte() - base + 13) % 26 + base)
	end))
end

local function words(line)
	local seen, count = {}, 0
	for word in line:gmatch("%w+") do
		if not seen[word] then
			seen[word] = true
			count = count + 1
		end
	end
	return count
end

local function checksum(line)
	local a, b = 1, 0
	for i = 1, #line do
		a = (a + line:byte(i)) % 65521
		b = (b + a) % 65521
	end
	return b << 16 | a
end

local total = 0
for _ = 1, n do
	assert(caesar(caesar(text)) == text)
	total = total + words(text) + checksum(text)
	for user, host in text:gmatch("(%w+)@(%w+)%.org") do total = total + #user * #host end
	total = total + select(2, text:gsub("%((%x+)%)", "[%1]"))
	total = total + #text:upper():reverse():rep(3, "-")
	local packed = {}
	for i = 1, 500 do packed[i] = string.pack("<I4 s1 d", i, "item" .. i, i / 3) end
	packed = table.concat(packed)
	local at, sum = 1, 0
	while at <= #packed do
		local number, name, value
		number, name, value, at = string.unpack("<I4 s1 d", packed, at)
		sum = sum + number + #name + value
	end
	total = total + math.floor(sum)
	total = total + (text:find("user400@", 1, true) or 0)
end
print(total)
