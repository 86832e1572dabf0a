#!/bin/bash
# SPDX-License-Identifier: MIT
# kills.sh [WORK]: a child of vfork is killed at each instruction of the runtime to which the end of a segment of the trace leads, and
# what its parent did is exact. KILLS is the program that kills.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${CHORD:=$here/../../build/chord}"
CHORD=$(realpath "$CHORD")
: "${KILLS:=$(dirname "$CHORD")/kills}"
work=${1:-$(mktemp -d "${TMPDIR:-/tmp}/chord-kills.XXXXXX")}
[ $# -gt 0 ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work" && cd "$work" || exit 1
rounds=60 failed=0 reached=0

"$CHORD" cc -no-pie -O2 -g -fchord=trace -fchord-trace=bits -o program "$here/vforks.c" -lpthread || exit 1
start=$(nm program | awk '$3 == "__chord_trace_slow" { print $1 }')
rm -f places ./*.chord ./*.trace
"$KILLS" steps places "$start" ./program 30 alone >said || { echo "FAIL tracing/kills: steps: $(cat said)"; exit 1; }
n=$(wc -l <places)
for ((first = 0; first < n; first += rounds)); do
	rm -f ./*.chord ./*.trace
	"$KILLS" at places $first ./program $rounds alone >said 2>err
	reached=$((reached + $(sed -n 's/ of .*//p' said | tail -n 1)))
	grep -q "^$rounds killed" said && "$CHORD" report ./program 2>>err | grep -qE " $rounds  own  " && continue
	echo "FAIL tracing/kills: places from $first on: $(tr '\n' ' ' <said) $(head -n 1 err)"
	failed=1
done
[ $failed = 0 ] && [ $reached -gt 300 ] && echo "ok tracing/kills, at $reached of $n instructions"
