# SPDX-License-Identifier: MIT
# What it takes to put counters in, in instructions under callgrind: of the assembler, and of its stand-in with redundant and with
# optimal counters. To be sourced by paper.sh. instrumented.tsv has a row for each program.

instrumented_columns="program files lines bytes as every-block every-edge edges"
instrumented_builds="as every-block every-edge edges"

# texts PROGRAM: the assembly text of its sources, as gcc -O2 writes it, in $work/texts/PROGRAM.
texts()
{
	[ ! -e "$work/texts/$1/.complete" ] || return 0
	rm -rf "$work/texts/$1" "$work/keep"
	mkdir -p "$work/texts/$1" "$work/keep"
	cat >"$work/keep/as" <<-END
		#!/bin/sh
		for file in "\$@"; do
			case \$file in
			*.s) cp "\$file" "\$(mktemp $work/texts/$1/XXXXXX.s)" ;;
			esac
		done
		exec as "\$@"
	END
	chmod +x "$work/keep/as"
	(
		export CHORD_FIXED=1 CHORD_SMALL=2
		recipe "$1" build "$work/build" "gcc -B$work/keep" "g++ -B$work/keep" "gfortran -B$work/keep" -O2 ""
	) >"$work/build.log" 2>&1 || die "$1: cannot be built (see $work/build.log)"
	# What a configure script or cmake tried out is no part of it.
	find "$work/texts/$1" -name '*.s' -size -2k -exec grep -L '\.globl' {} + | xargs -r rm
	touch "$work/texts/$1/.complete"
}

# assembler BUILD
assembler()
{
	case $1 in
	as) echo "as" ;;
	*) echo "$("$CHORD" hook)as --chord=$1" ;;
	esac
}

# instructions_of BUILD PROGRAM: of all its texts.
instructions_of()
{
	total=0
	for text in "$work/texts/$2"/*.s; do
		rm -f "$work"/as.log.*
		valgrind --trace-children=yes --tool=callgrind --callgrind-out-file=/dev/null --log-file="$work/as.log.%p" \
			$(assembler "$1") --64 -o "$work/text.o" "$text" 2>"$work/errors" ||
			die "$text: $(tail -n 2 "$work/errors")"
		n=$(sed -n 's/.*Collected : //p' "$work"/as.log.* | awk '{ n += $1 } END { printf "%.0f", n }')
		[ "$n" -gt 0 ] || die "callgrind says nothing of $1 (see $work/as.log.*)"
		total=$((total + n))
	done
	echo "$total"
}

instrument_program()
{
	texts "$1"
	row="$1 $(ls "$work/texts/$1" | wc -l) $(cat "$work/texts/$1"/*.s | wc -lc)"
	for build in $instrumented_builds; do
		progress "$1, assembled by $build"
		row="$row $(instructions_of "$build" "$1")" || exit 1
	done
	put instrumented.tsv $row
}

instrument_programs()
{
	columns instrumented.tsv $instrumented_columns
	steps=0 step=0
	for program in $programs; do
		has instrumented.tsv "$program" || steps=$((steps + 4))
	done
	for program in $programs; do
		has instrumented.tsv "$program" || ! fetched "$program" || instrument_program "$program"
	done
}
