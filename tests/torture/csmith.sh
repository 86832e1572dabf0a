#!/bin/bash
# SPDX-License-Identifier: MIT
# Random C programs of csmith, plain and measured.
#
#	csmith.sh [--programs N] [--seed BASE] [--levels "-O0 -O2"] [--compilers "gcc clang"]
#	          [--measures edges,...] [--driver N] [--jobs N] [--work DIR] [--keep]
#
# Makes the programs of the seeds BASE ... BASE + N - 1. Each is compiled by one combination of compiler and level, in turn. Without
# --measures all measures are tried. --driver and --work are as for torture.sh. Prints "FAIL SEED LEVEL COMPILER MEASURE: why" for
# every difference, and keeps that program as DIR/SEED.c; then totals. Status 1 if there was a difference. CHORD is the program to
# test, CSMITH_INCLUDE the folder of csmith.h.
set -eu
torture=$(cd "$(dirname "$0")" && pwd)
: "${CHORD_TIMEOUT:=8}" # some programs never end
. "$torture/check.sh"

: "${CSMITH_INCLUDE:=/usr/include/csmith}"
programs=20
seed=1
levels="-O2 -O0 -O3 -O1 -Os"
compilers="gcc clang"
driver=19

# Lines COMPILER, LEVEL.
combinations()
{
	local level compiler
	for compiler in $compilers; do
		for level in $levels; do
			echo "$compiler	$level"
		done
	done
}

# Most programs are small, so that there can be many; every fourth is not.
size()
{
	if [ $(($1 % 4)) = 0 ]; then echo "--max-funcs 6"; else echo "--max-funcs 4 --max-block-depth 3 --max-expr-complexity 6"; fi
}

# Makes the programs, and lines for chamber.c.
list()
{
	local all i how # csmith writes platform.info where it runs
	mapfile -t all < <(combinations)
	for i in $(seq "$seed" $((seed + programs - 1))); do
		# shellcheck disable=SC2046
		[ -s "$work/$i.c" ] || (cd "$work" && csmith --seed "$i" $(size "$i") --output "$i.c")
		how=text
		[ $((i % driver)) != 0 ] || how=driver
		echo "csmith/$i	c	${all[i % ${#all[@]}]}	$how	-w -I $CSMITH_INCLUDE $work/$i.c"
	done
}

while [ $# -gt 0 ]; do
	case $1 in
	--programs) programs=$2; shift ;;
	--seed) seed=$2; shift ;;
	--levels) levels=$2; shift ;;
	--compilers) compilers=$2; shift ;;
	--driver) driver=$2; shift ;;
	--keep) keep=1 ;;
	*) common_option "$@" && shift || { echo "csmith.sh: $1: no such option" >&2; exit 2; } ;;
	esac
	shift
done

open_work csmith
list >"$work/list"
status=0
try_all || status=1
# Only programs that differ are kept.
[ ! -e "$work/list" ] || cut -f 1 "$work/list" | sed 's|csmith/||' | while read -r i; do
	grep -qs "^FAIL csmith/$i " "$work/notes" || rm -f "$work/$i.c"
done
exit $status
