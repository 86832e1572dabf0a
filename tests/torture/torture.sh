#!/bin/bash
# SPDX-License-Identifier: MIT
# gcc.c-torture/execute and g++.dg/eh of GCC, plain and measured.
#
#	torture.sh [--sample N] [--levels "-O0 -O2"] [--compilers "gcc clang"]
#	           [--measures edges,...] [--only PATTERN] [--options "-flto ..."] [--driver N]
#	           [--jobs N] [--work DIR] [--keep] [--fetch]
#
# --sample N takes every N-th program (20 if not given), and one of its combinations of compiler and level, in turn; --sample 1
# takes everything. Without --measures all measures are tried. --only takes the programs whose names match a pattern of the shell.
# --options compiles all with more options. Every N-th program (--driver, 19) is compiled anew for each measure, the others once for
# all measures (chamber.c). With --work, what is in DIR already is not done again, unless it differed: so a whole run can be stopped
# and resumed. Prints "FAIL PROGRAM LEVEL COMPILER MEASURE: why" for every difference, then totals; status 1 if there was a
# difference. --fetch only gets the sources. CHORD is the program to test; CHORD_CACHE keeps the sources.
set -eu
torture=$(cd "$(dirname "$0")" && pwd)
. "$torture/fetch.sh"
. "$torture/check.sh"

sample=20
levels="-O0 -O1 -O2 -O3 -Os"
compilers="gcc clang"
only='*'
more=
driver=19
fetch=

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
	local text
	IFS= read -r -d '' text <"$1" || true
	[[ $text == *dg-*options* ]] || return 0
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

programs()
{
	(
		cd "$CHORD_CACHE/src/$gcc_source"
		find gcc.c-torture/execute -name '*.c' ! -path '*/lib/*' ! -name '*-lib.c'
		grep -lE 'dg-do run' g++.dg/eh/*.C
	) | sort
}

# Lines PROGRAM, COMPILER, LEVEL...
combinations()
{
	local n=0 turn=0 level compiler all=()
	for level in $levels; do
		for compiler in $compilers; do
			all+=("$compiler	$level")
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
			echo "$program	${all[turn++ % ${#all[@]}]}"
		else
			for compiler in $compilers; do
				echo "$program	$compiler	$levels"
			done
		fi
	done
}

# The same, as chamber.c wants it.
list()
{
	local n=0 program compiler some how language file
	combinations | while IFS='	' read -r program compiler some; do
		file=$CHORD_CACHE/src/$gcc_source/$program
		language=c how=text
		[ "${program##*.}" = c ] || language=c++
		[ $((n++ % driver)) != 0 ] || how=driver
		# shellcheck disable=SC2046,SC2086,SC2116
		echo "$program	$language	$compiler	$some	$how	$(echo -w $(options "$file") $more $(sources "$file") -lm)"
	done
}

while [ $# -gt 0 ]; do
	case $1 in
	--sample) sample=$2; shift ;;
	--levels) levels=$2; shift ;;
	--compilers) compilers=$2; shift ;;
	--only) only=$2 sample=1; shift ;;
	--options) more=$2; shift ;;
	--driver) driver=$2; shift ;;
	--keep) keep=1 ;;
	--fetch) fetch=1 ;;
	*) common_option "$@" && shift || die "$1: no such option" ;;
	esac
	shift
done
# What is in a file of link-time optimisation is no text that could be woven.
[[ $more != *-flto* ]] || driver=1

source_package "$gcc_source"
[ -z "$fetch" ] || exit 0
open_work torture
list >"$work/list"
try_all
