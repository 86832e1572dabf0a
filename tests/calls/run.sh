#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh: what -fchord=calls says of each call, against callgrind where nothing recurs, and against a stack of
# calls kept by single steps (shadow.c) where it does. CHORD is the program to test.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${CHORD:=$here/../../build/chord}"
CHORD=$(realpath "$CHORD") || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/chord-calls.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# verdict NAME: the files "expected" and "got" are the same, and not empty.
verdict()
{
	if [ -s expected ] && cmp -s expected got; then
		echo "ok calls/$1 ($(wc -l <expected) call sites)"
	else
		echo "FAIL calls/$1: $(diff expected got | grep '^[<>]' | head -n 4 | paste -s -d ' ')"
		failed=1
	fi
}

# measured SOURCE OPTION...: builds plain and measured, runs the measured program; call sites as CALLER CALLEE CALLS EVENTS in "sites".
measured()
{
	local source=$1
	shift
	rm -f ./*.chord
	$compiler -no-pie "$@" -o plain "$here/$source" 2>/dev/null || return 1
	CHORD_CC=$compiler "$CHORD" cc -no-pie "$@" -fchord=calls -o measured "$here/$source" || return 1
	CHORD_FILE=measured.chord ./measured >/dev/null
	"$CHORD" report --json --calls ./measured measured.chord >json || return 1
	jq -r '.call_sites[] | "\(.caller) \(.callee) \(.calls) \(.events.instructions)"' json | sort >sites
}

# The functions of the program, as shadow.c wants them; those of the library by where their names lead to.
functions()
{
	jq -r '.functions[].name' json | sort -u >names
	nm -S --defined-only plain | awk '$3 ~ /[tT]/ { print $4, $1, $2 }' | sort | join - names
	objdump -d -j .plt -j .plt.sec plain 2>/dev/null | sed -nE 's/^0*([0-9a-f]+) <([^@]*)@plt>:/\2 \1 0/p'
}

# Sums lines CALLER CALLEE CALLS EVENTS of one caller and callee: callgrind may have several for one place.
by_pair()
{
	awk '{ calls[$1 " " $2] += $3; sum[$1 " " $2] += $4 } END { for (k in calls) print k, calls[k], sum[k] }' | sort
}

# callgrind's file: fn=CALLER, cfn=CALLEE, calls=N ..., and on the next line the sum.
callgrind_calls()
{
	awk '/^fn=/ { caller = substr($0, 4) } /^cfn=/ { callee = substr($0, 5) }
		/^calls=/ { split(substr($0, 7), n, " "); getline; print caller, callee, n[1], $NF }' "$1" | by_pair
}

for compiler in gcc clang; do
	for level in -O0 -O2; do
		# Clones have names that callgrind shows and callers do not.
		names=
		[ $compiler = clang ] || names="-fno-ipa-sra -fno-ipa-cp"
		# shellcheck disable=SC2086
		if ! measured plain.c $level $names; then
			echo "FAIL calls/callgrind/$compiler$level: cannot be measured"
			failed=1
			continue
		fi
		valgrind -q --tool=callgrind --compress-strings=no --compress-pos=no --dump-instr=yes --callgrind-out-file=cg ./plain >/dev/null 2>&1
		callgrind_calls cg | grep -E '^(main|top|middle|leaf) (top|middle|leaf) ' >expected
		by_pair <sites >got
		verdict "callgrind/$compiler$level"
	done
done
gcc -O2 -D_GNU_SOURCE -w -o shadow "$here/shadow.c"
for compiler in gcc clang; do
	for level in -O0 -O1 -O2; do
		if ! measured recursion.c $level -fno-optimize-sibling-calls; then
			echo "FAIL calls/shadow/$compiler$level: cannot be measured"
			failed=1
			continue
		fi
		functions >functions
		./shadow functions ./plain | sort >expected
		# Who is called through a pointer only the steps tell.
		sed -i 's/^through [a-z]* /through (through a pointer) /' expected
		sort -o expected expected
		cp sites got
		verdict "shadow/$compiler$level"
	done
done

# A function that the linker discards may be the only one of an event that lies between those of others.
cat >f.h <<'END'
inline __attribute__((noinline)) int f(int n) { volatile int x = n; return x; }
END
printf '#include "f.h"\nint kept(int n) { return f(n); }\n' >loads.cc
printf '#include "f.h"\nint (*discarded)(int) = f;\n' >stores.cc
cat >branches.cc <<'END'
#include <setjmp.h>
#include <stdlib.h>
int kept(int);
static jmp_buf there;
static __attribute__((noinline)) void leave(int n)
{
	for (int i = 0; i < n; i++)
		kept(i);
	longjmp(there, 1);
}
int main()
{
	volatile int n = 5;
	if (n-- && !setjmp(there))
		leave(n * 3);
	exit(0);
}
END
for event in loads stores branches; do
	"$CHORD" c++ -O1 -fchord=calls -fchord-events=$event -c $event.cc
done
"$CHORD" c++ -o without loads.o branches.o
"$CHORD" c++ -o with loads.o stores.o branches.o
for prog in without with; do
	CHORD_FILE=$prog.chord ./$prog
	"$CHORD" report --json --calls ./$prog $prog.chord | jq -r '.call_sites[] | "\(.caller) \(.callee) \(.calls) \(.events)"' | sort >$prog.sites
done
grep -v null without.sites >expected
cp with.sites got
verdict discarded
exit $failed
