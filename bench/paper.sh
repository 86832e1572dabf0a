#!/bin/sh
# SPDX-License-Identifier: MIT
# The tables and figures of "Optimally Profiling and Tracing Programs" (Ball & Larus 1994, sections 5 and 6) for today's programs.
#
#	paper.sh [--quick] [--programs "A B"] [--only "STEP ..."] [--runs N] [--anew] [--out DIR] [--work DIR] [--no-plots]
#
# Each step resumes where it was stopped: results that are in DIR (default: bench/results) are not measured again, except with
# --anew. The page says what is not measured yet. The steps are:
#
#	count       increments and instructions executed, static numbers (callgrind; repeats exactly, on a busy machine, too)
#	instrument  what it takes to put counters in (likewise)
#	time        user time of alternating runs, by run.sh: on a calm machine
#	write       bench/results.md and its plots (with --out: DIR/results.md)
#
# Default: all of them. --quick: one small program in few builds, without time, in some seconds, to a folder of its own.
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
paper=$bench/paper
real=$(cd "$bench/../tests/real" && pwd)
. "$real/lib.sh"
. "$real/configs.sh"
CHORD=$(realpath "$CHORD")
. "$bench/builds.sh"
. "$paper/programs.sh"
. "$paper/rows.sh"
. "$paper/count.sh"
. "$paper/instrument.sh"
. "$paper/time.sh"
export CHORD

quick=0 runs=5 anew=0 plots=1 only= programs= out= work=
while [ $# -gt 0 ]; do
	case $1 in
	--quick) quick=1 ;;
	--programs) programs=$2; shift ;;
	--only) only=$2; shift ;;
	--runs) runs=$2; shift ;;
	--anew) anew=1 ;;
	--out) out=$2; shift ;;
	--work) work=$2; shift ;;
	--no-plots) plots=0 ;;
	*) echo "paper.sh: what is $1?" >&2; exit 2 ;;
	esac
	shift
done

# Where results are and the page is.
if [ "$quick" = 1 ]; then
	: "${programs:=$quick_programs}" "${only:=count instrument write}"
	: "${work:=$CHORD_CACHE/work/paper-quick}" "${out:=$work/results}"
fi
: "${only:=count instrument time write}" "${programs:=$all_programs}" "${work:=$CHORD_CACHE/work/paper}"
data=${out:-$bench/results} page=${out:-$bench}/results.md
mkdir -p "$work" "$data"
work=$(realpath "$work")
data=$(realpath "$data")
exec 7>"$work/lock"
flock -n 7 || die "another paper.sh runs in $work (take another with --work)"
[ "$plots" = 0 ] || command -v gnuplot >/dev/null ||
	die "gnuplot is not there: tools/setup.sh bench installs it; --no-plots does without"
[ "$anew" = 0 ] || rm -f "$data"/*.tsv

gcc -O2 -std=gnu11 -D_GNU_SOURCE -o "$work/pair" "$bench/pair.c"
library=$(dirname "$CHORD")
for tool in "$bench/additions.c" "$paper/placements.c"; do
	gcc -O2 -std=gnu11 -D_GNU_SOURCE -I"$bench/../src" -I"$bench/.." -I"$library/made" -o "$work/$(basename "$tool" .c)" \
		"$tool" "$library/libchord.a" $(make -s -C "$bench/.." libs)
done
for step_name in $only; do
	case $step_name in
	count) machine count; count_programs ;;
	instrument) machine count; instrument_programs ;;
	time) machine time; time_programs ;;
	write) "$paper/write.sh" "$data" "$page" "$plots" ;;
	*) echo "paper.sh: there is no step $step_name" >&2; exit 2 ;;
	esac
done
[ -z "$missing" ] || die "left out:$missing"
