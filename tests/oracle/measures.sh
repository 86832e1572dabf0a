#!/bin/sh
# SPDX-License-Identifier: MIT
# Four ways to measure, one truth: "edges" derives most of its counts, "every-block"
# and "every-edge" count what the others derive, "paths" counts no edge at all. The same
# run must give the same number for every instruction.
#
#	measures.sh [--programs "A B"] [--configs "X Y"] [--work DIR]
# MEASURES in the environment: edges, and those to compare with it.
set -eu
oracle=$(cd "$(dirname "$0")" && pwd)
. "$oracle/lib.sh"

programs="bzip2 zlib ncompress lua5.4 grep sqlite3 arpack openssl"
configs="gcc-O2"
: "${MEASURES:=edges every-block every-edge paths}"
measures=$MEASURES

# agree NAME STEM NUMBER: the others against the first.
agree()
{
	for measure in ${measures#edges}; do
		if [ -s "$2.edges.$3.insns" ] && cmp -s "$2.edges.$3.insns" "$2.$measure.$3.insns"; then
			say_ok "$1/$3/$measure: $(wc -l <"$2.edges.$3.insns") instructions as with edges"
		else
			say_fail "$1/$3/$measure: differs from edges (< edges, > $measure)"
			diff "$2.edges.$3.insns" "$2.$measure.$3.insns" | head -n 20
		fi
	done
}

one()
{
	name=$1/$2
	stem=$work/$1.$2
	rm -f "$stem".*.insns
	for measure in $measures; do
		built "$1" "$2" "$measure" || { say_fail "$name: build with $measure (see $stem.$measure.log)"; return; }
		each "$1" "$stem.$measure" run_measured "$stem.$measure" ||
			{ say_fail "$name/$measure: $(tail -q -n 1 "$stem.$measure".*.err | tail -n 1)"; return; }
	done
	for number in $(seq "$(wc -l <"$work/commands")"); do
		agree "$name" "$stem" "$number"
	done
}

options "$@"
for program in $programs; do
	"$real/recipe.sh" "$program" fetch >"$work/fetch.log" 2>&1 || die "$program: cannot fetch"
	for config in $configs; do
		one "$program" "$config"
	done
done
finished
