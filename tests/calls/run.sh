#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh: checks what -fchord=calls says of each call. Where nothing recurs it is compared with callgrind. Where something does, it
# is compared with a stack of calls that single steps keep (shadow.c). CHORD is the program to test.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${CHORD:=$here/../../build/chord}"
CHORD=$(realpath "$CHORD") || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/chord-calls.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$here/../may.sh"
failed=0

# verdict NAME: the files "expected" and "got" are the same, and not empty.
verdict()
{
	if [ -s expected ] && cmp -s expected got; then
		echo "ok calls/$1 ($(wc -l <expected) lines)"
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
	# clang's own assembler chooses other padding.
	$compiler -fno-integrated-as -no-pie "$@" -o plain "$here/$source" 2>/dev/null || $compiler -no-pie "$@" -o plain "$here/$source" || return 1
	CHORD_CC=$compiler "$CHORD" cc -no-pie "$@" -fchord=calls -o measured "$here/$source" || return 1
	CHORD_FILE=measured.chord ./measured >/dev/null
	"$CHORD" report --json --calls ./measured measured.chord >json || return 1
	jq -r '.call_sites[] | "\(.caller) \(.callee) \(.calls) \(.events.instructions)"' json | sort >sites
}

# callees: who was called through pointers, of the report in "json", as CALLER CALLEE CALLS.
callees()
{
	jq -r '.call_sites[] | .caller as $c | (.callees // [])[] | "\($c)|\(.name)|\(.calls)"' json | c++filt |
		awk -F '|' '{ n[$1 " " $2] += $3 } END { for (k in n) print k, n[k] }' | sort
}

