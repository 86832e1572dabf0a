#!/bin/sh
# SPDX-License-Identifier: MIT
# demo.sh BUILD: measures Chord with Chord. It is built with `chord cc`, then
# weaves one large assembly file: all of Chord, as gcc -flto makes it.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
work=$build/demo
rm -rf "$work/run"
mkdir -p "$work/run"

echo "== Chord, built with \`chord cc -O2 -g\`"
make -s ${JOBS:-} BUILD="$work/chord" CC="$build/chord cc" CFLAGS="-O2 -g" all
"$build/chord" verify "$work/chord/chord"

echo
echo "== A large assembly file: all of Chord in one"
here=$PWD
libs=$(make -s libs)
(cd "$work/run" && gcc -std=gnu11 -D_GNU_SOURCE -I"$here/src" -I"$here" -I"$build/made" -O2 -w -flto -flto-partition=one -save-temps \
	"$here"/src/*/*.c "$here"/src/*/*/*.c "$build"/made/*.c -o whole $libs 2>messages) || cat "$work/run/messages" >&2
text=$(find "$work/run" -name '*ltrans*.s' -size +100k | head -1)
[ -n "$text" ] || { echo "demo.sh: gcc left no assembly file" >&2; exit 1; }
mv "$text" "$work/whole.s"
rm -rf "$work/run"
wc -l "$work/whole.s"

echo
echo "== The measured Chord weaves it; then the report"
(cd "$work" && rm -f ./*.chord && CHORD_FILE=demo.chord chord/libexec/chord/as whole.s -o whole.o && ls -l demo.chord)
"$build/chord" report "$work/chord/libexec/chord/as" "$work/demo.chord"
