# SPDX-License-Identifier: MIT
# Table I: what it takes to put counters in.
cat <<'END'
## Table I: putting counters in

The paper: optimal takes 1.22 to 1.38 times the seconds of redundant, because loops have to be found and edges have to
be weighed. Here the assembler's stand-in reads the compiler's text, weaves it and has it assembled. The table has
millions of instructions, with those of the assembler that the stand-in runs.

END
if is_measured instrumented.tsv; then
	table '
	function prepare() { columns("program|texts|lines|as alone|redundant|optimal|optimal / redundant|every edge") }
	function row(p) {
		line(p)
		cell("%d", v[p, "", "files"])
		cell("%d", v[p, "", "lines"])
		cell("%.1f", v[p, "", "as"] / 1e6)
		cell("%.1f", v[p, "", "every-block"] / 1e6)
		cell("%.1f", v[p, "", "edges"] / 1e6)
		averaged("%.2f", ratio(v[p, "", "edges"], v[p, "", "every-block"]))
		cell("%.1f", v[p, "", "every-edge"] / 1e6)
	}' "$data/instrumented.tsv"
	page
else
	echo "Not measured."
fi
echo
if is_measured instrument-time.tsv; then
	echo "Seconds, all texts of a program one after another (median):"
	echo
	table '
	function prepare() { columns("program|as alone|redundant|optimal|optimal / redundant|every edge") }
	function row(p) {
		line(p)
		cell("%.2f", v[p, "", "as"])
		cell("%.2f", v[p, "", "every-block"])
		cell("%.2f", v[p, "", "edges"])
		averaged("%.2f", ratio(v[p, "", "edges"], v[p, "", "every-block"]))
		cell("%.2f", v[p, "", "every-edge"])
	}' "$data/instrument-time.tsv"
	page
else
	echo "Seconds: not measured."
fi
