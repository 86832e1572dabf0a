#!/bin/sh
# SPDX-License-Identifier: MIT
# Where the instructions go that a measure adds, per hundred instructions of the plain program: the tests' workloads (tests/real)
# under callgrind. Additions, loads of their bases, and the code that keeps flags are known by the instructions at their addresses.
# The runtime is known by its symbol. The rest are jumps.
#
#	where.sh [--programs "A B"] [--measure X] [--weights] [--work DIR]
#
# --weights: the programs are built with the exact counts of the same workload as weights.
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
oracle=$bench/../tests/oracle
: "${CHORD:=$bench/../build/chord}"
CHORD=$(realpath "$CHORD")
. "$oracle/lib.sh"

programs="bzip2 zlib ncompress grep lua5.4 sqlite3"
measure=edges
weights=
work=$CHORD_CACHE/work/where
while [ $# -gt 0 ]; do
	case $1 in
	--programs) programs=$2; shift ;;
	--measure) measure=$2; shift ;;
	--weights) weights=yes ;;
	--work) work=$2; shift ;;
	*) die "where.sh: what is $1?" ;;
	esac
	shift
done
mkdir -p "$work"
profile=$work/profile

# A command under callgrind: what it wrote is STEM.callgrind.
collect()
{
	rm -f "$profile"
	run_here "valgrind --tool=callgrind --dump-instr=yes --compress-strings=no --compress-pos=no \
		--callgrind-out-file=$1.callgrind --log-file=$work/callgrind.log" "$2"
	[ ! -e "$profile" ] || cp "$profile" "$1.chord"
}

# all FILE...: the instructions executed.
all()
{
	awk '/^summary:/ { n += $2 } END { printf "%.0f", n }' "$@"
}

# Lines ADDRESS KIND of a program.
kinds()
{
	counters=$(readelf -SW "$1" | awk '{ sub(/^ *\[ *[0-9]+\] */, "") } $1 == "chord_cnt" { print $3, $5 }')
	objdump -d --no-show-raw-insn -w "$1" | awk -v counters="$counters" '
		function number(hex,   i, n) {
			for (i = 1; i <= length(hex); i++)
				n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		BEGIN { split(counters, c, " "); low = number(c[1]) - 4096; high = number(c[1]) + number(c[2]) + 4096 }
		!/^ *[0-9a-f]+:\t/ { next }
		{
			where = $1
			sub(/:$/, "", where)
			kind = ""
			if (/%gs:/) kind = "additions"
			else if ($2 == "lahf" || $2 == "sahf" || $2 == "seto" || $2 ~ /^pushf|^popf/) kind = "flags"
			else if ($2 == "lea" && match($0, /# [0-9a-f]+/)) {
				to = number(substr($0, RSTART + 2, RLENGTH - 2))
				if (to >= low && to < high) kind = "bases"
			}
			if (kind) print where, kind
		}'
}

# row NAME PROGRAM PLAIN FILE...: PLAIN instructions without a measure.
row()
{
	name=$1 program=$2 plain=$3
	shift 3
	kinds "$program" >"$work/kinds"
	awk -v name="$name" -v plain="$plain" -v program="$(basename "$program")" '
		FNR == NR { kind[$1] = $2; next }
		/^ob=/ { mine = substr($0, length($0) - length(program)) == "/" program; next }
		/^fn=/ { runtime = /^fn=chord_rt_/; next }
		/^calls=/ { skip = 1; next }
		/^summary:/ { all += $2 }
		!/^0x/ { next }
		skip { skip = 0; next }
		mine { n[runtime ? "runtime" : kind[substr($1, 3)]] += $3 }
		END {
			rest = all - plain - n["additions"] - n["bases"] - n["flags"] - n["runtime"]
			printf "%-12s %14.0f %8.2f %10.2f %8.2f %8.2f %8.2f %8.2f\n", name, plain, 100 * (all / plain - 1),
				100 * n["additions"] / plain, 100 * rest / plain, 100 * n["bases"] / plain, 100 * n["flags"] / plain,
				100 * n["runtime"] / plain
		}' "$work/kinds" "$@"
}

# build PROGRAM DIR OPTION...
build()
{
	name=$1 dir=$2
	shift 2
	rm -rf "$dir"
	"$real/recipe.sh" "$name" build "$dir" "$CHORD cc $*" "$CHORD c++ $*" "" -O2 "" >"$dir.log" 2>&1 || die "$name: build"
}

# measured PROGRAM DIR STEM: runs the workload.
measured()
{
	rm -f "$3".*
	each "$1" "$2" collect "$3"
}

printf '%-12s %14s %8s %10s %8s %8s %8s %8s\n' program plain more additions jumps bases flags runtime
for program in $programs; do
	"$real/recipe.sh" "$program" fetch >"$work/fetch.log" 2>&1 || die "$program: cannot be fetched"
	build_plain "$program" gcc-O2 "$work/$program.plain" >"$work/$program.log" 2>&1 || die "$program: build"
	measured "$program" "$work/$program.plain" "$work/$program.base"
	build "$program" "$work/$program.woven" "-fchord=$measure"
	measured "$program" "$work/$program.woven" "$work/$program.run"
	file=$work/here/$(program_of "$(sed -n 1p "$work/commands")")
	if [ -n "$weights" ]; then
		"$CHORD" weights -o "$work/$program.weights" "$file" "$work/$program.run".*.chord 2>"$work/weights.log" || die "$program: weights"
		build "$program" "$work/$program.woven" "-fchord=$measure" "-fchord-weights=$work/$program.weights"
		measured "$program" "$work/$program.woven" "$work/$program.run"
	fi
	row "$program" "$file" "$(all "$work/$program.base".*.callgrind)" "$work/$program.run".*.callgrind
done
