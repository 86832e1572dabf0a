/* SPDX-License-Identifier: MIT */
/* inspector: what is known of a stopped process. Shared by sample.c, thread_state.c and active.c. */
#ifndef CHORD_INSPECTOR_H
#define CHORD_INSPECTOR_H

#include "process/query.h"

/* What is known of a thread. */
struct thread_state {
	const struct thread *thread;
	uint64_t *behind;        /* by event: to be added to its counters */
	uint64_t base;           /* base of its counters, if has_base */
	bool has_base;
	uint32_t users;          /* of its region */
	uint64_t left;           /* frames from this address on are among the exits already; or 0 */
	uint64_t program_sp;     /* its own stack pointer, while it is on a stack of the runtime's; or 0 */
};

/* An activation that was interrupted; addr is its PC at link time. */
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
	struct thread_state *now;    /* the thread that is looked at */
	VEC(struct interrupted) interrupted; /* activations of threads that stand outside of measured code */
	bool unsettled;          /* it is better to look again */
	bool being_left;         /* one of these activations may be about to be left */
};

/* sample.c: adds a note on the counts to the report. */
void inspector_note(struct inspector *k, const char *text);
/* Adds such a note on a state that will soon be over, so that it is better to look again: a thread may be in the runtime, which has
 * no unwind table. */
void inspector_doubt(struct inspector *k, const char *text);

/* thread_state.c: reads the control block, its regions and the places of modules. False: there is none. */
bool inspector_read_control(struct inspector *k);
/* Finds the base at which a thread counts, and the address from which on its frames are among the exits. */
void inspector_find_base(struct inspector *k, struct thread_state *s);
/* True if the thread waits for a child of vfork. */
bool waits_for_child(const struct inspector *k, const struct thread *t);
/* Fills `state`: where each thread counts, and what its counters lack. */
void inspector_read_threads(struct inspector *k);
/* Adds to behind[], by event, what counters lack with control at a PC, times `sign`; *w: the place of the PC. Adds nothing outside
 * of measured code. False: the place is not understood, which is noted. */
bool inspector_behind(struct inspector *k, const struct loaded *l, uint64_t pc, uint64_t sign, uint64_t *behind, struct where *w);

/* active.c: counts all activations as ended where they are: adds them to the exits of a profile whose modules the query has opened.
 * Returns the number of threads whose activations are not known. */
uint64_t inspector_end_all(struct inspector *k, struct profile *p);

#endif
