#!/bin/sh
# SPDX-License-Identifier: MIT
# What weaving costs at compile time: for sqlite3.c, which is 250,000 lines in one file, and for the same text with 2, 4 and 8
# copies of every function. Status 1 if weaving adds more than 10 % to the compilation, or if its time does not grow in proportion
# to the text.
#
#	weave.sh [--quick] [--runs N] [--work DIR]
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
real=$bench/../tests/real
real=$(cd "$real" && pwd)
. "$real/lib.sh"
. "$real/configs.sh"
. "$bench/processor.sh"

work=$CHORD_CACHE/work/weave
runs=3
sizes="1 2 4 8"

# copies N: sqlite3.s N times; every symbol that it defines gets a name of its own, every
# copy a section of its own. (In one section the assembler itself is quadratic: as alone
# takes 0.25, 1.1, 5.0 and 19.6 s for 1, 2, 4 and 8 copies, looking for the lengths of
# jumps between alignments.)
copies()
{
	awk -v n="$1" '
		function renamed(line, k,   out, word, at) {
			if (line == "\t.text") return "\t.section\t.text.copy" k ",\"ax\",@progbits"
			if (line ~ /^\t\.(string|ascii|ident|file|section)/) return line
			out = ""
			while (match(line, /[A-Za-z_.$][A-Za-z0-9_.$]*/)) {
				word = substr(line, RSTART, RLENGTH)
				out = out substr(line, 1, RSTART - 1) word (word in defined ? "_copy" k : "")
				line = substr(line, RSTART + RLENGTH)
			}
			return out line
		}
		{ text[NR] = $0 }
		/^[A-Za-z_.$][A-Za-z0-9_.$]*:/ { name = $1; sub(/:.*/, "", name); defined[name] = 1 }
		/^\t\.(comm|lcomm|local|set)\t/ { name = $2; sub(/,.*/, "", name); defined[name] = 1 }
		END {
			for (k = 1; k <= n; k++)
				for (i = 1; i <= NR; i++)
					print k == 1 ? text[i] : renamed(text[i], k)
		}' "$work/sqlite3.s"
}

# cpu COMMAND: median CPU seconds.
cpu()
{
	measured=$("$work/pair" "$runs" "$1" 2>"$work/errors") || die "$(head -n 3 "$work/errors")"
	echo "${measured%% *}"
}

prepare()
{
	"$real/recipe.sh" sqlite3 fetch >"$work/fetch.log" 2>&1 || die "sqlite3: cannot be fetched"
	gcc -O2 -D_GNU_SOURCE -o "$work/pair" "$bench/pair.c"
	source=$CHORD_CACHE/src/sqlite3/sqlite3.c
	gcc -O2 -S -o "$work/sqlite3.s" "$source"
	as=$("$CHORD" hook)/as
}

# The assembler stand-in against the compilation that it is a part of.
beside_compiler()
{
	compile=$(cpu "gcc -O2 -c -o $work/sqlite3.o $source")
	plain=$(cpu "as --64 -o $work/sqlite3.o $work/sqlite3.s")
	woven=$(cpu "$as --64 -o $work/sqlite3.o $work/sqlite3.s")
	awk -v c="$compile" -v p="$plain" -v w="$woven" 'BEGIN {
		printf "gcc -O2 -c sqlite3.c %.2f s, of which the assembler %.2f s; the assembler stand-in %.2f s: adds %.1f %%\n",
			c, p, w, (w - p) / c * 100
		exit (w - p) / c > 0.10
	}'
}

# sizes_of: a line for each size of the text: copies, lines, woven, assembled.
sizes_of()
{
	for n in $sizes; do
		copies "$n" >"$work/copies.s"
		woven=$(cpu "$as --64 -o $work/copies.o $work/copies.s")
		plain=$(cpu "as --64 -o $work/copies.o $work/copies.s")
		echo "$n $(wc -l <"$work/copies.s") $woven $plain"
	done
}

# The last column is 1.00 where the cost is linear.
growth()
{
	sizes_of >"$work/sizes" || return 1
	awk '
		NR == 1 { first = $3; size = $1; print "  text     lines   woven      as    added  per text" }
		{ share = $3 / first / ($1 / size); printf "%5dx %9d %6.2fs %6.2fs %7.2fs %9.2f\n", $1, $2, $3, $4, $3 - $4, share }
		END { exit share > 1.25 || NR == 0 }' "$work/sizes"
}

while [ $# -gt 0 ]; do
	case $1 in
	--quick) runs=1 sizes="1 2" ;;
	--runs) runs=$2; shift ;;
	--work) work=$2; shift ;;
	*) die "weave.sh: what is $1?" ;;
	esac
	shift
done
mkdir -p "$work"
prepare
processor
status=0
beside_compiler || status=1
growth || status=1
exit $status
