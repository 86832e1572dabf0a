# SPDX-License-Identifier: MIT
# Fig. 25: what exact weights save at run time, and how well the heuristic predicts branches.
cat <<'END'
## Fig. 25: the cost with heuristic and with exact weights

The first four columns have the cost relative to the plain program, in instructions and in time. The last two say how
well branches are predicted. The heuristic is not made for that: it takes each arm to be as likely as the other.

- *foreseen*: the part of the executed predicates (blocks with several ways out) that took the edge of the larger
  weight. Edges of the same weight count in equal parts.
- *at best*: the same if each predicate is predicted to go the way that it took most often

END
if is_measured counted.tsv; then
	table '
	function prepare() { columns("run|heuristic|exact|heuristic, time|exact, time|foreseen, %|at best, %") }
	function timed(x) {
		if (x == "") out = out "\tnot measured"
		else out = out "\t" sprintf("%.3f", x)
		column++
	}
	function row(p,   all) {
		line(p)
		averaged("%.3f", ratio(v[p, "edges", "instructions"], v[p, "gcc", "instructions"]))
		averaged("%.3f", ratio(v[p, "weighted", "instructions"], v[p, "gcc", "instructions"]))
		timed(v[p, "edges", "ratio"])
		timed(v[p, "weighted:edges", "ratio"])
		all = v[p, "branches/all", "increments"] / 100
		cell("%.1f", ratio(v[p, "branches/heuristic", "increments"], all))
		cell("%.1f", ratio(v[p, "branches/best", "increments"], all))
	}' "$data/counted.tsv" "$data/placed.tsv" $(ls "$data/time.tsv" 2>/dev/null)
	page
	plot fig25 "instructions / plain" 2-3
else
	echo "Not measured."
fi
