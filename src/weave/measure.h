/* SPDX-License-Identifier: MIT */
/* What a measure is to the weaver: a struct of functions, in a file measure_NAME.c. The registry (format/measures.h) lists
 * them all, so that one which is missing does not link. Of a set of measures each function is called in the registry's order. */
#ifndef CHORD_WEAVE_MEASURE_H
#define CHORD_WEAVE_MEASURE_H

#include "weave/emit.h"

/* What planning knows of the whole text. */
struct plan {
	const struct weave_options *o;
	const struct unit *u;
	struct woven *woven;    /* by procedure */
	uint32_t way;           /* of the next place that adds to counters of events */
	bool wrong;             /* what was asked for does not fit the text, as has been said */
};

/* Any of them may be NULL: there is nothing to do. */
struct weave_measure {
	/* What a procedure's sites have to do; they have been found and priced. It may refuse the procedure (proc->reason). */
	void (*plan)(struct plan *l, struct woven *w);
	/* When all procedures have been planned: what takes more than one at a time. */
	void (*plan_text)(struct plan *l);
	/* Code at a call of the procedure, by its number; stmt is the last statement that it is written in. */
	void (*at_call)(struct emitter *m, uint32_t number, uint32_t stmt);
	/* What follows the text, once. */
	void (*tail)(struct buf *b, const struct weave_options *o);
};

#define WEAVE_MEASURE(id, lower, ...) extern const struct weave_measure weave_##lower;
CHORD_MEASURE_LIST(WEAVE_MEASURE)

/* All that were asked for. */
void measures_plan(struct plan *l, struct woven *w);
void measures_plan_text(struct plan *l);
void measures_at_call(struct emitter *m, uint32_t number, uint32_t stmt);
void measures_tail(struct buf *b, const struct weave_options *o);

/* measure_edges.c: chords of a maximum spanning tree get counters, and with every_edge the other edges that can have them. False:
 * refused, with proc->reason set. */
bool count_chords(const struct unit *u, struct woven *w, bool every_edge);

#endif
