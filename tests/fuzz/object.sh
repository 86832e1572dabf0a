#!/bin/sh
# SPDX-License-Identifier: MIT
# object.sh OBJECT SOURCE COMPILER OPTION...: the object of a source, both named from the root. One is kept for each text that a compiler is given, so that
# only what has changed is compiled again. CHORD_CACHE is where; without it nothing is kept.
set -eu
object=$1 source=$2
shift 2
[ -n "${CHORD_CACHE-}" ] || exec "$@" -c -o "$object" "$source"
kept=$CHORD_CACHE/objects
mkdir -p "$kept"
cd / # the text names the folder
sum=$({ "$1" --version && echo "$*" && "$@" -E "$source"; } | sha256sum | cut -c 1-40)
if [ -e "$kept/$sum.o" ]; then
	touch "$kept/$sum.o"
else
	"$@" -c -o "$kept/$sum.$$" "$source"
	mv "$kept/$sum.$$" "$kept/$sum.o"
fi
ln "$kept/$sum.o" "$object" 2>/dev/null || cp "$kept/$sum.o" "$object"
