/* SPDX-License-Identifier: MIT */
/* stack: the activations of a thread that stands still, from the unwind tables of what its process has loaded.
 *
 * Nothing is guessed: where there is no table the walk ends. */
#ifndef CHORD_STACK_H
#define CHORD_STACK_H

#include "machine/thread.h"

/* What the process is seen through. */
struct stack_source {
	void *ctx;
	bool (*read)(void *ctx, uint64_t addr, uint64_t *word);
	/* A descriptor of the file that is mapped at an address, which is closed here; -1: it cannot be had. */
	int (*open)(void *ctx, uint64_t addr);
};

struct stack;
/* NULL: it cannot be looked into. The source must stay, and the process must not change what it has loaded. */
struct stack *stack_open(pid_t pid, const struct stack_source *source);
void stack_close(struct stack *s); /* NULL is fine */

/* Calls f for each activation, from the innermost, until it gives false. pc: where it goes on; sp: its stack pointer
 * then; exact: it was interrupted there, by a signal or us, else it called. reg: NULL if only the PC and the stack
 * pointer are known, which are used in place of those in it. True: the outermost was reached, or f gave false. */
typedef bool stack_frame(void *arg, uint64_t pc, uint64_t sp, bool exact);
bool stack_walk(struct stack *s, const struct machine_thread *machine, const uint64_t *reg, uint64_t pc, uint64_t sp,
                stack_frame *f, void *arg);

#endif
