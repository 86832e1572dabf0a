/* SPDX-License-Identifier: MIT */
/* inspector: what is known of a stopped process. Shared by sample.c, thread_state.c and active.c. */
#ifndef CHORD_INSPECTOR_H
#define CHORD_INSPECTOR_H

#include "process/query.h"

/* What is known of a thread. */
struct thread_state {
	const struct thread *thread;
	uint64_t *behind;        /* by event: to be added to its counters */
	uint64_t base;           /* of its counters */
	bool has_base;
	uint32_t users;          /* of its region */
	uint64_t left;           /* frames from there on are among the exits */
	uint64_t program_sp;     /* its own stack pointer, while it is on a stack of the runtime's; or 0 */
};

/* An activation that was interrupted; its address at link time. */
struct interrupted {
	const struct counted *in;
	uint64_t addr;
};

struct inspector {
	struct query *q;
	struct pool *pool;
	struct sample *m;
	struct process process;
	struct profile *profile;
	struct chord_live live;
	VEC(struct chord_live_region) region;
	VEC(struct loaded) loaded;
	struct frames frames;
	struct thread_state *state; /* by thread */
	struct thread_state *now;    /* the one that is looked at */
	VEC(struct interrupted) interrupted; /* activations of threads that stand outside of measured code */
	bool unsettled;          /* better to look again */
	bool being_left;         /* one of these perhaps */
};

/* sample.c: notes something that the report has to say of the counts. */
void inspector_note(struct inspector *k, const char *text);
/* Notes a state that will soon be over, so that it is better to look again: a thread may be in the runtime, which has no unwind
 * table. */
void inspector_doubt(struct inspector *k, const char *text);

/* thread_state.c: reads the control block: regions, and where modules are loaded. False: there is none. */
bool inspector_read_control(struct inspector *k);
/* The base at which a thread counts, and the address from which on its frames are among the exits. */
void inspector_find_base(struct inspector *k, struct thread_state *s);
/* Does it wait for a child of vfork? */
bool waits_for_child(const struct inspector *k, const struct thread *t);
/* Fills state: where each thread counts, and how far its counters are behind. */
void inspector_read_threads(struct inspector *k);
/* Adds to behind[], by event, how far counters are behind with control at a PC, times sign; *w: where that is. False: it is not
 * understood, and that is noted. Adds nothing if there is no measured code. */
bool inspector_behind(struct inspector *k, const struct loaded *l, uint64_t pc, uint64_t sign, uint64_t *behind, struct where *w);

/* active.c: treats all activations as ended where they are: adds them to the exits of the profile, whose modules the query has
 * opened. Gives the number of threads whose activations are not known. */
uint64_t inspector_end_all(struct inspector *k, struct profile *p);

#endif
