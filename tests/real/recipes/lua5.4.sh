# SPDX-License-Identifier: MIT
# Lua: an interpreter whose main loop jumps through computed gotos; built as C (setjmp, longjmp) and once more as C++ (exceptions).
#
# Lua seeds the hashes of strings from the clock and from addresses, and sorting takes pivots by the clock. The recipe makes both
# constant, so that two runs are the same.

lua_options='-DLUA_USE_LINUX -DLUA_COMPAT_5_3 -Dluai_makeseed(L)=0x5eed -Dl_randomizePivot()=0x5eed'

# Tables with addresses for keys (the compiler has one, for its constants) depend on
# where memory is, and so does a cache of strings: not where runs are compared.
fixed_addresses()
{
	sed -i 's/^#define point2uint(p).*/#define point2uint(p) ((void)(p), 42u)/' llimits.h
}

fetch()
{
	source_package lua5.4
}

# objects COMPILER CFLAGS SUFFIX: all but the two programs' own.
objects()
{
	for file in *.c; do
		$1 $2 $lua_options -c -o "${file%.c}.$3" "$file"
	done
	rm -f "liblua.$3.a"
	ar rc "liblua.$3.a" $(ls *."$3" | grep -vE '^luac?\.')
}

build()
{
	copy_source lua5.4 "$1"
	cd "$1/src"
	[ "${CHORD_FIXED:-0}" = 0 ] || fixed_addresses
	echo '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"' >lua5.4-deb-multiarch.h
	objects "$2" "$5" o
	$2 $5 $6 -Wl,-E -o ../lua lua.o liblua.o.a -lm -ldl
	$2 $5 $6 -o ../luac luac.o liblua.o.a -lm -ldl
	case ${CHORD_SMALL:-0}${CHORD_FIXED:-0} in
	10 | 2*) return ;;
	esac
	objects "$3 -x c++" "$5" oo
	$3 $5 $6 -Wl,-E -o ../lua-c++ lua.oo liblua.oo.a -lm -ldl
}

programs()
{
	printf '%s\n' lua luac lua-c++
}

# Debian's package has no tests; ours then, and Lua's own where somebody has put
# them (lua.org/tests, as $CHORD_CACHE/src/lua5.4-tests).
suite()
{
	cd "$1"
	for lua in ./lua ./lua-c++; do
		$lua "$real/lua/suite.lua"
	done
	./luac -o suite.luac "$real/lua/suite.lua"
	./lua suite.luac
	tests=$CHORD_CACHE/src/lua5.4-tests/testes
	[ -d "$tests" ] || return 0
	rm -rf testes
	cp -a "$tests" testes
	cd testes
	for lua in ../lua ../lua-c++; do
		$lua -e '_U=true' all.lua
	done
}

workload()
{
	cp "$1/lua" "$1/lua-c++" .
	cp "$real"/lua/*.lua .
	for script in suite recursion tables strings; do
		echo "./lua $script.lua 1 >output"
	done
	echo "./lua-c++ suite.lua 1 >output"
	echo "./lua-c++ recursion.lua 1 >output"
}

bench()
{
	cp "$1/lua" .
	cp "$real"/lua/*.lua .
	echo "lua-recursion ./lua recursion.lua 2500"
	echo "lua-tables ./lua tables.lua 200"
	echo "lua-strings ./lua strings.lua 150"
}
