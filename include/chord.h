/* SPDX-License-Identifier: MIT */
/* chord: what a program can ask while it is measured. This header is all there is: no library,
 * and a program that is not measured, or does not count the event, gets 0. Chord warns where that is so when it
 * builds (`chord: warning: prog.c:7: chord_events(loads): not counted`); a compiler without Chord cannot know, but
 * the program can: chord_counted().
 *
 *     #include <chord.h>
 *     uint64_t before = chord_events(instructions);
 *     work();
 *     printf("%" PRIu64 " instructions\n", chord_events(instructions) - before);
 *
 *     chord cc -O2 -fchord=events prog.c
 *
 * chord cc and c++ find the header themselves, behind all other folders; `chord hook` and plain compilers need -I.
 */
#ifndef CHORD_H
#define CHORD_H

#include <stdint.h>

/* The number of events so far, uint64_t: of all that this thread has executed of the executable or shared object
 * that the code belongs to, up to this place and with the one instruction that stands here in the program as it
 * is not measured. Exact wherever it stands. It is read in line: so that counting costs little, 256 numbers are added up, which
 * takes 0.1 microseconds; 512 or up to 4096 if two or more events are counted, 0.2 and up to 1.7 (4 with -fchord=calls, 8 with
 * timers); and where the count is not complete at that place a constant (Ball 1994, section 3.3). Of a signal's handler that
 * comes meanwhile a part may be in it. A thread may begin with what a thread that has ended left behind, and the first one with
 * 0: take differences. After fork the child begins at 0.
 *
 * NAME is written without quotes: chord_events(loads), chord_events(call:malloc|free), as it
 * stands in -fchord-events=, a table of costs as cost:FILE, without folders. It becomes part of a template of
 * the compiler's assembler: no braces, percent signs, commas or quotes can be in it.
 *
 * What is seen is what objects have counted that were built with the same list of events, in the same order, and with or without
 * sums for calls (-fchord=calls) and timers as the one in which this stands: others have counters apart. What objects do
 * that were built without the event (-fchord=edges) is in no count. `chord stat`, report and query add up all. */
#define chord_events(NAME) \
	(__extension__({ \
		uint64_t chord_n_; \
		__asm__ volatile(".set \".Levents." #NAME "\", 0\n\t{movl $0, %k0|mov %k0, 0}" : "=r"(chord_n_) : : "memory"); \
		chord_n_; \
	}))

/* 1 where chord_events(NAME) would be a number of events, 0 where it would be 0 for want of a counter: int. */
#define chord_counted(NAME) \
	(__extension__({ \
		unsigned long chord_c_; \
		__asm__(".set \".Lcounted." #NAME "\", 0\n\t{movl $0, %k0|mov %k0, 0}" : "=r"(chord_c_)); \
		(int)chord_c_; \
	}))

/* The clock, uint64_t: a count of this thread, in the executable or shared object that the code belongs to, which with the program
 * counter and the stack pointer names each state of the thread that is in measured code: no two have all three the same
 * (Mellor-Crummey & LeBlanc 1989). It counts rounds of loops and executions of procedures, not all of them, so numbers are for
 * comparing only: it never goes back, and a later one that is greater is later. Needs -fchord=clock; else it is 0, as
 * chord_events() is, and chord_counted(clock) says so. Reading it adds up 64 numbers. After fork the child begins at 0.
 *
 *     chord cc -O2 -fchord=clock prog.c
 */
#define chord_clock() chord_events(clock)

/* ---- timers ---- */

/* chord_timer(NAME, n, handler, arg): handler(arg) is called in this thread when n more events have happened in it, counted from
 * the return of chord_timer(). The same timer again replaces it: there is one for each event, thread and executable
 * or shared object. It is set once; the handler may set it again, or longjmp or swapcontext away, but must not throw.
 *
 * chord_timer():        as soon as it costs nothing but a test where the counter changes: at the next of these places
 *                       behind the n-th event. chord_timer_late() says how many events too late that was at most.
 * chord_timer_exact():  before the instruction that follows the one with the n-th event. For the last events before that the
 *                       runtime has the processor trap after every instruction (SIGTRAP).
 * chord_timer_cancel(): not at all.
 *
 *     static void slice(void *arg) { chord_timer(instructions, 10000, slice, arg); swapcontext(...); }
 *
 *     chord cc -O2 -fchord-timers=instructions prog.c
 *
 * The handler is an ordinary call at that place in the program, on the thread's stack, as by a signal: what is
 * not async-signal-safe is not safe in it where the timer may strike in the middle of the same. A forked child has no
 * timers, a new thread neither. All four may be used in handlers of signals.
 *
 * NAME is an event of -fchord-timers= of the object in which chord_timer() is written. Objects that were built with that option
 * count the event apart from those that were not, for chord_events() too, and the timer counts theirs.
 *
 * The result, an int, is 0 or one of these. */
enum {
	CHORD_TIMER_NOT_COUNTED = -1, /* not measured, or not an event of -fchord-timers=: nothing is done */
	CHORD_TIMER_INVALID = -2,     /* n is 0 or 2^63 or more, or the handler is NULL: nothing is done */
	CHORD_TIMER_NOT_HERE = -3,    /* the thread has no counters of its own (yet), or the processor no cmpxchg16b */
	CHORD_TIMER_NOT_EXACT = -4,   /* chord_timer_exact(): the process was started by a debugger, which would get the traps */
};

#define chord_timer(NAME, n, handler, arg)       ((int)chord_timer_do_(CHORD_TIMER_(NAME), (n), (handler), (arg), 1))
#define chord_timer_exact(NAME, n, handler, arg) ((int)chord_timer_do_(CHORD_TIMER_(NAME), (n), (handler), (arg), 2))
#define chord_timer_cancel(NAME)                 ((int)chord_timer_do_(CHORD_TIMER_(NAME), 0, 0, 0, 0))
/* The most events that a handler of the event was late by in this thread, long long; or one of the above. */
#define chord_timer_late(NAME)                   (chord_timer_do_(CHORD_TIMER_(NAME), 0, 0, 0, 3))

typedef long long chord_timer_fn_(uint64_t n, void (*handler)(void *), void *arg, unsigned how);

/* What sets the event's timer, or NULL. */
#define CHORD_TIMER_(NAME) \
	(__extension__({ \
		chord_timer_fn_ *chord_fn_; \
		__asm__ volatile(".set \".Ltimer." #NAME "\", 0\n\t{movl $0, %k0|mov %k0, 0}" : "=r"(chord_fn_) : : "memory"); \
		chord_fn_; \
	}))

static inline __attribute__((unused, always_inline)) long long
chord_timer_do_(chord_timer_fn_ *set, uint64_t n, void (*handler)(void *), void *arg, unsigned how)
{
	return set ? set(n, handler, arg, how) : CHORD_TIMER_NOT_COUNTED;
}

#endif
