#!/bin/bash
# SPDX-License-Identifier: MIT
# scale.sh [BUILD]: how time grows with the number of opened libraries, threads and forked children. It runs n and half of n, with
# Chord and without, and takes the shortest of three runs. A column that more than doubles has grown more than linearly.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
chord=$(realpath "${1:-$here/../build}")/chord
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
cd "$w"
unset CHORD_FILE CHORD_DIR
ulimit -u unlimited 2>/dev/null || true
printf 'int work(int n) { int s = 0; for (int i = 0; i < n; i++) { s += i; __asm__ volatile("" : "+r"(s)); } return s; }\n' >lib.c
id=$(printf CHORD-MANY-LIBRARIES | od -An -tx1 | tr -d ' \n')
gcc -O2 -o make "$here/../tests/hostile/start-many.c"
build() {
	mkdir "$1"
	"${@:2}" -O2 -fPIC -shared -Wl,--build-id=0x$id -o "$1/many.so" lib.c
	"${@:2}" -O2 -pthread -o "$1/scale" "$here/scale.c"
	(cd "$1" && ../make make many.so 3000)
}
build plain gcc
build measured "$chord" cc
# shortest KIND WHAT N
shortest() {
	for _ in 1 2 3; do
		(cd "$1" && mkdir -p out && CHORD_DIR=$PWD/out ./scale "$2" "$3" 2>&1 >/dev/null | tail -n 1; rm -rf out)
	done | sort -n | head -n 1
}
printf '%-28s %8s %8s %8s %8s\n' "seconds" "plain/2" "Chord/2" "plain" "Chord"
row() {
	printf '%-28s %8s %8s %8s %8s\n' "$3" "$(shortest plain "$1" $(($2 / 2)))" "$(shortest measured "$1" $(($2 / 2)))" \
		"$(shortest plain "$1" "$2")" "$(shortest measured "$1" "$2")"
}
row libs 3000 "3,000 libraries opened"
row threads 10000 "10,000 threads in turn"
row alive 2000 "2,000 threads alive"
row forks 2000 "2,000 forks"
