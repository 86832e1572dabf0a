#!/bin/bash
# SPDX-License-Identifier: MIT
# data.sh: addresses of loads and stores (-fchord=trace,data). A program runs under valgrind's lackey, and writes its trace there.
# The program's own instructions in the trace, and each address that they access, are those that lackey saw. The same program
# without Chord has the same instructions and accesses in the same order, of the same sizes. run.sh starts this, in the test's
# folder.
set -u
here=$(cd "$(dirname "$0")" && pwd)
failed=0
pass() { echo "ok tracing/$1"; }
fail() { echo "FAIL tracing/$1: $2"; failed=1; }
lackey() { valgrind --tool=lackey --trace-mem=yes --log-file=seen "$@" >out 2>err; }

# Of what lackey saw the instructions at addresses in the file `own`, and their accesses; addresses without zeros before them.
own='BEGIN { while ((getline line <"own") > 0) mine[line] = 1 }
	/^I / { split($2, a, ","); sub(/^0+/, "", a[1]); on = a[1] in mine; if (on) print "I", a[1] }
	/^ [LSM] / && on { split($2, a, ","); sub(/^0+/, "", a[1]); print $1, a[1] "," a[2] }'

# addresses COMPILER LEVEL: what the program of that build accesses
addresses()
{
	local label=data/$1/$2
	rm -f ./*.chord ./*.trace
	CHORD_CC=$1 "$CHORD" cc "$2" -g -fchord=trace,data -o data "$here/data.c" >log 2>&1 || { fail "$label" "$(head -n 1 log)"; return; }
	lackey ./data || { fail "$label" "$(head -n 1 err)"; return; }
	if ! ls ./*.trace >/dev/null 2>&1; then
		echo "skip tracing/$label: no trace is written under valgrind here"
		return
	fi
	"$CHORD" trace --lackey ./data >lines 2>err
	awk '/^I / { split($2, a, ","); sub(/^0+/, "", a[1]); print a[1] }' lines | sort -u >own
	awk "$own" lines >got
	awk "$own" seen >wanted
	if [ "$(grep -c ' .*,' got)" -lt 500 ] || grep -q '?' lines || ! cmp -s got wanted; then
		fail "$label" "$(grep -c '?' lines) are not known; $(diff got wanted | head -n 3 | tr '\n' ' ') $(head -n 1 err)"
	else
		pass "$label, $(grep -c '^[LSM]' got) accesses of $(grep -c '^I' got) instructions"
	fi
}

# In the program without Chord: what instructions of its source access, and how long they are; nops may differ.
order()
{
	"$1" "$2" -g -c -o plain.o "$here/data.c" && "$1" "$2" -g -o plain plain.o -no-pie -lpthread || { fail data/order "it does not build"; return; }
	lackey ./plain
	nm --defined-only plain.o | awk '$2 ~ /[tT]/ { print $3 }' >names
	nm -S plain | awk 'BEGIN { while ((getline line <"names") > 0) mine[line] = 1 } NF == 4 && $4 in mine { print $1, $2 }' >ranges
	objdump -d --no-show-raw-insn plain | awk '$1 ~ /^[0-9a-f]+:$/ { a = $1; sub(/:/, "", a); print (/nop|xchg +%ax,%ax/) ? "n" : "i", a }' >insns
	awk 'function number(s,  n, i) { n = 0; for (i = 1; i <= length(s); i++) n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return n }
		FILENAME == "ranges" { lo[++n] = number($1); hi[n] = lo[n] + number($2); next }
		$1 == "i" { at = number($2); for (i = 1; i <= n; i++) if (at >= lo[i] && at < hi[i]) print $2 }' ranges insns >own
	awk "$own" seen | awk '/^I/ { print "I"; next } { sub(/ .*,/, " "); print }' >wanted
	awk '/^I/ { print "I" } /^ [LSM]/ { sub(/ [^ ]*,/, " "); print $1, $2 }' lines >got
	if [ "$(wc -l <got)" -gt 1000 ] && cmp -s got wanted; then
		pass "data/order, $(wc -l <got) lines"
	else
		fail data/order "$(diff got wanted | head -n 5 | tr '\n' ' ')"
	fi
}

if ! command -v valgrind >/dev/null; then
	echo "skip tracing/data: no valgrind"
	exit 0
fi
for compiler in gcc clang; do
	for level in -O0 -O2; do
		addresses $compiler $level
		[ $compiler$level != gcc-O2 ] || order $compiler $level
	done
done
# A thread that begins after a path has been kept in the shadow of the stack for the first time; and what has no such measure.
rm -f ./*.chord ./*.trace
CHORD_CC=gcc "$CHORD" cc -O2 -fchord=trace,data -o data "$here/data.c" -lpthread >log 2>&1 && ./data x >/dev/null 2>err &&
	"$CHORD" trace --lackey --thread=2 ./data >lines 2>err && [ "$(grep -c '^ [LSM]' lines)" -gt 10 ] && ! grep -q '?' lines && [ ! -s err ]
[ $? = 0 ] && pass data/thread || fail data/thread "$(grep -c '?' lines) are not known; $(head -n 1 err)"
rm -f ./*.chord ./*.trace
CHORD_CC=gcc "$CHORD" cc -O2 -fchord=trace -o data "$here/data.c" -lpthread >log 2>&1 && ./data >/dev/null
"$CHORD" trace --lackey ./data >lines 2>err
[ $? = 1 ] && grep -q 'no addresses were traced' err && pass data/none || fail data/none "$(head -n 1 err)"
"$CHORD" cc -fchord=data,edges -c -o data.o "$here/data.c" >/dev/null 2>err
[ $? != 0 ] && grep -q 'fchord=data' err && pass data/alone || fail data/alone "$(head -n 1 err)"
exit $failed
