#!/bin/sh
# SPDX-License-Identifier: MIT
# object.sh OBJECT SOURCE COMPILER OPTION...: makes the object of a source; both are named from the root. The folder CHORD_CACHE
# keeps an object for each text that a compiler was given, so only what has changed is compiled again. Without CHORD_CACHE nothing
# is kept.
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
