#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [--times N] [--exact N]: timers (include/chord.h). N is the number of random timers of each kind: 300 by default, and 20
# exact ones, which are compared with what TRUTH steps through. CHORD is the program to test.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${CHORD:=$here/../../build/chord}"
CHORD=$(realpath "$CHORD") || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/chord-timers.XXXXXX")
trap 'rm -rf "$work"' EXIT
times=300 exacts=20 most=300 failed=0
while [ $# -gt 1 ]; do
	case $1 in
	--times) times=$2 ;;
	--exact) exacts=$2 most=64 ;;
	esac
	shift 2
done
. "$here/../may.sh"
: "${TRUTH:=$(dirname "$CHORD")/truth}"
cd "$work" || exit 1
export CHORD_FILE=$work/%p.chord

ok() { echo "ok timers/$1"; }
fail() { echo "FAIL timers/$1: ${2:-$(tail -n 1 log)}"; failed=1; }

# build OUT ARGUMENT...
build() {
	local out=$1
	shift
	"$CHORD" cc -g -pthread -fchord-timers=instructions -o "$out" "$@" >log 2>&1
}

# every_compiler FUNCTION: calls it with each compiler and level if FULL is set (make check-torture), otherwise with each second one, and
# the next function with the others.
turns=0
every_compiler() {
	local k=0
	turns=$((turns + 1))
	for compiler in gcc clang; do
		command -v $compiler >/dev/null || { echo "skip timers/$compiler: not installed"; continue; }
		for flags in -O0 -O2 "-O2 -static" "-O2 -no-pie" "-O1 -fomit-frame-pointer -fno-asynchronous-unwind-tables"; do
			[ -n "${FULL-}" ] || (((k++ + turns) % 2)) || continue
			# shellcheck disable=SC2086 # flags are several words
			CHORD_CC=$compiler "$1" "$compiler $flags" $flags
		done
	done
}

random() {
	local label=$1
	shift
	build prog "$@" "$here/random.c" || { fail "random $label"; return; }
	for threads in 1 4; do
		for how in "" exact; do
			# shellcheck disable=SC2086 # none or one
			if ./prog $threads $times 7 $how >log 2>&1; then
				ok "random n, $threads threads${how:+, exact} ($label): $(sed 's/, sum.*//' log)"
			else
				fail "random n, $threads threads${how:+, exact} ($label)"
			fi
		done
	done
}

# Wherever a timer can strike, nothing that the program computes may change.
storm() {
	local label=$1 source
	shift
	for source in ways.c struck.c throws.cc; do
		local driver=cc plain=${CHORD_CC:-gcc} cxx=g++
		[ "$plain" = gcc ] || cxx=clang++
		[ "${source##*.}" = c ] || { driver=c++; plain=$cxx; }
		$plain "$@" -pthread -o plain "$here/../events/$source" 2>log && "$CHORD" cc -c "$@" -fchord-timers=instructions -o storm.o \
			"$here/storm.c" >>log 2>&1 && CHORD_CXX=$cxx "$CHORD" $driver "$@" -pthread -fchord=edges,events \
			-fchord-timers=instructions -o prog "$here/../events/$source" storm.o >>log 2>&1 || { fail "storm $source ($label)"; continue; }
		./plain 3 >want 2>&1
		local status=$?
		timeout 120 ./prog 3 >got 2>&1
		if [ $? = $status ] && cmp -s want got; then
			ok "storm over $source ($label)"
		else
			fail "storm over $source ($label)" "$(diff want got | head -n 2)"
		fi
	done
}

# Without randomised addresses, so that those of two runs are the same.
exact() {
	local label=$1 status
	shift
	may trace fixed || { echo "skip timers/exact ($label): $why"; return; }
	build prog "$@" "$here/exact.c" || { fail "exact $label"; return; }
	setarch -R ./prog "$exacts" 5 exact "$most" >got 2>log
	status=$?
	timeout 3000 "$TRUTH" ./prog "$exacts" 5 truth "$most" >want 2>>log
	if [ $status = 0 ] && [ "$(wc -l <want)" = "$exacts" ] && cmp -s got want; then
		ok "exact at $exacts random n as stepped ($label)"
	else
		fail "exact $label" "status $status, of $exacts $(diff got want | grep -c '^>') elsewhere: $(tail -n 1 log)"
	fi
}

