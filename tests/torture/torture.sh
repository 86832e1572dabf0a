#!/bin/bash
# SPDX-License-Identifier: MIT
# gcc.c-torture/execute and g++.dg/eh of GCC, plain and measured.
#
#	torture.sh [--sample N] [--levels "-O0 -O2"] [--compilers "gcc clang"]
#	           [--measures edges,every-block,every-edge,events,calls] [--only PATTERN]
#	           [--options "-flto ..."] [--jobs N] [--work DIR] [--keep]
#
# --sample N takes every N-th program, and of its combinations of compiler and level one,
# in turn (20 if not given: a minute or two); --sample 1 is the whole. --only takes the
# programs whose names match a pattern of the shell; --options compiles all with more options. Prints
# "FAIL PROGRAM LEVEL COMPILER MEASURE: why" for every difference, then totals; status 1
# if there was any. CHORD is the program to test; CHORD_CACHE keeps the sources.
set -eu
torture=$(cd "$(dirname "$0")" && pwd)
. "$torture/fetch.sh"
. "$torture/check.sh"

sample=20
levels="-O0 -O1 -O2 -O3 -Os"
compilers="gcc clang"
measures=edges,every-block,every-edge,events,calls
only='*'
more=
jobs=2
work=
workers=()

# quoted FILE WORD: the options that a directive (dg-WORD) asks for on this machine.
quoted()
{
	sed -nE "s/.*\{ *dg-$2 +\{? *(\"([^\"]*)\"|(-[^ {}\"]*)) *\}? *(\{ target ([^}]|\{[^}]*\})*(x86_64|\*-\*-\*).*)?\}.*/\2\3/p" "$1" | head -n 1
}

# What builtins.exp and ieee.exp ask for, and what a program asks for itself.
options()
{
	case $1 in
	*/builtins/*) echo "-fno-builtin-abort -fno-tree-dse -fno-tree-loop-distribute-patterns -fno-inline-functions" ;;
	*/ieee/*) echo "-fno-inline -frounding-math" ;;
	*.C) echo "-std=gnu++14" ;;
	esac
	quoted "$1" options
	quoted "$1" additional-options
}

# The files that make a program, the first of which names it.
sources()
{
	echo "$1"
	case $1 in
	*/builtins/*) echo "${1%.c}-lib.c" "${1%/*}/lib/main.c" ;;
	esac
}

# one NAME LEVEL COMPILER DIR
one()
{
	local file=$CHORD_CACHE/src/gcc-12/$1 compiler=$3 language=c
	case $1:$compiler in
	*.C:gcc) language=c++ compiler=g++ ;;
	*.C:clang) language=c++ compiler=clang++ ;;
	esac
	# shellcheck disable=SC2046,SC2086
	check "$1 $2 $3" "$4" $language "$compiler" "$measures" -w "$2" $(options "$file") $more $(sources "$file") -lm
}

programs()
{
	(
		cd "$CHORD_CACHE/src/gcc-12"
		find gcc.c-torture/execute -name '*.c' ! -path '*/lib/*' ! -name '*-lib.c'
		grep -lE 'dg-do run' g++.dg/eh/*.C
	) | sort
}

# Lines PROGRAM LEVEL COMPILER.
combinations()
{
	local n=0 turn=0 level compiler all=()
	for level in $levels; do
		for compiler in $compilers; do
			all+=("$level $compiler")
		done
	done
	programs | while read -r program; do
		# shellcheck disable=SC2254
		case $program in
		$only) ;;
		*) continue ;;
		esac
		if [ "$sample" -gt 1 ]; then
			[ $((n++ % sample)) = 0 ] || continue
			echo "$program ${all[turn++ % ${#all[@]}]}"
		else
			printf "$program %s\n" "${all[@]}"
		fi
	done
}

# worker K: every jobs-th combination, from the K-th.
worker()
{
	awk -v jobs="$jobs" -v k="$1" 'NR % jobs == k' "$work/list" >"$work/list.$1"
	while read -r program level compiler; do
		one "$program" "$level" "$compiler" "$work/$1${keep:+/${program//\//.}$level.$compiler}"
	done <"$work/list.$1"
}

keep=
while [ $# -gt 0 ]; do
	case $1 in
	--sample) sample=$2; shift ;;
	--levels) levels=$2; shift ;;
	--compilers) compilers=$2; shift ;;
	--measures) measures=$2; shift ;;
	--only) only=$2 sample=1; shift ;;
	--options) more=$2; shift ;;
	--jobs) jobs=$2; shift ;;
	--work) work=$2; shift ;;
	--keep) keep=1 ;;
	*) die "$1: no such option" ;;
	esac
	shift
done

source_package gcc-12
[ -n "$work" ] || work=$(mktemp -d "${TMPDIR:-/tmp}/chord-torture.XXXXXX")
mkdir -p "$work"
work=$(cd "$work" && pwd)
export CHORD_KEEP=$keep
notes=$work/notes
: >"$notes"
combinations >"$work/list"
for k in $(seq 0 $((jobs - 1))); do
	worker "$k" &
	workers+=($!)
done
for pid in "${workers[@]}"; do
	wait "$pid" || fail "worker $pid" "status $?, not done"
done
totals "$notes" || exit 1
