#!/bin/bash
# SPDX-License-Identifier: MIT
# The short form of bench/paper.sh: one program, from a build to the page, and then once more, where nothing is measured again.
# Prints ok, FAIL or skip for each test; status 1 if one failed.
# run.sh [NAME...]
set -u
. "$(dirname "$0")/../cases.sh"
export CHORD

short() { want "$here/../../bench/paper.sh" --quick --out "$w/results" --work "$w/work" "$@"; }

# value FILE COLUMN WORD...: of the row that begins with these
value() {
	local file=$1 column=$2
	shift 2
	awk -F '\t' -v c="$column" -v words="$*" '
		BEGIN { n = split(words, word, " ") }
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) at = i; next }
		{ for (i = 1; i <= n && $i == word[i]; i++) ; if (i > n && at) print $at }' "$w/results/$file.tsv"
}

# same WHAT A B: two numbers that have to be there, and equal
same() { [[ $2 =~ ^[0-9]+$ ]] && [ "$2" = "$3" ] || no "$1: '$2' and '$3'"; }

# What counters say, what follows from the counts of other counters, and what fib.c does: an activation for each of 2 F(28) - 1
# calls, which decides once, as main() does.
t_count() {
	short --only count --no-plots
	same "blocks executed" "$(value counted additions fib every-block)" "$(value placed increments fib executed blocks)"
	same "increments of edges" "$(value counted additions fib edges)" "$(value placed increments fib woven)"
	same "increments with weights" "$(value counted additions fib weighted)" "$(value placed increments fib woven-weighted)"
	same "predicates executed" "$(value placed increments fib branches all)" $((2 * 317811 - 1 + 1))
	# One instruction for an addition and one for a jump: what is left is what Chord does once, whatever is counted.
	local plain edges weighted
	plain=$(value counted instructions fib gcc)
	edges=$(($(value counted instructions fib edges) - plain - $(value counted additions fib edges) - $(value placed ran-jumps fib woven)))
	weighted=$(($(value counted instructions fib weighted) - plain - $(value counted additions fib weighted) -
		$(value placed ran-jumps fib woven-weighted)))
	[ $edges -gt 0 ] && [ $((edges - weighted)) -lt 2000 ] && [ $((weighted - edges)) -lt 2000 ] ||
		no "beside additions and jumps $edges instructions, with weights $weighted"
	# No tree executes fewer increments than the best, none more than the worst.
	local best worst some
	best=$(value placed increments fib edges-max exact) worst=$(value placed increments fib edges-min exact)
	for some in "edges-max heuristic" "edges-min heuristic"; do
		[ "$(value placed increments fib $some)" -ge "$best" ] && [ "$(value placed increments fib $some)" -le "$worst" ] ||
			no "$some is not between $best and $worst"
	done
}

# It takes up what is there: no row is added, none changes.
t_again() {
	short --only "count instrument" --no-plots
	cp "$w"/results/*.tsv .
	short --only "count instrument" --no-plots
	for file in *.tsv; do
		cmp -s "$file" "$w/results/$file" || no "$file is another one: $(diff "$file" "$w/results/$file" | head -n 3)"
	done
	[ "$(ls ./*.tsv | wc -l)" = 5 ] || no "not these files: $(echo ./*.tsv)"
	printf 'count\tprocessor\tanother\n' >"$w/results/machine.tsv"
	refused 1 "another processor.*--anew" "$here/../../bench/paper.sh" --quick --out "$w/results" --work "$w/work" --only count --no-plots
	cp machine.tsv "$w/results"
}

# The page has every part, numbers where there are some, and says of the others that they are not measured.
t_page() {
	short --no-plots
	local page=$w/results/results.md part
	for part in "Table I" "Table II" "Fig. 18" "Fig. 19" "Fig. 20" "Fig. 21" "Fig. 23" "Fig. 24" "Fig. 25"; do
		grep -q "^## $part:" "$page" || no "no $part"
	done
	grep -Eq '^\| fib \| 1 \| [0-9]+ \| ' "$page" || no "no row in Table I"
	grep -q "(b) postorder numbers | 3 | 1.75" "$page" || no "no Fig. 18"
	grep -q "User time, .*not measured" "$page" || no "times that nobody measured: $(grep "User time" "$page")"
	printf 'run\tbuild\tratio\tleast\tmost\tplain\nfib\tedges\t1.0625\t1.0100\t1.1100\t2.5\n' >"$w/results/time.tsv"
	short --only write --no-plots
	grep -q '^| fib | 1.062 (1.01-1.11) |' "$page" || no "no time: $(grep -A 6 "User time" "$page")"
	rm "$w/results/time.tsv"
}

t_plots() {
	command -v gnuplot >/dev/null || skip "there is no gnuplot (tools/setup.sh bench)"
	short
	local name
	for name in fig19-instructions fig20 fig21 fig24 fig25; do
		grep -q "!\[.*\]($name.svg)" "$w/results/results.md" || no "$name is not on the page"
		xmllint --noout "$w/results/$name.svg" 2>err || no "$name: $(head -n 2 err)"
		grep -q '>fib' "$w/results/$name.svg" || no "$name has no bar for fib"
	done
	refused 2 "there is no step wirte" "$here/../../bench/paper.sh" --quick --out "$w/results" --work "$w/work" --only wirte
}

for name in count again page plots; do
	test_case $name
done
exit $failed
