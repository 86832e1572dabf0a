/* SPDX-License-Identifier: MIT */
/* Measure every-block: a counter in every block. */
#include "weave/measure.h"

static void
plan(struct plan *l, struct woven *w)
{
	(void)l;
	for (uint32_t b = 0; b < w->proc->blocks.n; b++) {
		uint32_t behind = w->block[b].where == SITE_NONE ? place_behind_landing(w, b) : GRAPH_NONE;

		if (behind != GRAPH_NONE) {
			count_edge(w, behind, CHORD_EVERY_BLOCK);
			continue;
		}
		if (w->block[b].where == SITE_NONE) {
			w->proc->reason = "a block without a place for its counter";
			return;
		}
		count_block(w, b, CHORD_EVERY_BLOCK);
	}
}

const struct weave_measure weave_every_block = {.plan = plan, .probe = count_probe};
