#!/bin/sh
# SPDX-License-Identifier: MIT
# demo.sh BUILD: measures Chord with Chord. Chord is built with `chord cc`, and then weaves one large assembly file: all of Chord,
# as gcc -flto makes it.
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
libs=$(make -s libs)
# Objects are named by their whole path: several folders have a file of the same name.
object()
{
	gcc -std=gnu11 -D_GNU_SOURCE -Isrc -I. -I"$build/made" -O2 -w -flto -c -o "$work/run/$(echo "$1" | tr / _).o" "$1"
}
for source in src/*/*.c src/*/*/*.c "$build"/made/*.c; do
	object "$source"
done
(cd "$work/run" && gcc -O2 -flto -flto-partition=one -save-temps ./*.o -o whole $libs)
text=$(find "$work/run" -name '*ltrans*.s' -size +100k | head -1)
[ -n "$text" ] || { echo "demo.sh: gcc left no assembly file" >&2; exit 1; }
mv "$text" "$work/whole.s"
rm -rf "$work/run"
wc -l "$work/whole.s"

echo
echo "== The measured Chord weaves it; then the report"
(cd "$work" && rm -f ./*.chord && CHORD_FILE=demo.chord chord/libexec/chord/as whole.s -o whole.o && ls -l demo.chord)
"$build/chord" report "$work/chord/libexec/chord/as" "$work/demo.chord"
