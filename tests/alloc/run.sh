#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [--every N]: commands of Chord with each single request for memory failing
# once (by default every 7th; without debug information, as libdw itself crashes): status 1 and a message, or the right output; never a signal.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
every=7
[ "${1:-}" = --every ] && every=$2

gcc -O1 -shared -fPIC -o "$work/fail.so" "$here/fail.c" || exit 1
printf 'int f(int a){return a>1?a*f(a-1):1;}int main(int c,char**v){(void)v;return f(c)-1;}' >"$work/p.c"
cd "$work" || exit 1
"$CHORD" cc -O2 -o p p.c && CHORD_FILE=p.chord ./p && gcc -O2 -S -o p.s p.c || exit 1
printf 'root A\nexit B\nedge A B count 3\nedge A A count 2\n' >p.graph

# fails NAME COMMAND...: the command once whole, then with each request failing
fails()
{
	name=$1
	shift
	"$@" >good 2>good.err
	requests=$(FAIL_FD=9 LD_PRELOAD=$work/fail.so "$@" 9>&1 >/dev/null 2>&1 | tail -n 1)
	[ "${requests:-0}" -gt 0 ] || { echo "FAIL alloc/$name: no request seen"; return; }
	for ((n = 1; n <= requests; n += every)); do
		FAIL_AT=$n LD_PRELOAD=$work/fail.so "$@" >out 2>err
		status=$?
		if [ $status -gt 2 ] || { [ $status != 0 ] && ! grep -q '^chord' err && ! [ -s err ]; } ||
			{ [ $status = 0 ] && ! cmp -s good out && ! grep -q '^chord' err; }; then
			echo "FAIL alloc/$name: request $n of $requests: status $status: $(tail -n 1 err)"
			return
		fi
	done
	echo "ok alloc/$name: $requests requests"
}

fails report "$CHORD" report p p.chord
fails json "$CHORD" report --json p p.chord
fails verify "$CHORD" verify p
fails merge "$CHORD" merge -o merged.chord p.chord
fails graph "$CHORD" graph p.graph
fails show "$CHORD" show --pass=text p.s
fails as "$(dirname "$CHORD")/libexec/chord/as" -o p.o p.s
