# SPDX-License-Identifier: MIT
# Table II: how many edges get counters, and how many of these edges need no jump.
cat <<'END'
## Table II: edges

The paper: 39 to 46 % of the edges are profiled, and 51 to 58 % of these need no jump. An edge needs no jump if its
source has one way out, if its target has one way in, or if control falls through. *By the tree* are the edges that a
maximum spanning tree of the control-flow graph leaves, weighed as in section 5. *Woven* are the counters that
`-fchord=edges` puts in; they may stand in blocks, and they avoid jumps. All procedures are counted, run or not.

END
if is_measured static.tsv; then
	table '
	function prepare() {
		columns("program|procedures|edges|by the tree|% of edges|no jump|% of these|woven|% without a jump")
	}
	function put(procedures, edges, tree, nojump, woven, woven_nojump) {
		cell("%d", procedures)
		cell("%d", edges)
		cell("%d", tree)
		cell("%.1f", ratio(100 * tree, edges))
		cell("%d", nojump)
		cell("%.1f", ratio(100 * nojump, tree))
		cell("%d", woven)
		cell("%.1f", ratio(100 * woven_nojump, woven))
	}
	function row(p,   c, k, m) {
		m = split("procedures edges profiled no-jump woven woven-no-jump", c, " ")
		for (k = 1; k <= m; k++) all[k] += v[p, "", c[k]]
		line(p)
		put(v[p, "", c[1]], v[p, "", c[2]], v[p, "", c[3]], v[p, "", c[4]], v[p, "", c[5]], v[p, "", c[6]])
		if (p != names[n]) return
		line("all")
		put(all[1], all[2], all[3], all[4], all[5], all[6])
	}' "$data/static.tsv"
	page
else
	echo "Not measured."
fi
