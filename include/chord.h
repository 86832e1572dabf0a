/* SPDX-License-Identifier: MIT */
/* chord: what a program can ask while it is measured. This header is all there is: no library,
 * and a program that is not measured, or does not count the event, gets 0.
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
 * is not measured. Exact wherever it stands. It costs one load, and where the count is not complete at that
 * place one addition of a constant (Ball 1994, section 3.3). A thread may begin with what a thread that has
 * ended left behind, and the first one with 0: take differences. After fork the child begins at 0.
 *
 * NAME is written without quotes: chord_events(loads), chord_events(call:malloc|free), as it
 * stands in -fchord-events=, a table of costs as cost:FILE, without folders. It becomes part of a template of
 * the compiler's assembler: no braces, percent signs, commas or quotes can be in it.
 *
 * Objects in which events are summed for calls (-fchord=calls) have counters apart from those that are not: of a
 * program that has objects of both kinds each sees its own kind's events only. What objects do that were built without
 * the event (-fchord=edges) is in no count. */
#define chord_events(NAME) \
	(__extension__({ \
		uint64_t chord_n_; \
		__asm__ volatile(".set \".Levents." #NAME "\", 0\n\t{movl $0, %k0|mov %k0, 0}" : "=r"(chord_n_) : : "memory"); \
		chord_n_; \
	}))

#endif
