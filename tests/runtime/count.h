/* SPDX-License-Identifier: MIT */
/* What the weaver emits, written by hand: a counter, which this code increments. The expected numbers are given for the
 * label. */
#ifndef COUNT_H
#define COUNT_H

#define CHORD_COUNT(n) \
	__asm__ volatile( \
	    ".pushsection chord_cnt,\"aw\",@nobits\n" \
	    ".balign 8\n" \
	    ".Lcount_%=: .zero 8\n" \
	    ".popsection\n" \
	    "incq %%gs:.Lcount_%=(%%rip)" : : : "cc", "memory")

#endif
