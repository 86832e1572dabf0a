#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [--every N]: runs commands of Chord, and in each run one request for memory fails (every 7th request is tried, if nothing
# else is said, and the last one; without debug information, because libdw itself crashes). A command must end with status 1 or 2
# and a message, or with the right output, or with a warning that names what is missing in the output; never by a signal. The
# script compares what a command prints and what it writes to a file: the file is whole, or not there. Nothing is left in
# the folder for temporary files.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
every=7
[ "${1:-}" = --every ] && every=$2

gcc -O1 -shared -fPIC -o "$work/fail.so" "$here/fail.c" || exit 1
printf 'int f(int a){return a>1?a*f(a-1):1;}int main(int c,char**v){(void)v;return f(c)-1;}' >"$work/p.c"
mkdir "$work/tmp" && cd "$work" || exit 1
export TMPDIR=$work/tmp
"$CHORD" cc -O2 -o p p.c && CHORD_FILE=p.chord ./p && gcc -O2 -S -o p.s p.c && mkdir paths trace || exit 1
for measure in paths trace; do
	(cd $measure && "$CHORD" cc -O2 -fchord=$measure -o p ../p.c && CHORD_FILE=p.chord ./p) || exit 1
done
printf 'root A\nexit B\nedge A B count 3\nedge A A count 2\n' >p.graph

# wrong STATUS: what is wrong with what the command did; nothing if all is well. Needs file.
wrong()
{
	if [ "$(ls -A tmp)" ]; then
		echo "$(ls -A tmp) is left behind"
		rm -rf tmp/*
	elif [ "$1" -gt 2 ]; then
		echo "status $1"
	elif [ "$1" != 0 ]; then
		[ -s err ] || echo "status $1 without a message"
		[ -z "$file" ] || [ ! -e "$file" ] || cmp -s good.file "$file" || echo "status $1, and half a file is left"
	elif ! cmp -s good out && ! grep -q '^chord: warning: .*memory' err; then
		echo "it succeeds and prints something else without a warning"
	elif [ -n "$file" ] && ! cmp -s good.file "$file"; then
		echo "it succeeds and the file is another"
	fi
}

# fails NAME FILE COMMAND...: the command once whole, then with each request failing. FILE: what it writes, or nothing: then
# it has to print something.
fails()
{
	local name=$1 file=$2 requests status said
	shift 2
	if ! "$@" >good 2>err || [ -s err ] || ! { [ -n "$file" ] && cp "$file" good.file; [ -s "${file:-good}" ]; }; then
		echo "FAIL alloc/$name: it does nothing that could be compared: $(head -n 1 err)"
		return
	fi
	requests=$(FAIL_FD=9 LD_PRELOAD=$work/fail.so "$@" 9>&1 >/dev/null 2>&1 | tail -n 1)
	[ "${requests:-0}" -gt 0 ] || { echo "FAIL alloc/$name: no request seen"; return; }
	for n in $(seq 1 "$every" "$requests") "$requests"; do
		rm -f $file
		FAIL_AT=$n LD_PRELOAD=$work/fail.so "$@" >out 2>err
		status=$?
		said=$(wrong $status)
		[ -z "$said" ] || { echo "FAIL alloc/$name: request $n of $requests: $said: $(tail -n 1 err)"; return; }
	done
	echo "ok alloc/$name: $requests requests"
}

fails report "" "$CHORD" report p p.chord
fails json "" "$CHORD" report --json p p.chord
fails verify "" "$CHORD" verify p
fails annotate "" "$CHORD" annotate --asm p p.chord
fails paths "" "$CHORD" paths paths/p paths/p.chord
fails trace "" "$CHORD" trace trace/p trace/p.chord
fails export "" "$CHORD" export --format=json p p.chord
fails stat stat.json "$CHORD" stat --json -o stat.json ./p
fails merge merged.chord "$CHORD" merge -o merged.chord p.chord
fails graph "" "$CHORD" graph p.graph
fails show "" "$CHORD" show --pass=text p.s
fails as p.o "$(dirname "$CHORD")/libexec/chord/as" -o p.o p.s
