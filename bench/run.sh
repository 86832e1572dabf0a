#!/bin/sh
# SPDX-License-Identifier: MIT
# What measuring costs: programs built plain, with Chord and with others, run in turns.
#
#	run.sh [--quick] [--elapsed] [--runs N] [--programs "A B"] [--columns "X Y"] [--work DIR]
#
# A table of the ratio of user CPU time to the plain program's: median of the pairs, least and most, and the ratio of the least times;
# then the geometric means of each column's medians and of these ratios. (A program may take half as long again in some runs, in
# several in a row, and the next copy of it in none. Medians of few runs then say more of the machine than of the program.) Plain is
# gcc -O2; for LLVM's columns it is clang -O2; for valgrind's columns it is the gcc program itself, run once.
# Column `selected` counts the 5 % hottest paths of one run of each command. `trace-run` is `chord trace --run` (`trace-run-bits` of
# a build that traces bits). `trace-last` has CHORD_TRACE=last:64M. `registers` is edges with -fchord-loops=registers.
# `weighted:COLUMN` is built with weights from one run of each command. --elapsed: elapsed time in place of user CPU time.
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
real=$bench/../tests/real
real=$(cd "$real" && pwd)
. "$real/lib.sh"
. "$real/configs.sh"
. "$bench/processor.sh"
. "$bench/builds.sh"

programs="bzip2 zlib ncompress sqlite3 grep lua5.4 zstd xz fib"
columns="edges events calls gcov gcov-atomic llvm-instr llvm-gen callgrind cachegrind qemu"
runs=7
elapsed=
work=$CHORD_CACHE/work/bench
export CHORD_SMALL=1

qemu_plugin()
{
	command -v qemu-x86_64 >/dev/null || return 0
	find /usr/lib /usr/libexec /usr/share/qemu -name 'libbb.so' -o -name 'libinsn.so' 2>/dev/null | head -n 1
}

# wrapper_of COLUMN: what stands before the command; the column's build is then the plain one.
wrapper_of()
{
	case $1 in
	callgrind) echo "valgrind -q --log-file=/dev/null --tool=callgrind --callgrind-out-file=/dev/null" ;;
	cachegrind) echo "valgrind -q --log-file=/dev/null --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null" ;;
	qemu) echo "qemu-x86_64 -plugin $(qemu_plugin)" ;;
	esac
}

# before COLUMN: what stands before the command of a build of its own.
before()
{
	case $1 in
	trace-run | trace-run-*) echo "$CHORD trace --run" ;;
	trace-last) echo "env CHORD_TRACE=last:64M" ;;
	*) wrapper_of "$1" ;;
	esac
}

variant_of()
{
	case $1 in
	trace-run | trace-last) echo trace; return ;;
	trace-run-*) echo "trace-${1#trace-run-}"; return ;;
	esac
	if [ -n "$(wrapper_of "$1")" ]; then echo gcc; else echo "$1"; fi
}

available()
{
	case $1 in
	callgrind | cachegrind) command -v valgrind >/dev/null ;;
	qemu) [ -n "$(qemu_plugin)" ] ;;
	llvm-*) command -v clang >/dev/null ;;
	esac
}

# prepared PROGRAM VARIANT: a run folder; its commands in FOLDER.commands. The inputs are
# those of the plain program.
prepared()
{
	run=$work/$1.$2
	rm -rf "$run"
	mkdir -p "$run"
	[ "$2" = gcc ] || [ ! -e "$work/$1.gcc/input" ] || ln -s "$work/$1.gcc/input" "$run/input"
	(cd "$run" && recipe "$1" bench "$(built_in "$1" "$2")") >"$run.commands"
}

# profiled PROGRAM VARIANT: runs each command once; $program is then what was run, its profiles are in $work.
profiled()
{
	built "$1" "$2"
	prepared "$1" "$2"
	rm -f "$work"/profiles.*.chord
	while read -r _ command <&4; do
		(cd "$work/$1.$2" && export CHORD_FILE="$work/profiles.%p.chord" && eval "$command") >"$work/output"
	done 4<"$work/$1.$2.commands"
	program=$work/$1.$2/$(sed -n '1s|.* \./\([^ ]*\).*|\1|p' "$work/$1.$2.commands")
}

# choose PROGRAM: to $chosen the paths that make the most instructions.
choose()
{
	profiled "$1" paths
	"$CHORD" paths select --rule top:5% -o "$chosen" "$program" "$work"/profiles.*.chord 2>"$work/select.log" ||
		die "$1: no paths are chosen (see $work/select.log)"
	rm -f "$work"/profiles.*.chord
}

# weigh PROGRAM: to $weights how often each edge ran.
weigh()
{
	profiled "$1" edges
	"$CHORD" weights -o "$weights" "$program" "$work"/profiles.*.chord 2>"$work/weights.log" ||
		die "$1: there are no weights (see $work/weights.log)"
	rm -f "$work"/profiles.*.chord
}

