#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares several measures with each other: "edges" derives most of its counts, "every-block" and "every-edge" count what the
# others derive, "paths" counts no edge at all, and "registers" and "path-registers" are edges and paths with
# -fchord-loops=registers. In the same run they must all give the same number for every instruction.
#
#	measures.sh [--programs "A B"] [--configs "X Y"] [--work DIR]
# MEASURES in the environment: edges, and those to compare with it.
set -eu
oracle=$(cd "$(dirname "$0")" && pwd)
. "$oracle/lib.sh"
. "$oracle/../registry.sh"

programs="bzip2 zlib ncompress lua5.4 grep sqlite3 arpack openssl"
configs="gcc-O2"
: "${MEASURES:=$(measures flow) registers path-registers}"
measures=$MEASURES

# refused_by PROGRAM STEM MEASURE: what a measure refuses by name is not compared; it must not be half of all.
refused_by()
{
	for file in $("$real/recipe.sh" "$1" programs "$2.$3"); do
		"$CHORD" verify "$2.$3/$file" 2>/dev/null || :
	done | sed -nE '/ procedures measured, /d; s/^([^ :]+): .*/\1/p' >"$2.$3.refused"
}

# agree NAME STEM NUMBER: the others against the first.
agree()
{
	for measure in ${measures#edges}; do
		awk -v names="$2.$measure.refused" 'FILENAME == names { out[$1]; next } !($1 in out)' "$2.$measure.refused" \
			"$2.edges.$3.insns" >"$work/edges.insns"
		if [ $(($(wc -l <"$work/edges.insns") * 2)) -gt "$(wc -l <"$2.edges.$3.insns")" ] &&
			cmp -s "$work/edges.insns" "$2.$measure.$3.insns"; then
			say_ok "$1/$3/$measure: $(wc -l <"$work/edges.insns") instructions as with edges" \
				"($(wc -l <"$2.$measure.refused") procedures refused)"
		else
			say_fail "$1/$3/$measure: differs from edges (< edges, > $measure)"
			diff "$work/edges.insns" "$2.$measure.$3.insns" | head -n 20
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
		refused_by "$1" "$stem" "$measure"
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
