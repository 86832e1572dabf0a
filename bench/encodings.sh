#!/bin/sh
# SPDX-License-Identifier: MIT
# What other encodings of traces would write (Ball & Larus 1994, Table III), for each command that run.sh times. The figures come
# from `chord trace --encodings` of one run.
#
#	encodings.sh [--programs "A B"] [--work DIR]
#
# A table has bits per executed conditional branch, before and after zstd. Another one has, for each command, the encoding with the
# fewest bits by function. DIR/ROW.json has all figures.
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
real=$bench/../tests/real
real=$(cd "$real" && pwd)
: "${CHORD:=$bench/../build/chord}"
CHORD=$(realpath "$CHORD")
. "$real/lib.sh"
export CHORD_SMALL=1

programs="bzip2 zlib ncompress sqlite3 grep lua5.4"
work=$CHORD_CACHE/work/encodings
while [ $# -gt 0 ]; do
	case $1 in
	--programs) programs=$2 ;;
	--work) work=$2 ;;
	*) die "$1: no such option" ;;
	esac
	shift 2
done
mkdir -p "$work"
encodings="branches branch_bytes branch_bits witness_bytes witness_bits marks tokens tokens_packed"

# line ROW WHAT EXPRESSION: a line of the table, from an expression for each encoding ($e).
line()
{
	printf '%-14s %-8s' "$1" "$2"
	for e in $encodings; do
		printf ' %13s' "$(jq -r ".branches as \$b | .encodings.$e | $3" "$work/$1.json")"
	done
	echo
}

# winners ROW KEY: how many functions, and which share of the branches, each has the least of.
winners()
{
	jq -r --arg row "$1" --arg key "$2" '
		def least: [.branch_bits[$key], .witness_bits[$key], .tokens[$key]] | index(min);
		.branches as $all | [.functions[] | select(.branches > 0) | {best: least, branches}] as $f |
		[range(3) as $i | [$f[] | select(.best == $i)] | "\(length) (\([.[].branches] | add // 0 | . * 1000 / $all | round / 10) %)"] |
		"\($row): fewest \($key): bit tracing \(.[0]), witnesses \(.[1]), path tokens \(.[2])"' "$work/$1.json"
}

# one PROGRAM: builds it and traces each of its commands.
one()
{
	"$real/recipe.sh" "$1" fetch >"$work/fetch.log" 2>&1 || die "$1: cannot be fetched"
	"$real/recipe.sh" "$1" build "$work/$1.build" "$CHORD cc -fchord=trace" "$CHORD c++ -fchord=trace" "" -O2 "" \
		>"$work/$1.log" 2>&1 || die "$1: cannot be built (see $work/$1.log)"
	rm -rf "$work/$1.run"
	mkdir "$work/$1.run"
	(cd "$work/$1.run" && "$real/recipe.sh" "$1" bench "$work/$1.build") >"$work/$1.commands"
	while read -r row command <&4; do
		(
			cd "$work/$1.run"
			export CHORD_FILE="$work/$row.chord"
			rm -f "$CHORD_FILE" "$CHORD_FILE.trace"
			eval "$command" >"$work/output"
			"$CHORD" trace --encodings --json -o "$work/$row.json" "$(echo "$command" | sed 's|[^.]*\./\([^ ]*\).*|./\1|')" \
				"$CHORD_FILE" || die "$row: no encodings"
			rm -f "$CHORD_FILE" "$CHORD_FILE.trace"
		)
		printf '%-14s %s conditional branches\n' "$row" "$(jq .branches "$work/$row.json")"
		line "$row" writes .writes
		line "$row" bytes .bytes
		line "$row" zstd .compressed
		line "$row" bits "(.bytes * 8000 / \$b | round / 1000)"
		line "$row" zstd "(.compressed * 8000 / \$b | round / 1000)"
		winners "$row" bits
		winners "$row" writes
	done 4<"$work/$1.commands"
}

printf '%-14s %-8s' command ''
printf ' %13s' $encodings
echo
for program in $programs; do
	one "$program"
done
