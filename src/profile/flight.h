/* SPDX-License-Identifier: MIT */
/* Bounds of flow if some of it ends at unknown places: activations in flight. */
#ifndef CHORD_FLIGHT_H
#define CHORD_FLIGHT_H

#include "profile/internal.h"

/* Larger than any count; sums that contain it are treated as this. */
#define FLIGHT_MANY ((__int128)1 << 100)

/* An edge between places in a procedure. Its count is known, or the solution bounds it by least and most. */
struct way {
	uint32_t from, to;
	bool known;
	uint64_t count;
	__int128 least, most;
	uint64_t floor;          /* the count is at least this */
};

/* A place where an activation can stand. */
struct spot {
	__int128 source;         /* flow that enters here from outside less flow that is known to end here */
	__int128 cap;            /* at most this many activations stand here */
	bool start;              /* control may begin here */
	bool ended;              /* some activation ended here */
	__int128 least, most;    /* result: bounds for the number of activations that stand here */
};

/* out(v) = in(v) + source(v) - standing(v). Activations that stand count as flow into the exit, as those do that end early. */
struct flow {
	struct pool *pool;
	VEC(struct way) way;
	VEC(struct spot) spot;
	uint32_t exit;
	__int128 standing;       /* this many may stand in all */
	/* The solution: */
	__int128 least, most;    /* bounds for the number that stands in all */
	bool forest;             /* the unknown ways form a forest: then the bounds are the best possible ones */
	uint32_t *up;            /* by spot: the unknown way to its parent in the forest; UINT32_MAX: none */
	uint32_t *order;         /* spots, parents before children */
	/* If they form no forest: */
	struct flow *folded;     /* the flow in which spots that are on common cycles are joined to one */
	uint32_t *class;         /* by spot: the spot of `folded` */
	uint32_t *fold_way;      /* by way: the way of `folded`, or UINT32_MAX */
};

/* Add a spot, an unknown way, and a way with a known count; return its number. */
uint32_t flow_spot(struct flow *f, __int128 cap);
uint32_t flow_way(struct flow *f, uint32_t from, uint32_t to);
uint32_t flow_counted(struct flow *f, uint32_t from, uint32_t to, uint64_t count);
/* Computes the bounds. False: there is no solution. */
bool flow_bounds(struct flow *f);
/* flight_fold.c: makes f->folded and computes its bounds. False: there is no solution. */
bool flow_fold(struct flow *f);
/* flight_reach.c, after flow_bounds(): finds ways that must have been taken, because something after them ran. True: call
 * flow_bounds() again. */
bool flow_reach(struct flow *f);
void flow_free(struct flow *f); /* the pool keeps the rest */

/* flight_around.c: how many activations may stand at a call that may lead back to the procedure. */
__int128 flight_standing(struct standing s, const struct call *call);
/* The number, or COUNT_NO_BOUND if it is larger than any count; 0 if it is below 0. */
uint64_t flight_count(__int128 n);
/* Makes room for the counts of a procedure's blocks, instructions and arcs (pool); returns c. */
struct counts *flight_room(struct pool *pool, const struct proc *p, struct counts *c);

/* A sum: over all ways the count times value[way]; for each activation that stands at a spot, something between -less[spot] and
 * more[spot]; and a constant. */
struct flow_sum {
	int64_t *value;          /* by way */
	uint64_t *more, *less;   /* by spot */
	__int128 constant;
	__int128 least, most;    /* result */
};
/* With f->folded: the same sum for the ways and spots that are left there (pool). False: it needs ways that are not left. */
bool flow_fold_sum(const struct flow *f, const struct flow_sum *sum, struct flow_sum *folded);
/* Computes the bounds of a sum, after flow_bounds(). */
void flow_sum_bounds(const struct flow *f, struct flow_sum *sum);

#endif
