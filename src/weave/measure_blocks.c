/* SPDX-License-Identifier: MIT */
/* Measure blocks: Vprof(Ecnt) of Ball & Larus 1994. It has the counters of the measure edges without those that no block needs
 * (Fig. 11). The number of times that the procedure began is wanted, too: its root is a vertex. */
#include "weave/measure.h"

static void
plan(struct plan *l, struct woven *w)
{
	struct split s = split_proc(l->u, w);
	bool *tree = split_tree(l->u, w, &s);

	if (!tree)
		return;
	for (uint32_t e = 0; e < w->proc->arcs.n; e++)
		s.wanted[e] = w->proc->arcs.at[e].kind == CHORD_EDGE_ENTRY;
	wanted_thin(s.graph, tree, s.wanted, s.counted);
	split_count(w, &s, false, CHORD_BLOCKS);
}

const struct weave_measure weave_blocks = {.plan = plan, .probe = count_probe};
