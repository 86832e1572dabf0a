/* SPDX-License-Identifier: MIT */
/* Bounds of flow where some of it ends at places that are not known: activations in flight. */
#ifndef CHORD_FLIGHT_H
#define CHORD_FLIGHT_H

#include "profile/internal.h"

/* More than any count; sums of it stay it. */
#define FLIGHT_MANY ((__int128)1 << 100)

/* An edge between places in a procedure. Its count is known, or will be between least and most. */
struct way {
	uint32_t from, to;
	bool known;
	uint64_t count;
	__int128 least, most;
	uint32_t floor;          /* it is no less than that */
};

/* Where an activation can stand. */
struct spot {
	__int128 source;         /* flow that enters here from outside less flow that is known to end here */
	__int128 cap;            /* at most so many stand here */
	bool start;              /* control may begin here */
	bool ended;              /* some activation ended here */
	__int128 least, most;    /* result: so many do */
};

/* out(v) = in(v) + source(v) - standing(v); what stands enters again at the exit, as what ends early does. */
struct flow {
	struct pool *pool;
	VEC(struct way) way;
	VEC(struct spot) spot;
	uint32_t exit;
	__int128 standing;       /* at most so many in all */
	/* Of the solution: */
	__int128 least, most;    /* so many stand in all */
	bool forest;             /* the unknown ways form one: bounds are the best there are */
	uint32_t *up;            /* by spot: the unknown way to its parent in the forest; UINT32_MAX: none */
	uint32_t *order;         /* spots, parents before children */
	/* If they form none: */
	struct flow *folded;     /* spots that are on cycles with one another joined to one */
	uint32_t *class;         /* by spot: which one that is */
	uint32_t *fold_way;      /* by way: which way that is, or UINT32_MAX */
};

uint32_t flow_spot(struct flow *f, __int128 cap);
uint32_t flow_way(struct flow *f, uint32_t from, uint32_t to);
uint32_t flow_counted(struct flow *f, uint32_t from, uint32_t to, uint64_t count);
/* Finds the bounds. False: there is no solution. */
bool flow_bounds(struct flow *f);
/* flight_fold.c: makes f->folded and finds its bounds. False: there is no solution. */
bool flow_fold(struct flow *f);
/* flight_reach.c: after flow_bounds(): finds what must have been taken because something behind it ran. True: then the bounds
 * are to be found again. */
bool flow_reach(struct flow *f);
void flow_free(struct flow *f);

/* A sum over ways: of each its count times value[way]; for each that stands at a spot, between more[spot] in addition and
 * less[spot] taken away; and a constant. */
struct flow_sum {
	int64_t *value;          /* by way */
	uint64_t *more, *less;   /* by spot */
	__int128 constant;
	__int128 least, most;    /* result */
};
/* With f->folded: the same sum of what is left there. False: it needs ways that are not. */
bool flow_fold_sum(const struct flow *f, const struct flow_sum *sum, struct flow_sum *folded);
/* After flow_bounds(). */
void flow_sum_bounds(const struct flow *f, struct flow_sum *sum);

#endif
