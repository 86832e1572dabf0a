# SPDX-License-Identifier: MIT
# Times, and the machine on which they were taken. To be sourced by paper.sh.
#
# time.tsv has a row for each run and build, from run.sh: user time as a ratio to the plain program's (median of alternating pairs,
# least and most), and the plain program's seconds. instrument-time.tsv has the seconds that the assembler and its stand-in take for
# all texts of a program.

time_columns="run build ratio least most plain"
time_builds="every-block every-edge edges blocks blocks-vcnt weighted:edges gcov gcov-atomic llvm-instr llvm-gen
	callgrind cachegrind"

# Where it is decided what a measured program executes.
woven_by="src/asm src/base src/cfg src/driver src/graph src/machine src/measure src/weave runtime format"

# machine STEP: on what it is measured, once. What was measured elsewhere, by other compilers, or with another weaver is not mixed
# with it.
machine()
{
	columns machine.tsv step what is
	machine_rows "$1" >"$work/machine"
	if ! has machine.tsv "$1"; then
		cat "$work/machine" >>"$data/machine.tsv"
		return
	fi
	for what in processor gcc clang valgrind weaver; do
		grep "^$1$tab$what$tab" "$work/machine" >"$work/now"
		grep "^$1$tab$what$tab" "$data/machine.tsv" | cmp -s - "$work/now" ||
			die "the results in $data are of another $what: --anew measures all, --out takes another folder"
	done
}

machine_rows()
{
	for what in processor gcc clang valgrind as chord weaver; do
		printf '%s\t%s\t%s\n' "$1" "$what" "$(version_of "$what")"
	done
}

version_of()
{
	case $1 in
	processor)
		LC_ALL=C lscpu | sed -n 's/^Model name: *//p; s/^CPU family: */family /p; s/^Model: */model /p' |
			paste -s -d , | sed 's/,/, /g'
		;;
	chord) git -C "$bench" log -1 --format='%h of %cs' 2>/dev/null || "$CHORD" --version | head -n 1 ;;
	weaver) echo "sources $(cd "$bench/.." && find $woven_by -type f | LC_ALL=C sort | xargs cat | cksum | cut -d ' ' -f 1)" ;;
	*) if command -v "$1" >/dev/null; then "$1" --version | head -n 1; else echo "not there"; fi ;;
	esac
}

# A build at a time, so that little is lost where it is stopped.
time_program()
{
	runs "$1" | cut -d ' ' -f 1 >"$work/names"
	for build in $time_builds; do
		progress "$1, time with $build"
		suits "$1" "$build" || continue
		! has_times "$build" || continue
		"$bench/run.sh" --work "$work/time" --runs "$runs" --programs "$1" --columns "$build" >"$work/time.log" 2>&1 ||
			die "$1: no times with $build (see $work/time.log)"
		awk 'NF == 6' "$work/time/cells" | while read -r row; do put time.tsv "$row"; done
	done
}

has_times()
{
	while read -r name <&4; do
		has time.tsv "$name" "$1" || return 1
	done 4<"$work/names"
}

# instrument_time PROGRAM: median seconds over all its texts.
instrument_time()
{
	texts "$1"
	row=$1
	for build in $instrumented_builds; do
		all="for text in $work/texts/$1/*.s; do $(assembler "$build") --64 -o $work/text.o \$text || exit; done"
		seconds=$("$work/pair" "$runs" "$all") || die "$1: no times with $build"
		row="$row ${seconds%% *}"
	done
	put instrument-time.tsv $row
}

time_programs()
{
	columns time.tsv $time_columns
	columns instrument-time.tsv program $instrumented_builds
	steps=0 step=0
	for program in $programs; do
		steps=$((steps + $(echo "$time_builds" | wc -w) + 1))
	done
	for program in $programs; do
		fetched "$program" || continue
		time_program "$program"
		progress "$program, time to put counters in"
		has instrument-time.tsv "$program" || instrument_time "$program"
	done
}
