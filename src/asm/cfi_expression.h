/* SPDX-License-Identifier: MIT */
/* Expressions of DWARF in call frame state: what they read, and how the stack pointer may move under them. */
#ifndef CHORD_ASM_CFI_EXPRESSION_H
#define CHORD_ASM_CFI_EXPRESSION_H

#include "asm/asm.h"

struct cfi_expression {
	const uint8_t *bytes;
	size_t n;
	uint32_t regs;           /* general registers that it reads */
	bool by_sp;              /* it reads the stack pointer, only at its beginning, as `rule` has it */
	struct frame_rule rule;
};

/* Reads an expression, whose bytes have to stay. False: an operation is not known, or the stack pointer is read in some other way
 * than `rule` can say. */
bool cfi_expression_read(const struct machine_unwind *m, const uint8_t *bytes, size_t n, struct cfi_expression *out);

/* Is its value the word in memory at a register plus a number? */
bool cfi_expression_loads(const struct machine_unwind *m, const struct cfi_expression *x, struct cfi_frame *out);

#endif
