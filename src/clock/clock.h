/* SPDX-License-Identifier: MIT */
/* clock: how far the measured code of a traced process has come, and going to a state that its clock names. docs/replay.md says
 * why that names one. */
#ifndef CHORD_CLOCK_H
#define CHORD_CLOCK_H

#include "tracee/tracee.h"

/* ---- clock.c: how far the measured code has come ---- */

struct clock;
struct clock *clock_open(struct tracee *t);
/* By which of the tasks that share the memory it is read. */
void clock_follow(struct clock *c, struct tracee *t);
/* Of a process that the parent begins with the same memory; of one that is made to stand where another one does. */
void clock_begin_as(struct clock *c, struct clock *parent);
void clock_copy(struct clock *c, const struct clock *of);
void clock_close(struct clock *c);
/* n bytes have been mapped there, which may be what counts. */
void clock_mapped(struct clock *c, uint64_t at, uint64_t n);
/* The sum of its counters: equal at equal states. 0 before it counts, or if it does not. */
uint64_t clock_sum(struct clock *c);
/* Could a counter not be read, though the process is there? That has been said; what the clock says is not known since then. */
bool clock_fails(const struct clock *c);
/* Is the PC in code that counts? Then the counter of its module; with the PC it names a state of the thread, for that
 * never has the same value twice at one instruction. */
bool clock_at(struct clock *c, uint64_t pc, uint64_t *count);
/* From here on no system call is made, or one may be again: what is mapped and counts stays the same meanwhile. */
bool clock_still(struct clock *c, bool still);
/* Where a call of code that counts comes back that is active on the stack; the innermost as far as that can be told, 0: none. */
uint64_t clock_return(struct clock *c, uint64_t sp);
/* Has the code that counts ask for a timer (-fchord-timers=) before the counter of the PC's module has `left` more, as near to it
 * as can be. The address where it asks; 0: it cannot. */
uint64_t clock_arm(struct clock *c, uint64_t pc, uint64_t left);
/* Has it just made the addition behind which it will ask? */
bool clock_asks(struct clock *c);
/* Does some code ask for timers? */
bool clock_has_timers(struct clock *c);
/* All is as if that had never been. */
void clock_disarm(struct clock *c);

struct countdown;
/* What counts down where the module of the PC adds to its clock; NULL: nothing can. */
struct countdown *clock_countdown(struct clock *c, uint64_t pc);

/* ---- countdown.c: having code that counts stop shortly before its clock has come somewhere ---- */

/* An addition to a clock, and its place. */
struct addition {
	uint64_t at;
	uint32_t amount;
	bool next;               /* control comes to the instruction behind it from there only */
	uint8_t before;          /* or to it from the instruction before it only, which has so many bytes; 0: not so */
	bool falls;              /* there is one before it that goes on to it */
};
typedef VEC(struct addition) additions;

/* Takes what it is given. */
struct countdown *countdown_new(additions *at);
void countdown_free(struct countdown *d);
/* From here on the program stops at the first addition with which its clock would have advanced by `left` or more, before that.
 * Until countdown_take() its code is another one: no system call may be made. False: that cannot be; all is as before. */
bool countdown_put(struct countdown *d, struct tracee *t, uint64_t left);
void countdown_take(struct countdown *d, struct tracee *t);
/* Has it stopped the program? The PC is then at the addition. */
bool countdown_hit(const struct countdown *d, struct tracee *t, enum stop stop);
/* Does it stand in the countdown's code otherwise? The PC is then at the instruction of its own that would be executed. */
bool countdown_home(const struct countdown *d, struct tracee *t);
/* May the program not go on from here while it counts down? One step further on it may. */
bool countdown_amid(const struct countdown *d, uint64_t pc);
/* While it counts down, does the program execute the instruction there elsewhere? */
bool countdown_hides(const struct countdown *d, uint64_t pc);
/* Is one of these such that may write to memory, and stands before an addition? */
bool countdown_writes_early(const struct countdown *d, const struct tracee *t);

/* ---- additions.c: where code adds to a clock ---- */

struct binary;
struct event_counter;
/* All of a module, by address. False: code is not understood. */
bool additions_find(struct binary *b, uint64_t bias, const struct event_counter *const *counter, size_t n, additions *out);

/* ---- state.c: running to a state ---- */

struct state {
	uint64_t pc, count, sum;
	bool bare;               /* the sum is state_name(), and not that of all registers */
};

enum reach {
	REACH_THERE,
	REACH_OTHER,             /* something else stopped the program on the way */
	REACH_PAST,              /* it has gone too far: begin again with more care */
};
/* CARE_MOST takes the longest, and never goes too far; CARE_STEADY does not touch the program's memory, either. */
enum { CARE_MOST = 3, CARE_STEADY };

enum reach state_reach(struct tracee *t, struct clock *c, const struct state *s, unsigned care, enum stop *stop);
/* Runs to not far before it, as fast as the program is. Not STOP_SIGNAL: something else stopped the program on the way. */
enum stop state_near(struct tracee *t, struct clock *c, const struct state *s);
struct breakpoint {
	uint64_t at;             /* 0: there is none */
	uint8_t was[16];
};
/* Puts a breakpoint, or takes it out again. */
bool breakpoint_put(struct tracee *t, struct breakpoint *b, uint64_t at);
void breakpoint_take(struct tracee *t, struct breakpoint *b);
/* What names a state beside the clock, and nothing else: PC, stack pointer, and the round of an instruction that repeats itself.
 * There may be a breakpoint. */
uint64_t state_name(const struct tracee *t, const struct breakpoint *b);
/* Has it stopped the program? The PC is then there. */
bool breakpoint_hit(struct tracee *t, const struct breakpoint *b, enum stop stop);
/* Runs, without making calls, until something stops it: *stop. True: it has come there. False with *stop as it was: there can be no
 * breakpoint. */
bool breakpoint_run(struct tracee *t, uint64_t at, enum stop *stop);

/* ---- spin.c: states of code that counts nothing ---- */

enum spin {
	SPIN_STAYS,              /* it is in a loop that changes nothing, and stands where it stood: all is as it was */
	SPIN_COMES,              /* it has come to one */
	SPIN_COUNTS,             /* the same but for counters, which name the state */
	SPIN_NOT,                /* it has gone on for some steps, and may be in none */
	SPIN_STOPPED,            /* something else has stopped it on the way */
};
enum { SPIN_LEAST = 128, SPIN_MOST = 2048 };
/* Steps through the loop in which it may be, *steps at most: then so many are once around. live: what comes from outside is looked
 * at, too. */
enum spin spin_here(struct tracee *t, bool live, unsigned *steps, enum stop *stop);

/* A state of such a loop. */
struct spin_state {
	uint64_t pc, sum;        /* sum: of the registers */
	unsigned steps;          /* once around */
};
enum reach spin_reach(struct tracee *t, const struct spin_state *s, enum stop *stop);

#endif
