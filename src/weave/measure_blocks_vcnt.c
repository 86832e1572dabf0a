/* SPDX-License-Identifier: MIT */
/* Measure blocks-vcnt: Vprof(Vcnt) of Knuth and Stevenson 1973, counters in blocks only. */
#include "weave/measure.h"

/* A block may have no place for a counter, and its count may not follow from the others. Then counters stand where the measure
 * edges has them. */
static void
plan(struct plan *l, struct woven *w)
{
	struct split s = split_proc(l->u, w);
	uint32_t bad;

	if (wanted_place(s.graph, s.weight, s.wanted, s.counted, &bad))
		split_count(w, &s, false, CHORD_BLOCKS_VCNT);
	else
		count_chords(l->u, w, CHORD_BLOCKS_VCNT);
}

/* Says whether counters are in blocks, or where the measure edges has them. */
static void
map(struct buf *blob, const struct unit *u, const struct woven *w, const struct weave_options *o)
{
	bool edges = false;

	(void)u;
	(void)o;
	for (uint32_t e = 0; e < w->proc->arcs.n; e++)
		edges |= w->proc->arcs.at[e].counter;
	buf_uleb(blob, edges ? CHORD_VCNT_EDGES : CHORD_VCNT_BLOCKS);
}

const struct weave_measure weave_blocks_vcnt = {.plan = plan, .probe = count_probe, .map = map};
