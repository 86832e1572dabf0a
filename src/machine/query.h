/* SPDX-License-Identifier: MIT */
/* How a machine answers what a program asks by chord.h: the number of events so far, and the function that sets a timer. */
#ifndef CHORD_MACHINE_QUERY_H
#define CHORD_MACHINE_QUERY_H

#include "base/base.h"

struct frame_rule;

enum { QUERY_REG_SIZE = 8 };

/* The weighted sum of a counter's numbers. */
struct query_sum {
	const char *numbers;     /* label of the first number, each of 8 bytes */
	uint32_t n, step;        /* numbers; only every step-th is used */
	const char *factors;     /* label of one signed byte for each number, then QUERY_FACTORS_END; NULL: all factors are 1 */
	const char *loop;        /* an unused label */
	int64_t more;            /* added to the sum */
	const struct frame_rule *frame; /* as in struct liveness */
};

enum { QUERY_FACTORS_END = -128 };

/* All code is in the machine's own syntax, see struct machine_text. */
struct machine_query {
	/* True for the instruction that chord.h leaves for an answer: one that sets a register to 0. reg: the register's full
	 * name. */
	bool (*is_blank)(struct str word, struct str operands, bool other_syntax, char reg[QUERY_REG_SIZE]);
	/* Append code after that instruction that sets the register and changes nothing but it and the flags, as chord.h tells the
	 * compiler. The values: the sum of the thread's counters, each as it is at some moment during the code; the address of a
	 * label; a small number. */
	void (*sum)(struct buf *out, const char *reg, const struct query_sum *q);
	void (*address)(struct buf *out, const char *reg, const char *label);
	void (*number)(struct buf *out, const char *reg, unsigned n);
	/* Appends the routine by which the program sets an event's timer. It goes to __chord_timer, with the address of the counter
	 * as fifth argument, and that of the event's routine to ask whether a timer is due as sixth. */
	void (*set_timer)(struct buf *out, const char *counter, const char *due);
	/* Appends the routine that woven code calls where a counter is no longer below 0. It goes to __chord_due with the address
	 * of the counter and all registers unchanged, and has directives for the call frame. */
	void (*ask_due)(struct buf *out, const char *counter);
};

#endif
