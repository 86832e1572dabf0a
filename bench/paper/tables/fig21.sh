# SPDX-License-Identifier: MIT
# Fig. 21: the three profiling problems.
cat <<'END'
## Fig. 21: Eprof(Ecnt), Vprof(Ecnt) and Vprof(Vcnt)

The first three columns have the reduction of instrumentation, 5 x blocks / (5 x increments + jumps). Counters are
placed by the heuristic's weights, and the reduction is computed from the counts of one run, as in the paper. The
paper: Eprof(Ecnt) beats Vprof(Vcnt) in all programs, and Vprof(Ecnt) gains almost nothing. The other columns have the
increments per 100 blocks that programs really executed with each measure.

END
if is_measured placed.tsv; then
	table '
	function prepare() { columns("run|Eprof(Ecnt)|Vprof(Ecnt)|Vprof(Vcnt)|every-edge|edges|blocks|blocks-vcnt") }
	function reduction(p, what) {
		what = what "/heuristic"
		return ratio(5 * v[p, "executed/blocks", "increments"], 5 * v[p, what, "increments"] + v[p, what, "ran-jumps"])
	}
	function executed(p, build) { return ratio(v[p, build, "additions"], v[p, "executed/blocks", "increments"] / 100) }
	function row(p) {
		if (!v[p, "executed/blocks", "increments"]) return
		line(p)
		averaged("%.3f", reduction(p, "edges-max"))
		averaged("%.3f", reduction(p, "blocks"))
		averaged("%.3f", reduction(p, "blocks-vcnt"))
		averaged("%.1f", executed(p, "every-edge"))
		averaged("%.1f", executed(p, "edges"))
		averaged("%.1f", executed(p, "blocks"))
		averaged("%.1f", executed(p, "blocks-vcnt"))
	}' "$data/counted.tsv" "$data/placed.tsv"
	page
	plot fig21 "reduction of instrumentation" 2-4
else
	echo "Not measured."
fi
