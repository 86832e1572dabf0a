/* SPDX-License-Identifier: MIT */
/* Call stacks, as far as counts of calls determine them. If only one function calls another, everything that the latter did was
 * below the former. If several functions call it, the parts are known only if it calls nothing itself and events are summed for
 * calls. */
#ifndef CHORD_VIEW_STACKS_H
#define CHORD_VIEW_STACKS_H

#include "view/view.h"

enum { VIEW_NO_CALLER = UINT32_MAX };

/* Calls of one function by another, jumps into it included. */
struct view_call_edge {
	uint32_t from, to;       /* indices among the functions */
	uint64_t times, insns;   /* insns: executed between call and return, if that is summed */
	bool times_known, insns_known;
};

/* Who called whom, as far as it is known: by name, or through pointers if callees were counted. */
struct view_call_graph {
	VEC(struct view_call_edge) edge; /* by callee, then caller */
	bool *calls;             /* by function: it calls others, or may */
	bool *outside;           /* by function: some call or jump that ran led to code that is not measured or not known */
	uint64_t *sums;          /* by function: instructions between its calls and their returns */
	bool *sums_known;
	bool *jumps;             /* by function: it was left by a jump into another one, which has no sum */
};
/* all: from view_functions(); l: a listing of everything. */
void view_call_graph(struct view_call_graph *g, struct run *run, const struct view_functions *all, const struct view_listing *l);
void view_call_graph_free(struct view_call_graph *g);

/* What a function executed when one caller called it. */
struct view_share {
	uint32_t caller;         /* index among the functions, as below */
	uint64_t insns;
};

struct view_above {
	uint32_t caller;         /* the only other function that calls it; VIEW_NO_CALLER: there is none, or: */
	bool several;            /* several functions call it, or it is not known who made some of its calls */
	const struct view_share *share; /* by caller, if the parts of several are known; their sum is everything that it executed */
	size_t nshare;
};

/* By function, in the order of `all`, which is from view_functions() (pool). A jump into another function counts as a call. */
struct view_above *view_above(struct pool *pool, struct run *run, const struct view_functions *all, const struct view_listing *l);

struct view_stack_frame {
	const char *name;        /* a symbol, or the name of an inlined function in the debug information */
	const char *file;        /* of its declaration; NULL: not known */
	unsigned line;           /* 0: not known */
};
/* Instructions that are known to have been executed, by the stack on which they ran, inlined functions included. */
struct view_stack {
	const struct view_stack_frame *frame; /* outermost first; VIEW_SEVERAL stands for callers whose parts are not known */
	size_t n;
	uint64_t insns;
};
extern const char VIEW_SEVERAL[];
struct view_stacks { struct view_stack *at; size_t n, cap; };
/* All stacks. Names are in the pool; the caller frees s->at. False: a sum does not fit in 64 bits. */
bool view_stacks(struct view_stacks *s, struct pool *pool, struct run *run, const struct view_functions *all,
                 const struct view_listing *l);

#endif
