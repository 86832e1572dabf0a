#!/bin/bash
# SPDX-License-Identifier: MIT
# What the users of chamber have in common: chamber.c tries the programs, and this file has everything around it. To be sourced by
# bash, with "torture" set to the folder of this file.

: "${CHORD:=$(cd "$torture/../.." && pwd)/build/chord}"
: "${CHORD_TIMEOUT:=20}" # seconds; an eighth of it unmeasured
CHORD=$(realpath "$CHORD")
: "${CHAMBER:=$(dirname "$CHORD")/chamber}"
export CHORD CHORD_TIMEOUT LC_ALL=C
measures=
jobs=2
work=
keep=

# common_option NAME VALUE: takes an option that all chambers have. False: it is none, or has no value.
common_option()
{
	case $1 in
	--measures) measures=$2 ;;
	--jobs) jobs=$2 ;;
	--work) work=$2 ;;
	*) return 1 ;;
	esac
}

# The folder for everything; one of our own is removed if nothing was found.
open_work()
{
	own=
	[ -n "$work" ] || own=1 work=$(mktemp -d "${TMPDIR:-/tmp}/chord-$1.XXXXXX")
	mkdir -p "$work"
	work=$(cd "$work" && pwd)
}

# Tries the programs of $work/list, and prints totals. False if there were differences, or
# nothing to compare.
try_all()
{
	local status=0
	"$CHAMBER" ${measures:+--measures "$measures"} --jobs "$jobs" ${keep:+--keep} "$work/list" "$work" || status=$?
	[ "$status" != 2 ] || return 2
	totals "$work/notes" || status=1
	[ -z "$own" ] || [ -n "$keep" ] || [ "$status" != 0 ] || rm -rf "$work"
	return $status
}

# totals NOTES: refused procedures by reason, sums by measure, sums.
totals()
{
	sed -n 's/^refused [^ ]* //p' "$1" | sort | uniq -c | sort -rn | sed 's/^ */refused /'
	awk '$1 == "+" && NF == 3 { n[$2] += $3 }
		$1 == "+" && NF == 4 {
			if (!($2 in known)) measure[++measures] = $2
			known[$2]; m[$2, $3] += $4; n[$3] += $4
		}
		END {
			if (measures)
				printf "%-12s %8s %11s %8s %8s %11s %12s\n", "measure", "runs", "procedures", "refused", "unknown", "unfinished", "differences"
			for (i = 1; i <= measures; i++) {
				k = measure[i]
				printf "%-12s %8d %11d %8d %8d %11d %12d\n", k, m[k, "runs"], m[k, "procedures"], m[k, "refused"], m[k, "unknown"],
					m[k, "unfinished"], m[k, "differences"]
			}
			if (n["unfinished"])
				printf "%d runs had a stack that could not be walked to its end, as their reports say\n", n["unfinished"]
			if (n["paths"])
				printf "%d paths of interest counted as among all paths, all others as none\n", n["paths"]
			if (n["repeated"])
				printf "%d programs have the same text as at another level, and were tried there\n", n["repeated"]
			printf "%d programs (%d skipped: %d do not compile, %d fail plain), %d runs, ", n["programs"],
				n["uncompilable"] + n["failing"], n["uncompilable"], n["failing"], n["runs"]
			printf "%d procedures measured, %d refused, %d unknown, %d differences\n",
				n["procedures"], n["refused"], n["unknown"], n["differences"]
			exit n["differences"] > 0 || n["runs"] == 0
		}' "$1"
}
