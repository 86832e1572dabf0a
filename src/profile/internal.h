/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. */
#ifndef CHORD_PROFILE_INTERNAL_H
#define CHORD_PROFILE_INTERNAL_H

#include "graph/graph.h"
#include "profile/profile.h"

/* The equations of one procedure. Edges of the graph: first the arcs of the map with the same
 * numbers, then one for each block that has a counter, from the block's vertex to behind[]. */
struct system {
	struct pool *pool;
	const struct proc *proc;
	struct graph *graph;
	uint32_t *behind;        /* by vertex of the map: where its out-edges leave */
	bool *known;
	uint64_t *count;
	int64_t *source;
	uint32_t *inside;        /* by block with a counter: its edge */
};

/* deduce.c: finds what follows from the known edges where they do not determine all others, and marks it
 * known. NULL, or why there is a contradiction. */
const char *solve_deduce(struct system *s);
/* Sum of the in-edges of a vertex; false if one is not known or the sum does not fit. */
bool solve_vertex(const struct system *s, uint32_t v, uint64_t *count);

/* merge.c: sorts callees and joins equal ones. False: a sum does not fit 64 bits. */
bool join_callees(struct profile *p);

/* cuts.c: finds the place of a woven address between calls. False: it is on the way between two blocks, or in none. */
bool cut_place(const struct proc *p, uint64_t addr, const struct woven *woven, struct cut *cut);
/* Corrects what the counters say for the activations that were cut. False: they contradict it. */
bool cut_settle(struct system *s, const struct cut *cut, const struct woven *woven);
/* What to add to the counter of an event to have all events up to the cut. False: not known. */
bool cut_query(const struct proc *p, const struct cut *cut, uint32_t event, const struct woven *woven, int64_t *query);

/* exits.c: fills left[], back[] and cut of all procedures from the exit records of the module; where a record
 * fits neither a call nor, with woven, another place, sets why. Exits in code without a map are passed over. */
void exits_place(struct pool *pool, const struct map *map, const struct profile *p, const struct module *module,
	const struct woven *woven, struct counts *counts);

#endif
