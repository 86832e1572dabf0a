/* SPDX-License-Identifier: MIT */
/* inspector: what is known of a process while it stands still. What sample.c, thread_state.c and active.c share. */
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

/* An activation that something interrupted; its address at link time. */
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

/* sample.c: what has to be said of the counts. */
void inspector_note(struct inspector *k, const char *text);
/* Of what will as a rule soon be over, so that it is better to look again: a thread may be in the runtime, of which
 * there is no unwind table. */
void inspector_doubt(struct inspector *k, const char *text);

/* thread_state.c: reads the control block: regions, and where modules are loaded. False: it is not there. */
bool inspector_read_control(struct inspector *k);
/* Where a thread counts, and from where on its frames are among the exits. */
void inspector_find_base(struct inspector *k, struct thread_state *s);
/* Does it wait for a child of vfork? */
bool waits_for_child(const struct inspector *k, const struct thread *t);
/* Fills state: where each thread counts, and what its counters are behind. */
void inspector_read_threads(struct inspector *k);
/* Adds to behind[], by event, what counters are behind with control at a PC, times sign; *w: where that is. False: it
 * is not understood, and that is noted. Nothing if no measured code is there. */
bool inspector_behind(struct inspector *k, const struct loaded *l, uint64_t pc, uint64_t sign, uint64_t *behind, struct where *w);

/* active.c: takes all activations to end where they are: adds them to the exits of the profile, whose modules the query has
 * opened. Gives the number of threads of which it is not known where they stand. */
uint64_t inspector_end_all(struct inspector *k, struct profile *p);

#endif
