#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh: a small program that ends at each of its instructions. STEP is the program that makes it do so.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${CHORD:=$here/../../build/chord}"
: "${STEP:=$(dirname "$(realpath "$CHORD")")/step}"
. "$here/../may.sh"
may trace || { echo "skip step: $why"; exit 0; }
work=$(mktemp -d "${TMPDIR:-/tmp}/chord-step.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
for compiler in gcc clang; do
	for level in -O0 -O2; do
		for measure in edges every-block every-edge blocks blocks-vcnt edges,events registers; do
			# Where the code has most shapes: they take long.
			case $level$measure in -O0blocks*) continue ;; esac
			label=step/$compiler/$level/$measure
			case $measure in registers) option=-fchord-loops=registers ;; *) option=-fchord=$measure ;; esac
			rm -f "$work"/*
			if ! CHORD_CC=$compiler "$CHORD" cc "$level" -no-pie "$option" -o "$work/prog" "$here/prog.c" >"$work/log" 2>&1 ||
				! "$STEP" "$work/prog" "$work/profile" >"$work/log" 2>&1; then
				echo "FAIL $label: $(head -n 1 "$work/log")"
				failed=1
			else
				echo "ok $label: $(head -n 1 "$work/log")"
			fi
		done
	done
done
# A register counts for an edge to the beginning of a loop, where the code on the edge into the loop stands, too. Edges have such
# counters if the loop is known to run often.
latch() {
	"$CHORD" cc -O1 -no-pie -o often "$here/latch.s" "$here/latch.c" && CHORD_FILE=often.chord ./often often &&
		"$CHORD" weights ./often often.chord >weights &&
		"$CHORD" cc -O1 -no-pie -fchord-weights=weights -fchord-loops=registers -o latch "$here/latch.s" "$here/latch.c" &&
		"$STEP" ./latch profile
}
STEP=$(realpath "$STEP") CHORD=$(realpath "$CHORD")
if (cd "$work" && latch) >"$work/log" 2>&1 && ! grep -q ' 0 with bounds' "$work/log"; then
	echo "ok step/latch: $(head -n 1 "$work/log")"
else
	echo "FAIL step/latch: $(head -n 1 "$work/log")"
	failed=1
fi
# Loops by hand, in which additions borrow a register.
by_hand() {
	"$CHORD" cc -O1 -no-pie -o borrow "$here/../hostile/borrow.s" "$here/borrow.c" && "$STEP" ./borrow profile
}
if (cd "$work" && by_hand) >"$work/log" 2>&1; then
	echo "ok step/borrow: $(head -n 1 "$work/log")"
else
	echo "FAIL step/borrow: $(head -n 1 "$work/log")"
	failed=1
fi
exit $failed
