-- SPDX-License-Identifier: MIT
-- A walk through the language and its library, with what must come out. With an
-- argument, only what does not depend on addresses.
local whole = arg == nil or arg[1] == nil

local function section(name, body)
	body()
	print("ok " .. name)
end

section("arithmetic", function()
	assert(7 // 2 == 3 and -7 // 2 == -4 and 7 % -3 == -2 and -7 % 3 == 2)
	assert(7.5 // 2 == 3.0 and 2 ^ 10 == 1024.0 and 1 / 0 == math.huge)
	assert(3 | 4 == 7 and 7 ~ 2 == 5 and ~0 == -1 and 1 << 63 == math.mininteger and 1 << 64 == 0)
	assert(math.maxinteger + 1 == math.mininteger and math.type(3.0) == "float")
	assert("10" + 5 == 15 and "0x10" * 2 == 32 and 10 .. 20 == "1020")
	assert(math.tointeger(3.0) == 3 and not math.tointeger(3.5) and math.ult(1, -1))
	assert(0x1p4 == 16.0 and 1e2 == 100.0 and 0xA == 10 and 3 == 3.0)
	for i = -20, 20 do
		for j = -7, 7 do
			if j ~= 0 then assert(i == (i // j) * j + i % j) end
		end
	end
	assert(not pcall(function() return 1 // 0 end) and not pcall(function() return {} + 1 end))
	local nan = 0 / 0
	assert(nan ~= nan and not (nan < nan))
	assert(math.floor(-3.5) == -4 and math.ceil(3.2) == 4 and math.fmod(-6, 4) == -2)
	assert(math.max(1, 5.5, 3) == 5.5 and math.abs(math.mininteger) == math.mininteger)
end)

section("control", function()
	local log = {}
	for i = 10, 1, -3 do log[#log + 1] = i end
	assert(table.concat(log, ",") == "10,7,4,1")
	for x = 1.0, 2.0, 0.25 do log[#log + 1] = x end
	assert(#log == 9)
	local i = 0
	repeat local last = i; i = i + 1 until last == 4
	assert(i == 5)
	for a = 1, 3 do
		for b = 1, 3 do
			if a * b == 4 then goto done end
			if b == 2 then goto next end
		end
		::next::
	end
	::done::
	while true do
		i = i - 1
		if i < 0 then break end
	end
	assert(i == -1)
end)

section("functions", function()
	local function sum(...)
		local total = 0
		for k = 1, select("#", ...) do total = total + (select(k, ...) or 0) end
		return total
	end
	assert(sum() == 0 and sum(1, nil, 3) == 4 and sum(table.unpack({ 1, 2, 3 }, 2)) == 5)
	local function loop(k) if k == 0 then return "end" end return loop(k - 1) end
	assert(loop(100000) == "end")
	local function counter()
		local c = 0
		return function() c = c + 1 return c end, function() return c end
	end
	local up, get = counter()
	for _ = 1, 10 do up() end
	assert(get() == 10)
	local list = {}
	for k = 1, 3 do list[k] = function() k = k + 1 return k end end
	assert(list[1]() == 2 and list[1]() == 3 and list[2]() == 3)
	assert(table.pack(pcall(string.rep)).n == 2)
	local ok, message = pcall(function() local function deep() return 1 + deep() end return deep() end)
	assert(not ok and message:find("stack overflow"))
end)

section("metatables", function()
	local V = {}
	V.__index = V
	V.__add = function(a, b) return setmetatable({ x = a.x + b.x }, V) end
	V.__eq = function(a, b) return a.x == b.x end
	V.__lt = function(a, b) return a.x < b.x end
	V.__le = function(a, b) return a.x <= b.x end
	V.__call = function(self, y) return self.x * y end
	V.__tostring = function(self) return "V(" .. self.x .. ")" end
	V.__len = function(self) return self.x end
	V.__concat = function(a, b) return tostring(a) .. "|" .. tostring(b) end
	V.__unm = function(a) return setmetatable({ x = -a.x }, V) end
	V.__close = function(self) V.closed = (V.closed or 0) + 1 end
	local function v(x) return setmetatable({ x = x }, V) end
	assert((v(1) + v(2)).x == 3 and v(1) == v(1) and v(1) < v(2) and v(2) <= v(2) and v(4)(5) == 20)
	assert(tostring(-v(3)) == "V(-3)" and #v(9) == 9 and v(1) .. v(2) == "V(1)|V(2)" and v(1) .. "x" == "V(1)|x")
	do local a <close> = v(1); local b <close> = v(2) end
	pcall(function() local c <close> = v(3); error("gone") end)
	assert(V.closed == 3)
	local proxy = setmetatable({}, { __index = function(_, k) return k .. "!" end, __newindex = function(t, k, x) rawset(t, k, x * 2) end })
	assert(proxy.a == "a!")
	proxy.b = 21
	assert(proxy.b == 42)
	local chain = setmetatable({}, { __index = setmetatable({ p = 1 }, { __index = { q = 2 } }) })
	assert(chain.p == 1 and chain.q == 2 and chain.r == nil)
	assert(not pcall(setmetatable, setmetatable({}, { __metatable = "locked" }), {}))
end)

section("errors", function()
	local ok, e = pcall(error, { code = 7 })
	assert(not ok and e.code == 7)
	ok, e = xpcall(function() local t; return t.x end, function(m) return "handled: " .. m end)
	assert(not ok and e:find("^handled: .*attempt to index a nil value %(local 't'%)"))
	ok, e = pcall(error, "text", 0)
	assert(e == "text")
	local depth = 0
	local function nest(k)
		if k == 0 then error("bottom", 0) end
		local good, why = pcall(nest, k - 1)
		depth = depth + 1
		error(why .. k, 0)
	end
	ok, e = pcall(nest, 5)
	assert(e == "bottom12345" and depth == 5)
	assert(select(2, load("x = = 1", "=chunk")):find("chunk:1: unexpected symbol near '='"))
	assert(select(2, load("for i = 1 do end", "=c")) and select(2, load("goto nowhere", "=c")) and not load("break"))
	assert(not pcall(string.format, "%d", 1.5) and not pcall(("x").rep, "x", 1 << 60))
end)

section("coroutines", function()
	local co = coroutine.create(function(a, b)
		local c = coroutine.yield(a + b)
		local d, e = coroutine.yield(c * 2)
		return d + e
	end)
	assert(select(2, coroutine.resume(co, 1, 2)) == 3)
	assert(select(2, coroutine.resume(co, 10)) == 20)
	assert(select(2, coroutine.resume(co, 3, 4)) == 7 and coroutine.status(co) == "dead")
	assert(not coroutine.resume(co))
	local function walk(tree)
		if tree then walk(tree.left); coroutine.yield(tree.value); walk(tree.right) end
	end
	local function insert(tree, value)
		if not tree then return { value = value } end
		local side = value < tree.value and "left" or "right"
		tree[side] = insert(tree[side], value)
		return tree
	end
	local tree
	for _, value in ipairs { 5, 2, 8, 1, 9, 3 } do tree = insert(tree, value) end
	local out = {}
	for value in coroutine.wrap(function() walk(tree) end) do out[#out + 1] = value end
	assert(table.concat(out) == "123589")
	local inside = coroutine.wrap(function()
		local ok, e = pcall(function() coroutine.yield(1); error("inside", 0) end)
		coroutine.yield(e)
		return table.concat({ 3, 1, 2 }, ",")
	end)
	assert(inside() == 1 and inside() == "inside" and inside() == "3,1,2")
	local sorted = coroutine.wrap(function() local t = { 3, 1, 2 }; table.sort(t, function(a, b) return a < b end) return t[1] end)
	assert(sorted() == 1)
	local closing = coroutine.create(function() local x <close> = setmetatable({}, { __close = function() out.closed = true end }); coroutine.yield() end)
	coroutine.resume(closing)
	assert(coroutine.close(closing) and out.closed)
end)

section("strings", function()
	assert(("hello"):upper():lower():reverse():sub(-3, -2) == "le" and #("x"):rep(100, ",") == 199)
	assert(("key = value"):match("^(%w+)%s*=%s*(%w+)$") == "key")
	assert(("a,b,,c"):gsub(",", ";", 2) == "a;b;,c" and ("abc"):gsub("%w", "%0%0") == "aabbcc")
	assert(("THE (quick) fox"):find("%((%a+)%)") == 5 and ("[[x]]"):match("%b[]") == "[[x]]")
	assert(("THE fox"):gsub("%f[%a]%a+", string.lower) == "the fox" and ("$a$b"):gsub("%$(%w)", { a = "1" }) == "1$b")
	assert(string.format("%5d|%-5s|%05.1f|%x|%q|%g|%c|%i", 42, "ab", 3.14159, 255, 'a"\n', 1e20, 65, 7)
		== '   42|ab   |003.1|ff|"a\\"\\\n"|1e+20|A|7')
	assert(string.format("%a", 1.0) == "0x1p+0" and string.format("%10.3s|", "abcdef") == "       abc|")
	assert(tostring(1e15) == "1e+15" and tostring(2 ^ 53) == "9.007199254741e+15" and tostring(-0.0) == "-0.0")
	assert(tonumber("z", 36) == 35 and tonumber("  12  ") == 12 and not tonumber("1x") and tonumber("1e1") == 10)
	assert(string.pack(">I2 <I2 z", 1, 1, "ab") == "\0\1\1\0ab\0" and string.unpack("<i8", string.pack("<i8", -5)) == -5)
	assert(utf8.len("häß€😀") == 5 and utf8.char(228, 8364) == "ä€" and utf8.codepoint("€") == 8364 and not utf8.len("\xff"))
	local points = {}
	for _, c in utf8.codes("aé😀") do points[#points + 1] = c end
	assert(table.concat(points, " ") == "97 233 128512")
	assert("a" < "b" and "a" < "aa" and not ("Z" > "a") and "\65\x42\u{43}\z
		D" == "ABCD")
	assert(#string.rep("long string ", 1000) == 12000 and [==[
]]]==] == "]]")
end)

section("tables", function()
	local t = {}
	for i = 1, 1000 do t[i] = (i * 7919) % 1000 end
	table.sort(t)
	for i = 2, 1000 do assert(t[i - 1] <= t[i]) end
	table.sort(t, function(a, b) return a > b end)
	assert(t[1] == 999 and #t == 1000)
	table.insert(t, 1, "first"); table.insert(t, "last")
	assert(table.remove(t, 1) == "first" and table.remove(t) == "last" and #t == 1000)
	assert(table.concat(table.move({ 1, 2, 3 }, 1, 3, 2), ",") == "1,1,2,3")
	local n, sum = 0, 0
	for i = 1, 200 do t["k" .. i] = i end
	for i = 1, 200, 2 do t["k" .. i] = nil end
	for k, value in pairs(t) do if type(k) == "string" then n, sum = n + 1, sum + value end end
	assert(n == 100 and sum == 10100 and next({}) == nil)
	local mixed = { 1, 2, nil, 4, x = 1, [1.0] = "one", [2 ^ 53] = "big", [-1] = "minus" }
	assert(mixed[1] == 1 and mixed[2 ^ 53 | 0] == "big" and select("#", table.unpack(mixed, 1, 4)) == 4)
	assert(not pcall(function() mixed[nil] = 1 end) and not pcall(function() mixed[0 / 0] = 1 end))
	assert(not pcall(table.sort, { 3, 1, "x" }))
	local order = table.pack(pcall(table.sort, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, function() return true end))
	assert(order.n >= 1)
end)

section("chunks", function()
	local env = { y = 5 }
	assert(load("x = y * 2; return x", "c", "t", env)() == 10 and env.x == 10)
	local f = load(string.dump(function(a) local b = a * 2 return function() b = b + 1 return b end end))
	local g = f(4)
	assert(g() == 9 and g() == 10)
	local parts, i = { "return ", "1 ", "+ 2" }, 0
	assert(load(function() i = i + 1 return parts[i] end)() == 3)
	local source = { "local t = {}\n" }
	for k = 1, 300 do source[#source + 1] = ("t[%d] = function(a, b) if a > %d then return a - b else return b .. '' end end\n"):format(k, k) end
	source[#source + 1] = "return t"
	local t = load(table.concat(source))()
	assert(#t == 300 and t[300](301, 1) == 300 and t[300](1, 1) == "1")
	package.preload.mine = function(name) return { name = name } end
	assert(require("mine").name == "mine" and package.loaded.mine)
end)

section("files", function()
	local name = "suite.tmp"
	local file = assert(io.open(name, "w"))
	file:setvbuf("full", 512)
	for i = 1, 1000 do file:write(i, " ", i / 2, "\n") end
	file:close()
	local lines = 0
	for line in io.lines(name) do lines = lines + 1 end
	assert(lines == 1000)
	file = io.open(name)
	local a, b = file:read("n", "n")
	assert(a == 1 and b == 0.5 and file:seek("set", 0) == 0 and file:read("l") == "1 0.5" and #file:read("a") > 5000)
	file:close()
	assert(os.remove(name) and not io.open(name) and not pcall(file.read, file))
	assert(os.date("!%Y-%m-%d", 86400) == "1970-01-02" and os.time { year = 2020, month = 1, day = 1, hour = 0 } > 0)
end)

section("garbage", function()
	for _, mode in ipairs { "incremental", "generational", "incremental" } do
		collectgarbage(mode)
		local keep
		for i = 1, 2000 do keep = { keep and i % 50 ~= 0 and keep or nil, tostring(i), function() return i end } end
		collectgarbage()
		assert(collectgarbage("count") > 0 and keep[2] == "2000")
	end
	local closed = 0
	for _ = 1, 20 do setmetatable({}, { __gc = function() closed = closed + 1 end }) end
	collectgarbage(); collectgarbage()
	assert(closed == 20)
end)

if whole then
	section("addresses", function()
		local weak = setmetatable({}, { __mode = "k" })
		for i = 1, 100 do weak[{}] = i end
		collectgarbage()
		assert(next(weak) == nil)
		local keys = {}
		for i = 1, 500 do local k = {}; keys[i], keys[k] = k, i end
		for i = 1, 500 do assert(keys[keys[i]] == i) end
		assert(tostring({}):find("^table: ") and tostring(print):find("^builtin: ") or tostring(print):find("^function"))
	end)
	section("debug", function()
		local lines = 0
		debug.sethook(function() lines = lines + 1 end, "l")
		for _ = 1, 10 do lines = lines + 0 end
		debug.sethook()
		assert(lines > 10 and debug.getinfo(1, "S").what == "Lua")
		local function f(a, b) local c = a + b return debug.getlocal(1, 3) end
		local name, value = f(1, 2)
		assert((name == "c" and value == 3) or name == nil or name == "?" or name == "(temporary)")
		assert(debug.traceback("here"):find("^here\nstack traceback:"))
	end)
end
