/* SPDX-License-Identifier: MIT */
/* clock: tells how far the measured code of a traced process has come, and brings a process to a state that its clock names.
 * docs/replay.md explains why the clock names states (Mellor-Crummey & LeBlanc 1989). */
#ifndef CHORD_CLOCK_H
#define CHORD_CLOCK_H

#include "tracee/tracee.h"

/* ---- clock.c: reading the clock ---- */

struct clock;
struct clock *clock_open(struct tracee *t); /* memory is freed by clock_close() */
/* Selects the task through which the clock is read; all tasks that share the memory are equal. */
void clock_follow(struct clock *c, struct tracee *t);
/* clock_begin_as(): for a process that `parent` has just started in the same memory. clock_copy(): for a process that is put in the
 * place of another one. */
void clock_begin_as(struct clock *c, struct clock *parent);
void clock_copy(struct clock *c, const struct clock *of);
void clock_close(struct clock *c);
/* Says that n bytes have been mapped at an address: they may contain the counters. */
void clock_mapped(struct clock *c, uint64_t at, uint64_t n);
/* The sum of all counters that serve as clocks, over all threads: equal at equal states. 0 before the program counts, or if it does
 * not. */
uint64_t clock_sum(struct clock *c);
/* True if a counter could not be read although the process was there. That has been reported; afterwards the clock cannot be
 * trusted. */
bool clock_fails(const struct clock *c);
/* True if the PC is in code that counts; *count is then the counter of its module. The counter and the PC name a state of the
 * thread, because the counter never has the same value twice at one instruction. False: *count is 0. */
bool clock_at(struct clock *c, uint64_t pc, uint64_t *count);
/* still: from here on the process makes no system call, so that modules and counters stay as they are; the clock then need not look
 * for them again. False: system calls are possible again. Returns true if the process counts and is still. */
bool clock_still(struct clock *c, bool still);
/* The return address of a call from code that counts, the innermost one that is found on the stack; 0: none. It may be the address
 * of a call that has already returned. */
uint64_t clock_return(struct clock *c, uint64_t sp);
/* Makes the code that counts ask for a timer (-fchord-timers=) shortly before the counter of the PC's module has increased by
 * `left`. Returns the address where it asks; 0: that is not possible. clock_disarm() undoes it. */
uint64_t clock_arm(struct clock *c, uint64_t pc, uint64_t left);
/* True if the code has just made the addition after which it asks. */
bool clock_asks(struct clock *c);
/* True if some code asks for timers. */
bool clock_has_timers(struct clock *c);
/* Undoes clock_arm(). */
void clock_disarm(struct clock *c);

struct countdown;
/* The countdown for the module of the PC, which belongs to the clock; NULL: none is possible. */
struct countdown *clock_countdown(struct clock *c, uint64_t pc);

/* ---- countdown.c: makes code that counts stop shortly before its clock has a certain value ---- */

/* An instruction that adds to a clock. */
struct addition {
	uint64_t at;
	uint32_t amount;
	bool next;               /* control comes to the next instruction only from here */
	uint8_t before;          /* size of the previous instruction, if control comes here only from there; 0: it does not */
	bool falls;              /* the previous instruction falls through to it */
};
typedef VEC(struct addition) additions;

/* Takes over the array of *at, which has at least one element and is by address; *at is empty afterwards. */
struct countdown *countdown_new(additions *at);
void countdown_free(struct countdown *d);
/* From here on the program stops before the first addition by which its clock would have advanced by `left` or more. Until
 * countdown_take() its code is changed: it must make no system call. False: not possible, and nothing is changed. */
bool countdown_put(struct countdown *d, struct tracee *t, uint64_t left);
void countdown_take(struct countdown *d, struct tracee *t);
/* True if the countdown has stopped the program; the PC is then moved to the addition. */
bool countdown_hit(const struct countdown *d, struct tracee *t, enum stop stop);
/* True if the PC is in the countdown's code otherwise; it is then moved to the program's own instruction that would be executed
 * next. */