# says NAME SOURCE OPTION...: who is called is what the source says, and all procedures are known; its profiles are summed.
says()
{
	local name=$1 source=$2 driver=cc
	shift 2
	[ "${source##*.}" = c ] || driver=c++
	rm -f ./*.chord
	"$CHORD" $driver -fchord=calls "$@" -o measured "$source" && CHORD_FILE=measured.%p.chord ./measured &&
		"$CHORD" report --json --calls ./measured ./*.chord >json || echo "it fails"
	sed -nE 's|^/\* callees: (.*) \*/$|\1|p' "$source" | sort >expected
	sed -nE 's|^/\* by chance: (.*) \*/$|^\1 |p' "$source" >chance
	{
		callees | grep -vf chance
		# The object's name among them says that events of it are not known.
		jq -r '.unknown[] | select(.name | startswith("./") | not) | "unknown \(.name)"' json
	} >got
	verdict "$name"
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
# inclusive MEASURE ARGUMENT...: what functions executed with their callees, as NAME NUMBER.
inclusive()
{
	rm -f ./*.chord
	"$CHORD" cc -no-pie $level -fchord="$1" -o measured "$here/inclusive.c"
	CHORD_FILE=m.chord ./measured "${@:2}" >/dev/null
	"$CHORD" report --json --inclusive ./measured m.chord | jq -r '.functions[] | "\(.name) \(.with_callees)"' | sort
}

# By edges what nothing else called is known, recursion in it, too; by sums of calls all that is on no cycle. With a callback out of
# unmeasured code nothing is known by edges of who calls such code.
for level in -O1 -O2; do
	gcc -no-pie $level -o plain "$here/inclusive.c"
	valgrind -q --tool=callgrind --compress-strings=no --compress-pos=no --callgrind-out-file=cg ./plain >/dev/null 2>&1
	callgrind_annotate --inclusive=yes --threshold=100 --show-percs=no --tree=none cg |
		sed -nE 's/^ *([0-9,]+) .*:([a-z]+) \[.*/\2 \1/p' | tr -d , | sort -u >inclusive
	for measure in edges blocks; do
		grep -E '^(alone|inner|leaf) ' inclusive >expected
		inclusive $measure | grep -vE ' null$|^(main|says|order|sorts) ' >got
		verdict "inclusive/$measure$level"
	done
	grep -E '^(alone|first|second|shared|inner|leaf) ' inclusive >expected
	inclusive calls | grep -vE ' null$|^(main|says|order|sorts|passes) ' >got
	verdict "inclusive/calls$level"
	inclusive edges x | grep -E '^(sorts|main|says) ' >got
	printf '%s null\n' main says sorts >expected
	verdict "inclusive/callback$level"
	# All that ran, ran for main.
	inclusive calls x | sed -n 's/^main //p' >got
	"$CHORD" report --json ./measured m.chord | jq .totals.instructions >expected
	verdict "inclusive/main$level"
done
# A jump into a function has no sum, and no measure would give one.
for measure in edges calls; do
	inclusive $measure >/dev/null
	"$CHORD" report --json --inclusive ./measured m.chord |
		jq -r '.functions[] | select(.name == "passes") | .with_callees_unknown' >got
	echo "others called what it called, too, and it was left by a jump into another function, which has no sum" >expected
	verdict "inclusive/jump/$measure"
done

# Against single steps.
stepped()
{
	local compiler level
	may trace || { echo "skip calls/shadow: $why"; return; }
	gcc -O2 -D_GNU_SOURCE -w -o shadow "$here/shadow.c"
	for compiler in gcc clang; do
		for level in -O0 -O1 -O2; do
			if ! measured recursion.c $level -fno-optimize-sibling-calls; then
				echo "FAIL calls/shadow/$compiler$level: cannot be measured"
				failed=1
				continue
			fi
			functions >functions
			./shadow functions ./plain >steps
			awk '$5 == "direct" { print $1, $2, $3, $4 } $5 != "direct" { calls[$5] += $3; sum[$5] += $4; by[$5] = $1 }
				END { for (k in by) print by[k], "(through a pointer)", calls[k], sum[k] }' steps | sort >expected
			cp sites got
			verdict "shadow/$compiler$level"
			awk '$5 != "direct" { calls[$1 " " $2] += $3 } END { for (k in calls) print k, calls[k] }' steps | sort >expected
			callees >got
			verdict "shadow-callees/$compiler$level"
		done
	done
}
stepped

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

# many: a source with 1500 functions that one call calls, the first once, the others up to 7 times.
many()
{
	echo 'static volatile int n;'
	for ((i = 0; i < 1500; i++)); do
		echo "static void f$i(void) { n += $i; }"
		echo "/* callees: main f$i $((i % 7 + 1)) */"
	done
	echo 'static void (*const volatile f[])(void) = {'
	for ((i = 0; i < 1500; i++)); do echo "f$i,"; done
	echo '}; int main(void) { for (int k = 0; k < 7; k++) for (int i = 0; i < 1500; i++) if (i % 7 >= k) f[i](); }'
}

many >many.c
for compiler in gcc clang; do
	export CHORD_CC=$compiler CHORD_CXX=${compiler/gcc/g++}
	[ $compiler = gcc ] || CHORD_CXX=clang++
	for level in -O0 -O2; do
		for name in pointers pointers-threads pointers-fork pointers-signal pointers-interrupt; do
			says "$name/$compiler$level" "$here/$name.c" $level -pthread -fno-optimize-sibling-calls
		done
		# gcc 16 compares the pointer with the functions that it may lead to.
		virtual=
		[ $compiler = clang ] || virtual="-fno-devirtualize -fno-devirtualize-speculatively"
		# shellcheck disable=SC2086
		says "pointers-virtual/$compiler$level" "$here/pointers-virtual.cc" $level -fno-optimize-sibling-calls $virtual
		for lib in a b; do
			"$CHORD" cc -fchord=calls $level -fPIC -shared -DLIB=plug_$lib -o $lib.so "$here/pointers-dlopen.c"
		done
		says "pointers-dlopen/$compiler$level" "$here/pointers-dlopen.c" $level
	done
	says "pointers-many/$compiler" many.c -O1
done
unset CHORD_CC CHORD_CXX
says pointers-threads/static "$here/pointers-threads.c" -O2 -static -pthread
says pointers/no-pie "$here/pointers.c" -O2 -no-pie

# Snapshots with reset.
rm -f ./*.chord
"$CHORD" cc -O2 -fchord=calls -o measured "$here/pointers-snapshot.c"
CHORD_SIGNAL=USR1:reset CHORD_FILE=s.chord ./measured
for profile in s.1.chord s.2.chord s.chord; do
	"$CHORD" report --json --calls ./measured $profile >json
	callees
done >got
printf '%s\n' "main one 10" "main one 10" "main two 10" "main one 20" "main two 40" >expected
verdict pointers-snapshot

# Merged profiles say the same.
"$CHORD" merge -o merged.chord s.1.chord s.2.chord
"$CHORD" report --json --calls ./measured merged.chord >json
callees >got
printf '%s\n' "main one 20" "main two 10" >expected
verdict pointers-merged

# Calls that have no sums are in no row, and the report says how many they are: a prefix that is a line of its own, calls in a file
# with edges only.
cat >prefix.s <<'END'
	.globl prefix
	.type prefix, @function
prefix:	rex.w
	call callee
	call callee
	ret
	.size prefix, . - prefix
	.type callee, @function
callee:	ret
	.size callee, . - callee
	.section .note.GNU-stack, "", @progbits
END
echo 'void prefix(void); void edges(void) { prefix(); }' >edges.c
echo 'void edges(void); void prefix(void); int main(void) { for (int i = 0; i < 5; i++) edges(); prefix(); }' >main.c
"$CHORD" cc -fno-optimize-sibling-calls -c edges.c
"$CHORD" cc -fchord=calls -o measured main.c prefix.s edges.o
CHORD_FILE=left.chord ./measured
"$CHORD" report --calls ./measured left.chord | sed -nE 's/^ +[0-9]+ +([0-9]+)  ([a-z]+ -> .*)/\2 \1/p; s/^Calls that are in no row.*: //p' >got
printf '%s\n' "main -> edges 5" "main -> prefix 1" "prefix -> callee 6" 11 >expected
sort -o got got
sort -o expected expected
verdict left
"$CHORD" report --json --calls ./measured left.chord | jq '.calls_in_no_site, (.call_sites | map(.calls) | add)' >got
printf '%s\n' 11 12 >expected
verdict left-json

# Where no profile can be written the program does what it does.
"$CHORD" cc -O2 -fchord=calls -pthread -o measured "$here/pointers-threads.c"
for file in /dev/null /nowhere/at/all; do
	if CHORD_FILE=$file ./measured 2>/dev/null; then
		echo "ok calls/pointers-no-file $file"
	else
		echo "FAIL calls/pointers-no-file $file: status $?"
		failed=1
	fi
done
exit $failed
