/* SPDX-License-Identifier: MIT */
/* chord.h: what a program can ask Chord while it is measured. This header is complete; there is no library to link. A program that
 * is not measured, or does not count the event, gets 0. Chord warns about such places when it builds (`chord: warning: prog.c:7:
 * chord_events(loads): not counted`). A compiler without Chord cannot warn, but the program can ask: chord_counted().
 *
 *     #include <chord.h>
 *     uint64_t before = chord_events(instructions);
 *     work();
 *     printf("%" PRIu64 " instructions\n", chord_events(instructions) - before);
 *
 *     chord cc -O2 -fchord=events prog.c
 *
 * chord cc and chord c++ find the header themselves, after all other folders; `chord hook` and plain compilers need -I. */
#ifndef CHORD_H
#define CHORD_H

#include <stdint.h>

/* chord_events(NAME), uint64_t: the number of events so far in this thread, in the code of the executable or shared object that
 * contains this line. The number includes everything up to this line and one instruction for the line itself (the unmeasured
 * program has one instruction here). It is exact at every place (query increment, Ball 1994, section 3.3).
 *
 * Cost: the read is inline. A counter is a sum of 256 numbers, so that counting is cheap; adding them up takes 0.1 microseconds.
 * With two or more events there are 512 to 4096 numbers, 0.2 to 1.7 microseconds (with -fchord=calls 4 numbers, with timers 8). A
 * constant is added where the counter is not complete at this place. If a signal handler runs during the read, the result may
 * include part of the handler's events.
 *
 * The first thread begins at 0. A later thread may begin with the number that an ended thread left: use differences. After fork the
 * child begins at 0.
 *
 * NAME has no quotes: chord_events(loads), chord_events(call:malloc|free). It is spelled as in -fchord-events=; a table of costs is
 * cost:FILE, without folders. NAME becomes part of a template for the compiler's assembler, so it cannot contain braces, percent
 * signs, commas or quotes.
 *
 * The number covers objects that were built with the same list of events in the same order, and with the same choice of call sums
 * (-fchord=calls) and timers as this one. Objects built otherwise have other counters. Objects built without the event
 * (-fchord=edges) count nothing. `chord stat`, report and query add up all objects. */
#define chord_events(NAME) \
	(__extension__({ \
		uint64_t chord_n_; \
		__asm__ volatile(".set \".Levents." #NAME "\", 0\n\t{movl $0, %k0|mov %k0, 0}" : "=r"(chord_n_) : : "memory"); \
		chord_n_; \
	}))

/* chord_counted(NAME), int: 1 if chord_events(NAME) gives a number of events here, 0 if it gives 0 because there is no counter. */
#define chord_counted(NAME) \
	(__extension__({ \
		unsigned long chord_c_; \
		__asm__(".set \".Lcounted." #NAME "\", 0\n\t{movl $0, %k0|mov %k0, 0}" : "=r"(chord_c_)); \
		(int)chord_c_; \
	}))

/* chord_clock(), uint64_t: the clock of this thread in the executable or shared object that contains this line. The clock, the
 * program counter and the stack pointer together name each state of the thread in measured code: no two states have all three equal
 * (Mellor-Crummey & LeBlanc 1989). The clock counts some rounds of loops and some executions of procedures, so clock values can
 * only be compared: the clock never goes back, and a greater value is a later one. Needs -fchord=clock; otherwise the result is 0,
 * as for chord_events(), and chord_counted(clock) is 0. A read adds up 64 numbers. After fork the child begins at 0.
 *
 *     chord cc -O2 -fchord=clock prog.c
 */
#define chord_clock() chord_events(clock)

/* ---- timers ---- */

/* chord_timer(NAME, n, handler, arg): calls handler(arg) in this thread when n more events have happened in it, counted from the
 * return of chord_timer(). There is one timer for each event, thread and executable or shared object; setting it again replaces it.
 * A timer fires once. The handler may set it again, or leave by longjmp or swapcontext, but must not throw.
 *
 * chord_timer():        fires at the first place after the n-th event where the counter changes; until then the only
 *                       cost is a test at these places. chord_timer_late() gives the greatest delay so far, in events.
 * chord_timer_exact():  fires before the instruction that follows the one with the n-th event. For the last events before
 *                       that the runtime has the processor trap after every instruction (SIGTRAP).
 * chord_timer_cancel(): unsets the timer.
 *
 *     static void slice(void *arg) { chord_timer(instructions, 10000, slice, arg); swapcontext(...); }
 *
 *     chord cc -O2 -fchord-timers=instructions prog.c
 *
 * The handler is an ordinary call at that place in the program, on the thread's stack, as if by a signal. A function that is not
 * async-signal-safe is not safe in the handler if the timer may fire in the middle of the same function. Forked children and new
 * threads have no timers. All four macros may be used in signal handlers.
 *
 * NAME is an event of -fchord-timers= of the object that contains the call. Objects built with that option count the event apart
 * from those built without, for chord_events() too, and the timer counts the events of the former.
 *
 * The result is an int: 0, or one of these. */
enum {
	CHORD_TIMER_NOT_COUNTED = -1, /* not measured, or not an event of -fchord-timers=: nothing is done */
	CHORD_TIMER_INVALID = -2,     /* n is 0 or 2^63 or more, or the handler is NULL: nothing is done */
	CHORD_TIMER_NOT_HERE = -3,    /* the thread has no counters of its own (yet), or the processor has no cmpxchg16b */
	CHORD_TIMER_NOT_EXACT = -4,   /* chord_timer_exact(): a debugger started the process and would get the traps */
};

#define chord_timer(NAME, n, handler, arg)       ((int)chord_timer_do_(CHORD_TIMER_(NAME), (n), (handler), (arg), 1))
#define chord_timer_exact(NAME, n, handler, arg) ((int)chord_timer_do_(CHORD_TIMER_(NAME), (n), (handler), (arg), 2))
#define chord_timer_cancel(NAME)                 ((int)chord_timer_do_(CHORD_TIMER_(NAME), 0, 0, 0, 0))
/* chord_timer_late(NAME), long long: the greatest number of events by which a handler of this timer was late in this thread; or one
 * of the errors above. */
#define chord_timer_late(NAME)                   (chord_timer_do_(CHORD_TIMER_(NAME), 0, 0, 0, 3))

typedef long long chord_timer_fn_(uint64_t n, void (*handler)(void *), void *arg, unsigned how);

/* Internal: the function that sets the event's timer, or NULL if the event is not counted. */
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
