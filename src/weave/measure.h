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
	/* Code at a site that has the measure's bit in its `probes`. */
	void (*probe)(struct emitter *m, struct buf *b, const struct site *s);
	/* Code at a call of the procedure, by its number; stmt is the last statement that it is written in. */
	void (*at_call)(struct emitter *m, uint32_t number, uint32_t stmt);
	/* What its section of the map says of the procedure; format.h tells. */
	void (*map)(struct buf *blob, const struct unit *u, const struct woven *w, const struct weave_options *o);
	/* What stands beside a procedure's counters, in their group (NULL: they are in none). */
	void (*beside)(struct buf *out, const struct woven *w, const char *group);
	/* What follows the text, once. */
	void (*tail)(struct buf *b, const struct unit *u, const struct weave_options *o);
};

#define WEAVE_MEASURE(id, lower, ...) extern const struct weave_measure weave_##lower;
CHORD_MEASURE_LIST(WEAVE_MEASURE)

/* All that were asked for. */
void measures_plan(struct plan *l, struct woven *w);
void measures_plan_text(struct plan *l);
void measures_probe(struct emitter *m, struct buf *b, const struct site *s);
void measures_at_call(struct emitter *m, uint32_t number, uint32_t stmt);
/* Their sections, one for each that was asked for. */
void measures_map(struct buf *blob, const struct unit *u, const struct woven *w, const struct weave_options *o);
void measures_beside(struct buf *out, const struct woven *w, const struct weave_options *o, const char *group);
void measures_tail(struct buf *b, const struct unit *u, const struct weave_options *o);

/* measure_edges.c, for measures of the flow, of which there is one at most: gives an edge or a block its counter, in the graph and
 * at its site; the code of one. */
void count_edge(struct woven *w, uint32_t e, uint32_t measure);
void count_block(struct woven *w, uint32_t b, uint32_t measure);
void count_probe(struct emitter *m, struct buf *b, const struct site *s);
/* A procedure's graph in which each block is two vertices with an edge between them: what is counted there and what is wanted. */
struct split {
	struct graph *graph;     /* edges of the graph, and behind them, by block, those inside */
	double *weight;          /* by edge */
	bool *counted, *wanted;  /* by edge: nothing, and the blocks */
};
struct split split_proc(const struct unit *u, struct woven *w);
/* Counts the chords of a maximum spanning tree, which it returns. NULL: refused, with proc->reason set. */
bool *split_tree(const struct unit *u, struct woven *w, struct split *s);
/* Gives counters to what is counted, which has to determine what is wanted, or all. */
void split_count(struct woven *w, const struct split *s, bool all, uint32_t measure);
/* Chords of a maximum spanning tree get counters, and in every-edge the other edges that can have them. False: refused, with
 * proc->reason set. */
bool count_chords(const struct unit *u, struct woven *w, uint32_t measure);

/* measure_paths.c, for measures of paths: the code of a site, and what the map says. */
void path_probe(struct emitter *m, struct buf *b, const struct site *s);
void path_map(struct buf *blob, const struct unit *u, const struct woven *w, const struct weave_options *o);

#endif
