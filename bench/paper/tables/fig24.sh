# SPDX-License-Identifier: MIT
# Fig. 24: heuristic and exact weights, maximum and minimum trees.
cat <<'END'
## Fig. 24: how good the weights are

The table has the reduction of increments (blocks executed / increments) for the edges that maximum and minimum
spanning trees leave. Their weights are the heuristic of section 5, or the counts of the same run. The paper: Exact-Max
is 1 to 34 % better than Heuristic-Max.

- *woven*: the reduction that `edges` really has, with its own guess
- *with weights*: the same with `-fchord-weights=` of the same run
- *more than the best*: how many more increments *with weights* executed than the best tree, Exact-Max, would execute
- *and jumps*: the same if the jumps that counters need are added on both sides. Chord takes a jump to cost 1.3
  additions, the tree takes it to cost none.

END
if is_measured placed.tsv; then
	table '
	function prepare() {
		columns("run|Exact-Max|Heuristic-Max|Heuristic-Min|Exact-Min|woven|with weights|more than the best|and jumps")
	}
	function reduction(p, what) { return ratio(v[p, "executed/blocks", "increments"], v[p, what, "increments"]) }
	function cost(p, what, jumps) {
		return v[p, what, "increments"] == "" ? "" : v[p, what, "increments"] + jumps * v[p, what, "ran-jumps"]
	}
	function above(p, jumps,   x) {
		x = ratio(cost(p, "woven-weighted/-", jumps), cost(p, "edges-max/exact", jumps))
		return x == "" ? "" : 100 * (x - 1)
	}
	function row(p) {
		line(p)
		averaged("%.2f", reduction(p, "edges-max/exact"))
		averaged("%.2f", reduction(p, "edges-max/heuristic"))
		averaged("%.2f", reduction(p, "edges-min/heuristic"))
		averaged("%.2f", reduction(p, "edges-min/exact"))
		averaged("%.2f", reduction(p, "woven/-"))
		averaged("%.2f", reduction(p, "woven-weighted/-"))
		cell("%+.1f %%", above(p, 0))
		cell("%+.1f %%", above(p, 1))
	}' "$data/placed.tsv"
	page
	echo
	awk -F '\t' 'NR > 1 && $1 !~ /^geometric/ && $8 != "-" {
			all++
			if ($8 + 0 <= 5) near++
			else far = far (far ? ", " : "") $1
			if ($9 + 0 <= 5) whole++
		}
		END {
			printf "With weights %d of %d runs are within 5 %% of the best tree\n(not: %s).\nIf jumps are added, %d of %d are.\n",
				near, all, far ? far : "none", whole, all
		}' "$rows"
	plot fig24 "reduction of increments" 2-5
else
	echo "Not measured."
fi
