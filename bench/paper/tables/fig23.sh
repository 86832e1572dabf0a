# SPDX-License-Identifier: MIT
# Fig. 23: where the counters of edges stand.
cat <<'END'
## Fig. 23: jumps that are not needed

If an edge is the only way out of a block, the paper moves the edge's counter into the block. The table says where the
counters of the heuristic's tree stand, in per cent of the increments executed:

- *in the source*: the edge is the only way out of its source
- *in the target*: the edge is the only way into its target
- *falls through*: control falls through on the edge
- *jumps*: the edge is a jump, and its counter needs another jump
- *jumps, woven*: the part of the increments of `-fchord=edges` that needs a jump. For example, a loop of one block is
  counted in the block.

END
if is_measured placed.tsv; then
	table '
	function prepare() { columns("run|in the source|in the target|falls through|jumps|jumps, woven") }
	function share(p, row, where) { return ratio(100 * v[p, row, where], v[p, row, "increments"]) }
	function row(p,   tree) {
		tree = "edges-max/heuristic"
		line(p)
		cell("%.1f", share(p, tree, "ran-source"))
		cell("%.1f", share(p, tree, "ran-target"))
		cell("%.1f", share(p, tree, "ran-falls"))
		cell("%.1f", share(p, tree, "ran-jumps"))
		cell("%.1f", share(p, "woven/-", "ran-jumps"))
	}' "$data/placed.tsv"
	page
else
	echo "Not measured."
fi
