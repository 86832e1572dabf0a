/* SPDX-License-Identifier: MIT */
/* Call stacks, as far as counts of calls tell them exactly. A function that only one other calls ran below that one, whatever it
 * did; what several call is known for each of them only if it calls nothing itself and events are summed for calls. */
#ifndef CHORD_VIEW_STACKS_H
#define CHORD_VIEW_STACKS_H

#include "view/view.h"

enum { VIEW_NO_CALLER = UINT32_MAX };

/* Calls of one function by another, jumps into it, too. */
struct view_call_edge {
	uint32_t from, to;       /* numbers among the functions */
	uint64_t times, insns;   /* insns: executed from the call to its return, if that is summed */
	bool times_known, insns_known;
};

/* Who called whom, as far as that is known: by name, or through pointers if callees were counted. */
struct view_call_graph {
	VEC(struct view_call_edge) edge; /* by callee, then caller */
	bool *calls;             /* by function: it calls others, or may */
	bool *outside;           /* by function: some call or jump that ran led to code that is not measured or not known */
	uint64_t *sums;          /* by function: instructions from its calls to their returns */
	bool *sums_known;
};
/* `all` as view_functions() gives them, l of all. */
void view_call_graph(struct view_call_graph *g, struct run *run, const struct view_functions *all, const struct view_listing *l);
void view_call_graph_free(struct view_call_graph *g);

/* What a function executed when it was called by another. */
struct view_share {
	uint32_t caller;         /* number among the functions, as all of these */
	uint64_t insns;
};

struct view_above {
	uint32_t caller;         /* the only function that calls it, itself aside; VIEW_NO_CALLER: there is none, or: */
	bool several;            /* more than one do, or who made some of its calls is not known */
	const struct view_share *share; /* by caller, if that is known of several; sums to all that it executed */
	size_t nshare;
};

/* By function; `all` as view_functions() gives them. In the pool. A jump into another function is a call by what jumps. */
struct view_above *view_above(struct pool *pool, struct run *run, const struct view_functions *all, const struct view_listing *l);

struct view_stack_frame {
	const char *name;        /* a symbol, or what debug information calls an inlined function */
	const char *file;        /* where it is declared; NULL: not known */
	unsigned line;           /* 0: likewise */
};
/* All instructions that are known to have been executed, by the stack that they ran on, inlined functions included. */
struct view_stack {
	const struct view_stack_frame *frame; /* outermost first; VIEW_SEVERAL stands for callers that are not known apart */
	size_t n;
	uint64_t insns;
};
extern const char VIEW_SEVERAL[];
struct view_stacks { struct view_stack *at; size_t n, cap; };
/* Names are in the pool. False: a sum does not fit 64 bits. */
bool view_stacks(struct view_stacks *s, struct pool *pool, struct run *run, const struct view_functions *all,
                 const struct view_listing *l);

#endif
