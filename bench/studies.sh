#!/bin/sh
# SPDX-License-Identifier: MIT
# The studies of selective path profiling (studies.c), of programs that are built here with all their paths. It writes
# FOLDER/PROGRAM.tsv, and the paper's Fig. 6 and 7 as FOLDER/PROGRAM-6.svg and -7.svg.
#
#	studies.sh [--sets N] [--programs "A B"] [--to FOLDER]
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
real=$bench/../tests/real
real=$(cd "$real" && pwd)
: "${CHORD:=$bench/../build/chord}"
CHORD=$(realpath "$CHORD")
. "$real/lib.sh"
. "$real/configs.sh"
export CHORD_SMALL=1

sets=100
programs="bzip2 lua5.4 sqlite3"
to=$CHORD_CACHE/work/studies
while [ $# -gt 0 ]; do
	case $1 in
	--sets) sets=$2 ;;
	--programs) programs=$2 ;;
	--to) to=$2 ;;
	*) die "studies.sh: what is $1?" ;;
	esac
	shift 2
done
command -v gnuplot >/dev/null || die "gnuplot is missing (apt-get install gnuplot-nox)"
mkdir -p "$to"
make -s -C "$bench/.." build/studies
for program in $programs; do
	"$real/recipe.sh" "$program" fetch >"$to/$program.log" 2>&1 || die "$program: cannot be fetched"
	cc="$CHORD cc -fchord=paths"
	rm -rf "$to/$program"
	"$real/recipe.sh" "$program" build "$to/$program" "$cc" "$cc" "" -O2 "" >"$to/$program.log" 2>&1 || die "$program: cannot be built"
	case $program in
	lua5.4) file=lua ;;
	zlib) file=minigzip ;;
	ncompress) file=compress ;;
	grep) file=src/grep ;;
	*) file=$program-static ;;
	esac
	echo "$program:"
	"$bench/../build/studies" "$to/$program/$file" "$sets" "$to"
	mv "$to/studies.tsv" "$to/$program.tsv"
	gnuplot -e "tsv='$to/$program.tsv'; stem='$to/$program'; program='$program'" "$bench/studies.gp"
	# A point is a line of almost no length.
	sed -i -E 's/M([0-9.]+),([0-9.]+) L[0-9.]+,\2( |$)/M\1 \2h.1 /g' "$to/$program"-[67].svg
done