# How many events a run of leave has in its report beyond what it printed: always those behind that.
rest() {
	CHORD_FILE=leave.chord ./leave "$1" >out 2>log || return
	echo $(($("$CHORD" report --json ./leave leave.chord 2>log | jq .events.instructions) - $(cut -d ' ' -f 2 out)))
	grep -q "^$2 " out || echo "not $2 times: $(cat out)"
}

left() {
	local label=$1 often never
	shift
	build leave "$@" "$here/leave.c" || { fail "left $label"; return; }
	often=$(rest 1000 50)
	never=$(rest 0x1000000000 0)
	if [ -n "$often" ] && [ "$often" = "$never" ] && [ "$often" -gt 0 ]; then
		ok "handlers that jump away and exit: all is counted ($label)"
	else
		fail "left $label" "$often in place of $never more than was printed"
	fi
}

same_slices() {
	build prog -O2 "$here/slices.c" || { fail "slices"; return; }
	./prog "$@" >want 2>&1 || { fail "slices" "$(tail -n 1 want)"; return; }
	for _ in $(seq 20); do
		./prog "$@" >got 2>&1
		cmp -s want got || { fail "slices ${1-}" "another interleaving"; return; }
	done
	if [ "$(grep -o '0(' want | wc -l)" -gt 20 ] && ${CHORD_CC:-gcc} -O2 -I"$here/../../include" -o plain "$here/slices.c" &&
		! ./plain >log 2>&1 && grep -q 'cannot be set: -1' log; then
		ok "slices ${1-}: 20 runs with the same interleaving"
	else
		fail "slices ${1-}" "few slices, or timers in a program without"
	fi
}

values() {
	build prog -O2 "$here/values.c" || { fail values; return; }
	grep -q 'values.c:[0-9]*: chord_timer(loads): no event with timers (-fchord-timers=); those are instructions' log ||
		fail values "no warning of an event without timers"
	want="-2 -2 -2 -2 -1 0 -1 0: 0 0 1: 1: child 1: 2 in time"
	[ "$(./prog)" = "$want" ] && ok "what calls say" || fail values "$(./prog)"
	gcc -O2 -I"$here/../../include" -o plain "$here/values.c" && [ "$(./plain)" = \
		"-1 -1 -1 -1 -1 -1 -1 0: -1 -1 0: 0: child 0: 0 in time" ] && ok "unmeasured" || fail unmeasured "$(./plain)"
	"$CHORD" cc -O2 -fchord=events -o prog "$here/values.c" >log 2>&1 && grep -q 'no event with timers' log &&
		[ "$(./prog)" = "$(./plain)" ] && ok "measured without timers" || fail "measured without timers"
	"$CHORD" cc -fchord=calls -fchord-timers=instructions -c "$here/values.c" >log 2>&1 && fail "with calls" "taken"
	grep -q 'chord: -fchord-timers: does not go with -fchord=calls' log && ok "not with calls" || fail "with calls"
	"$CHORD" cc -fchord-timers=nonsense -c "$here/values.c" >log 2>&1 && fail "an unknown event" "taken"
	grep -q "chord: -fchord-timers: .*nonsense" log && ok "an unknown event" || fail "an unknown event"
}

# System calls that the runtime makes have labels of their own beside those of the timers' records.
routed() {
	cat >routed.c <<-'E'
		#include <sys/syscall.h>
		static long raw(long n, long a) { long r; __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a) : "rcx", "r11", "memory"); return r; }
		int main(void) { if (!raw(SYS_fork, 0)) raw(SYS_exit, 3); return 0; }
	E
	build prog -O2 routed.c || { fail routed; return; }
	"$CHORD" verify prog >log 2>&1 && grep -q ' 0 refused' log && ./prog && ok "system calls" || fail "system calls" "$(head -n 3 log)"
}

every_compiler random
every_compiler storm
every_compiler exact
every_compiler left
same_slices
same_slices exact
values
routed
exit $failed
