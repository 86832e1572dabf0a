#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [--stops N]: measured programs are run step by step, stopped at random moments, and `chord query` has to say
# what was stepped over: N stops of each (default 12). CHORD is the program to test, STOPS the one that steps.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${CHORD:=$here/../../build/chord}"
CHORD=$(realpath "$CHORD") || exit 1
: "${STOPS:=$(dirname "$CHORD")/stops}"
work=$(mktemp -d "${TMPDIR:-/tmp}/chord-events.XXXXXX")
trap 'rm -rf "$work"' EXIT
stops=12 failed=0
[ "${1:-}" != --stops ] || stops=$2
cd "$work" || exit 1
for source in ways.c struck.c threads.c throws.cc; do
	driver=cc
	[ "${source##*.}" = c ] || driver=c++
	label=events/$source
	if ! "$CHORD" $driver -O2 -no-pie -pthread -fchord=events -fchord-events=instructions,loads,taken -o prog "$here/$source" >log 2>&1; then
		echo "FAIL $label: $(head -n 1 log)"
		failed=1
	elif ! CHORD_FILE=$work/prog.chord timeout 120 "$STOPS" "$CHORD" "$stops" 2000 7 ./prog 3 >log 2>&1 || grep -q FAIL log; then
		echo "FAIL $label: $(grep -m 1 FAIL log || tail -n 1 log)"
		failed=1
	else
		echo "ok $label: $(tail -n 1 log)"
	fi
done
exit $failed
