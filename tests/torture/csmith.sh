#!/bin/bash
# SPDX-License-Identifier: MIT
# Random C programs of csmith, plain and measured.
#
#	csmith.sh [--programs N] [--seed BASE] [--levels "-O0 -O2"] [--compilers "gcc clang"]
#	          [--measures edges,every-block,every-edge,events,calls] [--jobs N] [--work DIR] [--keep]
#
# Makes the programs of the seeds BASE ... BASE + N - 1. Each is compiled by one
# combination of compiler and level, in turn. Prints "FAIL SEED LEVEL COMPILER MEASURE:
# why" for every difference, and keeps that program as DIR/SEED.c; then totals; status 1
# if there was any. CHORD is the program to test, CSMITH_INCLUDE the folder of csmith.h.
set -eu
torture=$(cd "$(dirname "$0")" && pwd)
: "${CHORD_TIMEOUT:=8}" # some programs never end
. "$torture/check.sh"

: "${CSMITH_INCLUDE:=/usr/include/csmith}"
programs=20
seed=1
levels="-O2 -O0 -O3 -O1 -Os"
compilers="gcc clang"
measures=edges,every-block,every-edge,events,calls
jobs=2
work=
workers=()

# What one seed is compiled with.
combination()
{
	local all=() level compiler
	for compiler in $compilers; do
		for level in $levels; do
			all+=("$level $compiler")
		done
	done
	echo "${all[$1 % ${#all[@]}]}"
}

# one SEED LEVEL COMPILER DIR
one()
{
	local file=$work/$1.c differences
	csmith --seed "$1" --max-funcs 6 --output "$file"
	differences=$(check "csmith/$1 $2 $3" "$4" c "$3" "$measures" -w "$2" -I "$CSMITH_INCLUDE" "$file")
	if [ -n "$differences" ]; then
		echo "$differences"
	else
		rm "$file"
	fi
}

# worker K: every jobs-th seed, from the K-th.
worker()
{
	local i=$1 level compiler
	while [ "$i" -lt "$programs" ]; do
		read -r level compiler <<<"$(combination $((seed + i)))"
		one $((seed + i)) "$level" "$compiler" "$work/$1${keep:+.$((seed + i))}"
		i=$((i + jobs))
	done
}

keep=
while [ $# -gt 0 ]; do
	case $1 in
	--programs) programs=$2; shift ;;
	--seed) seed=$2; shift ;;
	--levels) levels=$2; shift ;;
	--compilers) compilers=$2; shift ;;
	--measures) measures=$2; shift ;;
	--jobs) jobs=$2; shift ;;
	--work) work=$2; shift ;;
	--keep) keep=1 ;;
	*) echo "csmith.sh: $1: no such option" >&2; exit 2 ;;
	esac
	shift
done

[ -n "$work" ] || work=$(mktemp -d "${TMPDIR:-/tmp}/chord-csmith.XXXXXX")
mkdir -p "$work"
work=$(cd "$work" && pwd)
export CHORD_KEEP=$keep
notes=$work/notes
: >"$notes"
for k in $(seq 0 $((jobs - 1))); do
	worker "$k" &
	workers+=($!)
done
for pid in "${workers[@]}"; do
	wait "$pid" || fail "worker $pid" "status $?, not done"
done
totals "$notes" || exit 1
