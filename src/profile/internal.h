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
};

/* deduce.c: finds what follows from the known edges where they do not determine all others, and marks it
 * known. NULL, or why there is a contradiction. */
const char *solve_deduce(struct system *s);
/* Sum of the in-edges of a vertex; false if one is not known or the sum does not fit. */
bool solve_vertex(const struct system *s, uint32_t v, uint64_t *count);

/* Adds to a counter; false if that does not fit. The counter of an event may be a little below 0 while its
 * process is on its way. */
static inline bool
count_add(uint64_t *sum, uint64_t v)
{
	const uint64_t below_zero = UINT64_MAX << 40;
	bool negative = *sum >= below_zero || v >= below_zero;

	return !__builtin_add_overflow(*sum, v, sum) || negative;
}

/* exits.c: fills left[] and back[] of all procedures from the exit records of the module; where a record
 * fits no call, sets why. Exits in code without a map are passed over. */
void exits_place(struct pool *pool, const struct map *map, const struct profile *p, const struct module *module,
	struct counts *counts);

#endif
