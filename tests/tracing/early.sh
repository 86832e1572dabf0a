#!/bin/bash
# SPDX-License-Identifier: MIT
# early.sh: code that is traced before the runtime is up writes to a room in its module, which is used again and again, wherever it
# begins within a segment. Nothing around it is written to, and the program prints what it prints untraced. What was not lost is
# counted as with edges. Of what was lost, the commands say that the beginning is missing. run.sh starts this, in the test's folder.
set -u
here=$(cd "$(dirname "$0")" && pwd)
failed=0
check() { if [ "$2" = 0 ]; then echo "ok tracing/$1"; else echo "FAIL tracing/$1: $3"; failed=1; fi; }

# instructions PROGRAM: of the function, as its profile has them
instructions() { "$CHORD" report "./$1" "$1.chord" 2>&1 | awk 'NF > 2 && $(NF - 1) == "early" { print $1 }'; }

# try N: what is wrong; it sets `kept` or `missing` to one more
try()
{
	local want got
	want=$(./plain "$1")
	got=$(CHORD_FILE=program.chord ./program "$1" 2>&1)
	[ "$want" = "$got" ] || { echo "'$got' in place of '$want'"; return 1; }
	"$CHORD" trace ./program program.chord >traced 2>&1
	case $? in
	0)
		CHORD_FILE=counted.chord ./counted "$1" >out
		want=$(instructions counted) got=$(instructions program)
		kept=$((kept + 1))
		[ -n "$want" ] && [ "$want" = "$got" ] || echo "$got instructions, with edges $want"
		;;
	1)
		missing=$((missing + 1))
		grep -q 'its beginning is missing' traced || { echo "not said: $(grep -m1 chord: traced)"; return 1; }
		got=$(instructions program)
		"$CHORD" report ./program program.chord 2>&1 | grep -q 'its beginning is missing' && [ -z "$got" ] || echo "the report: $got"
		;;
	*) head -n 1 traced ;;
	esac
}

kept=0 missing=0 wrong=
gcc -O1 -o plain "$here/early.c" && CHORD_CC=gcc "$CHORD" cc -O1 -g -o counted "$here/early.c" >log 2>&1
for page in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
	CHORD_CC=gcc "$CHORD" cc -O1 -g -no-pie -DPAD=$((page * 4096 + 1)) -fchord=trace -o program "$here/early.c" >log 2>&1 ||
		{ wrong="$(head -n 1 log)"; break; }
	room=$(nm program | awk '$3 == "behind" { b = $1 } $3 == "__start_chord_cnt" { c = $1 } END { print (b "" > c "") }')
	[ "$room" = 1 ] || wrong="$wrong page $page: nothing is behind the room;"
	for n in 10 5000 17000 34000 200000; do
		try $n >said
		[ ! -s said ] || wrong="$wrong page $page, $n rounds: $(cat said);"
	done
done
[ -z "$wrong" ] && [ $kept -ge 16 ] && [ $missing -ge 32 ]
check "early, $kept kept, $missing too many" $? "$wrong"
rm -f plain counted program ./*.chord ./*.trace

exit $failed