bool countdown_home(const struct countdown *d, struct tracee *t);
/* True if the program must not continue from this PC while it counts down. After one more step it may. */
bool countdown_amid(const struct countdown *d, uint64_t pc);
/* True if the program executes the instruction at this PC elsewhere while it counts down. */
bool countdown_hides(const struct countdown *d, uint64_t pc);
/* True if memory may be written in the countdown's code and other instructions be executed there before it is left: an instruction
 * before an addition may write, or one after it repeats itself. */
bool countdown_hides_writes(const struct countdown *d, const struct tracee *t);

/* ---- additions.c: finds the instructions that add to a clock ---- */

struct binary;
struct event_counter;
/* Appends those of a module to *out, by address. bias: addresses in memory minus addresses at link time. counter: the n counters
 * that are clocks. False: some code is not understood. */
bool additions_find(struct binary *b, uint64_t bias, const struct event_counter *const *counter, size_t n, additions *out);

/* ---- state.c: runs to a state ---- */

struct state {
	uint64_t pc, count, sum; /* count: of the PC's module; sum: of the registers */
	bool bare;               /* sum is state_name(), not the sum of all registers */
};

enum reach {
	REACH_THERE,             /* the state */
	REACH_OTHER,             /* something else stopped the program before */
	REACH_PAST,              /* it has gone too far: begin again with more care */
};
/* Values of `care`, from 0. CARE_MOST takes longest and never goes too far. CARE_STEADY also never changes the program's memory. */
enum { CARE_MOST = 3, CARE_STEADY };

/* Runs to a state. *stop: what stopped the program, if the result is not REACH_THERE. */
enum reach state_reach(struct tracee *t, struct clock *c, const struct state *s, unsigned care, enum stop *stop);
/* Runs close to the state, as fast as the program runs. STOP_SIGNAL: it is there. Otherwise what stopped it before. */
enum stop state_near(struct tracee *t, struct clock *c, const struct state *s);
struct breakpoint {
	uint64_t at;             /* 0: none */
	uint8_t was[16];
};
/* Puts a breakpoint at an address (false: that memory cannot be written); takes it out again. */
bool breakpoint_put(struct tracee *t, struct breakpoint *b, uint64_t at);
void breakpoint_take(struct tracee *t, struct breakpoint *b);
/* A name for a state beside the clock, made only of the PC, the stack pointer, and the round of an instruction that repeats itself.
 * *b: the breakpoint, if there is one at the PC. */
uint64_t state_name(const struct tracee *t, const struct breakpoint *b);
/* True if the breakpoint has stopped the program; the PC is then moved to its address. */
bool breakpoint_hit(struct tracee *t, const struct breakpoint *b, enum stop stop);
/* Runs to an address, without making system calls. True: it is there. False: something else stopped it, *stop; or *stop is
 * unchanged, and no breakpoint is possible there. */
bool breakpoint_run(struct tracee *t, uint64_t at, enum stop *stop);

/* ---- spin.c: states in code that counts nothing ---- */

enum spin {
	SPIN_STAYS,              /* it is in a loop that changes nothing, and stands where it stood: the state is the same */
	SPIN_COMES,              /* it has come into such a loop */
	SPIN_COUNTS,             /* in such a loop, except that counters change, which name the state */
	SPIN_NOT,                /* it has gone some steps further, and may be in no such loop */
	SPIN_STOPPED,            /* something else stopped it before */
};
enum { SPIN_LEAST = 128, SPIN_MOST = 2048 };
/* Steps through the loop in which the program may be, at most *steps steps. On STAYS, COMES and COUNTS *steps is the number of
 * steps of one round. live: it also stops for what comes from outside, such as signals. *stop: the last stop. */
enum spin spin_here(struct tracee *t, bool live, unsigned *steps, enum stop *stop);

/* A state in such a loop. */
struct spin_state {
	uint64_t pc, sum;        /* sum: of the registers */
	unsigned steps;          /* of one round */
};
enum reach spin_reach(struct tracee *t, const struct spin_state *s, enum stop *stop); /* runs to it; *stop as for state_reach() */

#endif