# command_of PROGRAM VARIANT LINE WRAPPER: the command of that line, to be run from anywhere.
command_of()
{
	text=$(sed -n "$3p" "$work/$1.$2.commands" | cut -d ' ' -f 2-)
	echo "cd $work/$1.$2 && $(echo "$text" | sed "s|\\./|${4:+$4 }./|") >$work/output"
}

# cell PROGRAM LINE COLUMN: "median least most plain ratio-of-least-times", or nothing.
cell()
{
	times=$runs
	wrapper=$(wrapper_of "$3")
	[ -z "$wrapper" ] || times=1
	CHORD_FILE="$work/%n.chord" LLVM_PROFILE_FILE="$work/llvm.profraw" "$work/pair" $elapsed "$times" \
		"$(command_of "$1" "$(base_of "$3")" "$2" "")" "$(command_of "$1" "$(variant_of "$3")" "$2" "$(before "$3")")"
	for trace in "$work"/*.chord.trace; do
		[ ! -f "$trace" ] || echo "$1 $2 $3 $(du -B 1 "$trace" | cut -f 1)" >>"$work/sizes"
		rm -f "$trace"
	done
}

variants()
{
	for column in $columns; do
		base_of "$column"
		variant_of "$column"
	done | sort -u
}

# one PROGRAM: a row for every command of its bench.
one()
{
	is_ours "$1" || "$real/recipe.sh" "$1" fetch >"$work/fetch.log" 2>&1 || die "$1: cannot be fetched"
	# gcc's first: the others take its inputs.
	for variant in gcc $(variants); do
		[ "$variant" != gcc ] || [ ! -f "$work/$1.gcc.commands" ] || continue
		suits "$1" "$variant" || continue
		chosen=$CHORD_CACHE/bench/$1/chosen.paths
		weights=$CHORD_CACHE/bench/$1/edges.weights
		[ "$variant" != selected ] || choose "$1"
		[ "${variant#weighted:}" = "$variant" ] || weigh "$1"
		built "$1" "$variant"
		prepared "$1" "$variant"
	done
	line=0
	while read -r row rest <&3; do
		line=$((line + 1))
		for column in $columns; do
			suits "$1" "$column" || continue
			echo "$row $column $(cell "$1" "$line" "$column")" >>"$work/cells"
		done
		row_of "$row"
	done 3<"$work/$1.gcc.commands"
	rm -rf "$work/$1".*
}

head_line()
{
	printf '%-14s %7s' program plain
	for column in $columns; do printf ' %26s' "$column"; done
	echo
}

row_of()
{
	awk -v row="$1" -v columns="$columns" '
		$1 == row { m[$2] = $3; least[$2] = $4; most[$2] = $5; quick[$2] = $7; if (!plain) plain = $6 }
		END {
			printf "%-14s %6.2fs", row, plain
			n = split(columns, c, " ")
			for (i = 1; i <= n; i++) {
				cell = sprintf("%.3f (%.2f-%.2f) %.3f", m[c[i]], least[c[i]], most[c[i]], quick[c[i]])
				if (m[c[i]] == "") cell = "-"
				printf " %26s", cell
			}
			print ""
		}' "$work/cells"
}

means()
{
	awk -v columns="$columns" '
		$3 { sum[$2] += log($3); quick[$2] += log($7); count[$2]++ }
		END {
			printf "%-14s %7s", "geomean", ""
			n = split(columns, c, " ")
			for (i = 1; i <= n; i++)
				printf " %26s", !count[c[i]] ? "-" : sprintf("%.3f %19.3f", exp(sum[c[i]] / count[c[i]]), exp(quick[c[i]] / count[c[i]]))
			print ""
		}' "$work/cells"
}

# Columns that cannot be had are said and left out.
usable_columns()
{
	usable=
	for column in $columns; do
		if available "$column"; then usable="$usable $column"; else echo "$column: not available here"; fi
	done
	columns=$(echo $usable)
}

while [ $# -gt 0 ]; do
	case $1 in
	--quick) programs="bzip2 ncompress lua5.4 fib" columns="edges gcov" runs=3 ;;
	--runs) runs=$2; shift ;;
	--programs) programs=$2; shift ;;
	--columns) columns=$2; shift ;;
	--work) work=$2; shift ;;
	--elapsed) elapsed=-e ;;
	*) die "run.sh: what is $1?" ;;
	esac
	shift
done
mkdir -p "$work"
exec 7>"$work/lock"
flock -n 7 || die "another bench runs in $work (take another with --work)"
rm -f "$work"/*.commands "$work/cells" "$work/sizes" "$work"/*.chord.trace
gcc -O2 -D_GNU_SOURCE -o "$work/pair" "$bench/pair.c"
usable_columns
processor
head_line
for program in $programs; do
	one "$program"
done
means
