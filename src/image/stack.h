/* SPDX-License-Identifier: MIT */
/* stack: the activations of a stopped thread, by the unwind tables of the files that its process has loaded.
 *
 * Nothing is guessed: the walk ends where there is no table. */
#ifndef CHORD_STACK_H
#define CHORD_STACK_H

#include "machine/thread.h"

/* How the process is read. */
struct stack_source {
	void *ctx;
	/* Reads a word of its memory. False: not there. */
	bool (*read)(void *ctx, uint64_t addr, uint64_t *word);
	/* A descriptor of the file that is mapped at an address; stack.c closes it. -1: not available. */
	int (*open)(void *ctx, uint64_t addr);
};

struct stack;
/* Opens the stacks of a process. NULL: not possible. *source has to stay, and the process must not load or unload files
 * meanwhile. */
struct stack *stack_open(pid_t pid, const struct stack_source *source);
void stack_close(struct stack *s); /* NULL is allowed */

/* Calls f for each activation, from the innermost, until f returns false. pc: where the activation continues; sp: its stack pointer
 * then; exact: it was interrupted at pc (by a signal, or because we stopped it), otherwise it is in a call. reg: the thread's
 * registers; NULL if only pc and sp are known, which replace those in reg in either case. True: the outermost activation was
 * reached, or f returned false. */
typedef bool stack_frame(void *arg, uint64_t pc, uint64_t sp, bool exact);
bool stack_walk(struct stack *s, const struct machine_thread *machine, const uint64_t *reg, uint64_t pc, uint64_t sp,
                stack_frame *f, void *arg);

#endif
