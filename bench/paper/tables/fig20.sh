# SPDX-License-Identifier: MIT
# Fig. 20: how many increments and instructions optimal placement saves.
cat <<'END'
## Fig. 20: fewer increments

The paper: for its C programs redundant profiling executes 3 to 4 times the increments of optimal, and 2 to 3 times
the instructions, if an increment takes five instructions and a jump one.

- *block size*: instructions of measured code per block executed
- *increments*: redundant / optimal
- *as the paper*: 5 x blocks / (5 x increments + jumps)
- *executed*: the instructions that `every-block` adds to the plain program / those that `edges` adds
- *the tree*: as *increments*, for the edges that the heuristic's maximum spanning tree leaves. All counters are on
  edges, as the paper has them.
- *best tree*: as *the tree*, with the exact counts as weights. No placement of that kind saves more.

END
if is_measured placed.tsv; then
	table '
	function prepare() {
		columns("run|blocks executed|block size|redundant|optimal|increments|as the paper|executed|the tree|best tree")
	}
	function more(p, build) { return v[p, build, "instructions"] - v[p, "gcc", "instructions"] }
	function row(p,   blocks, optimal) {
		blocks = v[p, "executed/blocks", "increments"]
		optimal = v[p, "edges", "additions"]
		if (!blocks || !optimal) return
		line(p)
		cell("%d", blocks)
		cell("%.1f", v[p, "executed/instructions", "increments"] / blocks)
		cell("%d", v[p, "every-block", "additions"])
		cell("%d", optimal)
		averaged("%.2f", ratio(v[p, "every-block", "additions"], optimal))
		averaged("%.2f", 5 * blocks / (5 * optimal + v[p, "woven/-", "ran-jumps"]))
		averaged("%.2f", ratio(more(p, "every-block"), more(p, "edges")))
		averaged("%.2f", ratio(blocks, v[p, "edges-max/heuristic", "increments"]))
		averaged("%.2f", ratio(blocks, v[p, "edges-max/exact", "increments"]))
	}' "$data/counted.tsv" "$data/placed.tsv"
	page
	echo
	awk -F '\t' 'NR > 1 && $1 !~ /^geometric|leveldb|dgemm|arpack/ {
			all++
			if ($6 >= 3) most++
			else less = less (less ? ", " : "") $1
			if ($10 < 3) never = never (never ? ", " : "") $1
		}
		END {
			printf "The column *increments* has 3 or more in %d of %d runs of C programs (less in %s).\n", most, all, less ? less : "none"
			printf "The best tree has less than 3 in %s.\n", never ? never : "none"
		}' "$rows"
	plot fig20 "redundant / optimal" 6-8
else
	echo "Not measured."
fi
