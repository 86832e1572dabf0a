/* SPDX-License-Identifier: MIT */
/* How a machine answers what a program asks by chord.h: how many events there have been, and what sets a timer. */
#ifndef CHORD_MACHINE_QUERY_H
#define CHORD_MACHINE_QUERY_H

#include "base/base.h"

enum { QUERY_REG_SIZE = 8 };

/* The sum of a counter's numbers, each times so many events as it stands for. */
struct query_sum {
	const char *numbers;     /* label of the first, each of 8 bytes */
	uint32_t n;
	const char *factors;     /* label of a signed byte for each number, and QUERY_FACTORS_END; NULL: all are 1 */
	const char *loop;        /* a label that is free */
	int64_t more;            /* added to the sum */
	bool by_sp;              /* the call frame there is found by the stack pointer */
};

enum { QUERY_FACTORS_END = -128 };

/* All code is in the syntax of the machine's own text, see struct machine_text. */
struct machine_query {
	/* Is that the instruction which chord.h leaves for an answer, a register set to 0? Then the register's name, whole. */
	bool (*is_blank)(struct str word, struct str operands, bool other_syntax, char reg[QUERY_REG_SIZE]);
	/* Code behind it that changes nothing but the register and, as chord.h tells the compiler, the flags: the sum of the
	 * thread's counters, each as it is at some moment in between; the address of a label; a small number. */
	void (*sum)(struct buf *out, const char *reg, const struct query_sum *q);
	void (*address)(struct buf *out, const char *reg, const char *label);
	void (*number)(struct buf *out, const char *reg, unsigned n);
	/* The routine by which the program sets an event's timer: to __chord_timer, with the addresses of the counter and of
	 * the event's own way to ask whether one is due, as the fifth and sixth argument. */
	void (*set_timer)(struct buf *out, const char *counter, const char *due);
	/* The routine that woven code calls where a counter is no longer below 0: to __chord_due with the address of the
	 * counter, all registers as they are. With directives for the call frame. */
	void (*ask_due)(struct buf *out, const char *counter);
};

#endif
