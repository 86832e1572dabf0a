# SPDX-License-Identifier: MIT
# Fig. 19: what profiling costs with Chord and with others, as a ratio to the plain program.
cat <<'END'
## Fig. 19: the cost of profiling

The paper: redundant profiling takes 10 to 225 % more time, optimal 5 to 91 %. The first table has instructions
executed, relative to the plain program of the same compiler. An addition to memory is one instruction on x86-64
(*qpt* took 5 to 11). An atomic addition is one instruction, too. It takes many times as long, which only the table
of times shows.

END
series="every-block every-edge edges weighted gcov gcov-atomic llvm-instr llvm-gen"
if is_measured counted.tsv; then
	table '
	function prepare(   k, all) {
		m = split(series, s, " ")
		for (k = 1; k <= m; k++) all = all "|" s[k]
		columns("run|plain, millions" all)
	}
	function row(p,   k, base) {
		line(p)
		cell("%.1f", v[p, "gcc", "instructions"] / 1e6)
		for (k = 1; k <= m; k++) {
			base = s[k] ~ /^llvm/ ? "clang" : "gcc"
			averaged("%.3f", ratio(v[p, s[k], "instructions"], v[p, base, "instructions"]))
		}
	}' series="$series" "$data/counted.tsv"
	page
	plot fig19-instructions "instructions / plain" 3,5,7-
else
	echo "Not measured."
fi
echo
timed_builds()
{
	cut -f 2 "$data/time.tsv" | awk 'NR > 1 && !seen[$0]++'
}

if is_measured time.tsv; then
	echo "User time, median of alternating runs (least to most):"
	echo
	table '
	function prepare(   k, all) {
		m = split(series, s, " ")
		for (k = 1; k <= m; k++) all = all "|" s[k]
		columns("run" all)
	}
	function row(p,   k) {
		line(p)
		for (k = 1; k <= m; k++) {
			averaged("%.3f", v[p, s[k], "ratio"])
			if (v[p, s[k], "ratio"] != "")
				out = out sprintf(" (%.2f-%.2f)", v[p, s[k], "least"], v[p, s[k], "most"])
		}
	}' series="$(timed_builds | tr '\n' ' ')" "$data/time.tsv"
	page
	# Valgrind's bars would leave no room for the others.
	plot fig19-time "user time / plain" "$(timed_builds | awk '!/grind$/ { printf "%s%d", n++ ? "," : "", NR + 1 }')"
else
	echo "User time, with callgrind and cachegrind beside the others: not measured (\`bench/paper.sh --only \"time write\"\`)."
fi
