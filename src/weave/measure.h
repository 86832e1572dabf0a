/* SPDX-License-Identifier: MIT */
/* A measure, as the weaver sees it: a struct of functions, in a file measure_NAME.c. The registry (format/measures.h) lists all of
 * them, so a missing one is found when Chord is linked. For a set of measures each function is called in the registry's order. */
#ifndef CHORD_WEAVE_MEASURE_H
#define CHORD_WEAVE_MEASURE_H

#include "weave/emit.h"

/* What planning knows of the whole text. */
struct plan {
	const struct weave_options *o;
	const struct unit *u;
	struct woven *woven;    /* by procedure */
	uint32_t way;           /* for the next place that adds to counters of events: which of the equal numbers it adds to */
	const char *no_paths;   /* why the text can have no measure of paths; "": it can; NULL: not looked at yet */
	bool wrong;             /* what was asked for does not fit the text: reported */
};

/* Any function may be NULL: then nothing is done. */
struct weave_measure {
	/* Decides what a procedure's sites have to do; sites have been found and priced. May refuse the procedure
	 * (proc->reason). */
	void (*plan)(struct plan *l, struct woven *w);
	/* Called when all procedures have been planned, for decisions that concern more than one. */
	void (*plan_text)(struct plan *l);
	/* Appends code for a site that has the measure's bit in its `probes`. */
	void (*probe)(struct emitter *m, struct buf *b, const struct site *s);
	/* Emits code at call number `number` of the procedure. stmt: the last statement of the call. */
	void (*at_call)(struct emitter *m, uint32_t number, uint32_t stmt);
	/* Appends its section of the procedure's map; see format.h. */
	void (*map)(struct buf *blob, const struct unit *u, const struct woven *w, const struct weave_options *o);
	/* Appends what stands beside a procedure's counters, in their section group (NULL: no group). */
	void (*beside)(struct buf *out, const struct woven *w, const char *group);
	/* Appends what follows the text, once. */
	void (*tail)(struct buf *b, const struct unit *u, const struct weave_options *o);
};

#define WEAVE_MEASURE(id, lower, ...) extern const struct weave_measure weave_##lower;
CHORD_MEASURE_LIST(WEAVE_MEASURE)

/* These call the functions above for all measures that were asked for. */
void measures_plan(struct plan *l, struct woven *w);
void measures_plan_text(struct plan *l);
void measures_probe(struct emitter *m, struct buf *b, const struct site *s);
void measures_at_call(struct emitter *m, uint32_t number, uint32_t stmt);
/* Appends one section for each. */
void measures_map(struct buf *blob, const struct unit *u, const struct woven *w, const struct weave_options *o);
void measures_beside(struct buf *out, const struct woven *w, const struct weave_options *o, const char *group);
void measures_tail(struct buf *b, const struct unit *u, const struct weave_options *o);

/* measure_edges.c, for measures of the flow, of which an object has at most one: gives an edge or block its counter, in the graph
 * and at its site; and the code of a counter. */
void count_edge(struct woven *w, uint32_t e, uint32_t measure);
void count_block(struct woven *w, uint32_t b, uint32_t measure);
void count_probe(struct emitter *m, struct buf *b, const struct site *s);
/* The code of a site for which a register counts: nothing if that is one of the program's. */
void count_promoted(struct emitter *m, struct buf *b, const struct site *s);
/* A procedure's graph in which each block is two vertices with an edge between them. */
struct split {
	struct graph *graph;     /* edges of the procedure's graph, then by block the edges inside blocks */
	double *weight;          /* by edge */
	bool *counted, *wanted;  /* by edge: has a counter; its count is wanted. At first: none; those of blocks */
};
/* The split graph of a procedure; memory is the unit's pool's. */
struct split split_proc(const struct unit *u, struct woven *w);
/* Counts the chords of a maximum spanning tree, and returns the tree. NULL: refused, proc->reason is set. */
bool *split_tree(const struct unit *u, struct woven *w, struct split *s);
/* Gives counters to the counted edges, which have to determine the wanted ones (`all`: all edges). */
void split_count(struct woven *w, const struct split *s, bool all, uint32_t measure);
/* Gives counters to the chords of a maximum spanning tree, and in every-edge to all other edges that can have one. False: refused,
 * proc->reason is set. */
bool count_chords(const struct unit *u, struct woven *w, uint32_t measure);

/* measure_paths.c, for measures of paths. False: the text can have none, and the procedure is refused. */
bool may_have_paths(struct plan *l, struct woven *w);
/* The code of a site, and the section of the map. */
void path_probe(struct emitter *m, struct buf *b, const struct site *s);
void path_map(struct buf *blob, const struct unit *u, const struct woven *w, const struct weave_options *o);

#endif
