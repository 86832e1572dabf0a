# SPDX-License-Identifier: MIT
# Increments and instructions executed, and the numbers of counters in other places. To be sourced by paper.sh.
#
# All of it repeats, because runs have the same folder, names, environment and addresses. counted.tsv has a row for each run and
# build. placed.tsv and static.tsv have what placements.c finds in builds with -fchord=edges.

counted_columns="run build program instructions additions"
placed_columns="run placement weights counters increments in-source in-target falls jumps ran-source ran-target ran-falls ran-jumps"
static_columns="program procedures blocks edges profiled no-jump woven woven-no-jump"

# Some containers do not allow it; what is counted should not mind then.
fixed="setarch -R"
$fixed true 2>/dev/null || fixed=

# build_as PROGRAM VARIANT: to $work/build.
build_as()
{
	rm -rf "$work/build"
	(
		export CHORD_FIXED=1 CHORD_SMALL=2
		recipe "$1" build "$work/build" "$(compiler_of "$2")" "$(cxx_of "$2")" "$(fortran_of "$2")" -O2 ""
	) >"$work/build.log" 2>&1 || die "$1: cannot be built for $2 (see $work/build.log)"
}

# here PROGRAM: the folder of runs, with the inputs and the program.
here()
{
	mkdir -p "$work/inputs/$1"
	(cd "$work/inputs/$1" && filled "$1")
	rm -rf "$work/here"
	mkdir "$work/here"
	[ -z "$(ls "$work/inputs/$1")" ] || cp -s "$work/inputs/$1"/* "$work/here"
	cp -L "$(object "$1" "$work/build")" "$work/here/program"
}

# executed COMMAND: sets $instructions. Its profile, if it leaves one, is $work/profile.
executed()
{
	rm -f "$work/profile" "$work/llvm.profraw"
	find "$work/build" -name '*.gcda' -exec rm {} +
	(
		cd "$work/here"
		eval "env -i PATH='$PATH' HOME='$work' LC_ALL=C TZ=UTC CHORD_FILE='$work/profile' \
			LLVM_PROFILE_FILE='$work/llvm.profraw' $fixed \
			valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file='$work/callgrind.log' $1"
	) >"$work/output" 2>"$work/errors" || die "$1 fails under callgrind: $(tail -n 2 "$work/errors" "$work/callgrind.log")"
	instructions=$(sed -n 's/.*Collected : //p' "$work/callgrind.log")
	[ -n "$instructions" ] || die "callgrind says nothing of $1 (see $work/callgrind.log)"
}

# count_run PROGRAM NAME BUILD: a row of what has just been executed.
count_run()
{
	additions=-
	[ ! -e "$work/profile" ] || additions=$("$work/additions" "$work/profile")
	same_output "$2" "$3"
	put counted.tsv "$2" "$3" "$1" "$instructions" "$additions"
}

# Every build writes what the plain one does.
same_output()
{
	if [ "$2" = gcc ]; then
		cksum <"$work/output" >"$work/said.$1"
	elif [ -e "$work/said.$1" ]; then
		[ "$(cksum <"$work/output")" = "$(cat "$work/said.$1")" ] || die "$1: another output with $2"
	fi
}

placed_rows()
{
	"$work/placements" "$work/here/program" "$work/profile" | sed -n "2,\$s/^/$1$tab/p"
}

# What has counters, and where, in a build with weights.
weighted_rows()
{
	"$work/placements" "$work/here/program" "$work/profile" | sed -n "s/^woven/$1${tab}woven-weighted/p"
}

static_rows()
{
	"$work/placements" "$work/here/program" | sed -n "2s/^/$1$tab/p"
}

# count_edges PROGRAM NAME: beside what all builds have, what other placements would have cost, and weights.
count_edges()
{
	has placed.tsv "$2" || rows placed.tsv placed_rows "$2"
	has static.tsv "$1" || rows static.tsv static_rows "$1"
	"$CHORD" weights -o "$work/$2.weights" "$work/here/program" "$work/profile" 2>"$work/weights.log" ||
		die "$2: there are no weights (see $work/weights.log)"
}

# done_with PROGRAM BUILD: is there a row for each run?
done_with()
{
	runs "$1" >"$work/runs"
	while read -r name _ <&4; do
		has counted.tsv "$name" "$2" || return 1
		case $2 in
		edges) [ -e "$work/$name.weights" ] || has placed.tsv "$name" woven-weighted || return 1 ;;
		weighted) has placed.tsv "$name" woven-weighted || return 1 ;;
		esac
	done 4<"$work/runs"
}

count_build()
{
	build_as "$1" "$2"
	here "$1"
	runs "$1" >"$work/runs"
	while read -r name command <&4; do
		executed "$command"
		[ "$2" != edges ] || count_edges "$1" "$name"
		has counted.tsv "$name" "$2" || count_run "$1" "$name" "$2"
	done 4<"$work/runs"
}

# With the weights of a run like it: a build for each run.
count_weighted()
{
	runs "$1" >"$work/runs"
	while read -r name command <&4; do
		! has placed.tsv "$name" woven-weighted || continue
		weights=$work/$name.weights
		build_as "$1" weighted:edges
		here "$1"
		executed "$command"
		has counted.tsv "$name" weighted || count_run "$1" "$name" weighted
		rows placed.tsv weighted_rows "$name"
	done 4<"$work/runs"
}

count_program()
{
	for variant in $(variants "$1"); do
		progress "$1, $variant"
		done_with "$1" "$variant" || count_build "$1" "$variant"
	done
	progress "$1, edges with weights"
	done_with "$1" weighted || count_weighted "$1"
	rm -rf "$work/build" "$work/here"
}

count_programs()
{
	columns counted.tsv $counted_columns
	columns placed.tsv $placed_columns
	columns static.tsv $static_columns
	steps=0 step=0
	for program in $programs; do
		steps=$((steps + $(variants "$program" | wc -w) + 1))
	done
	for program in $programs; do
		! fetched "$program" || count_program "$program"
	done
}
