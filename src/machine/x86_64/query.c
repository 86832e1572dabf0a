/* SPDX-License-Identifier: MIT */
/* Answers to queries by chord.h, and the routines for timers. */
#include "machine/x86_64/x86_64.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* "rax" or "r12", from the name of the register in an instruction of 32 bits. The operands end with it (AT&T) or begin with it
 * (Intel). */
static bool
register_of(struct str operands, char out[QUERY_REG_SIZE])
{
	const char *at = operands.at, *end = operands.at + operands.n, *percent = memrchr(at, '%', operands.n);
	size_t n = 0;

	if (percent)
		at = percent + 1;
	while (at + n < end && isalnum((unsigned char)at[n]) && n < 6)
		n++;
	if (n < 2 || n > 5)
		return false;
	memcpy(out, at, n);
	out[n] = 0;
	if (*out == 'e')
		*out = 'r';
	else if (*out == 'r' && out[n - 1] == 'd')
		out[n - 1] = 0;
	return *out == 'r';
}

/* Is it `movl $0, %eax` or `mov eax, 0`? */
static bool
is_blank(struct str word, struct str operands, bool intel, char reg[QUERY_REG_SIZE])
{
	size_t i;

	if (!str_is(word, intel ? "mov" : "movl") || !register_of(operands, reg))
		return false;
	if (!intel)
		return str_starts(operands, "$0, %") && operands.n <= strlen("$0, %r10d");
	for (i = 0; i < operands.n && isalnum((unsigned char)operands.at[i]); i++)
		;
	return str_is((struct str){operands.at + i, operands.n - i}, ", 0");
}

enum { LOOP_REGS = 3 };

/* The loop saves registers below the red zone. */
static void
put_loop(struct buf *b, const struct query_sum *q, const char *reg)
{
	static const char *const all[] = {"rax", "rcx", "rdx", "rsi"};
	const char *r[LOOP_REGS];

	for (uint32_t i = 0, k = 0; k < LOOP_REGS; i++)
		if (strcmp(all[i], reg) != 0)
			r[k++] = all[i];
	buf_printf(b, "\tleaq\t-%d(%%rsp), %%rsp\n", RED_ZONE);
	x86_stack_moved(b, q->frame, 0, RED_ZONE);
	for (uint32_t k = 0; k < LOOP_REGS; k++) {
		buf_printf(b, "\tpushq\t%%%s\n", r[k]);
		x86_stack_moved(b, q->frame, RED_ZONE + 8 * k, RED_ZONE + 8 * k + 8);
	}
	buf_printf(b, "\tleaq\t%s(%%rip), %%%s\n\tleaq\t%s(%%rip), %%%s\n\tmovq\t$0, %%%s\n", q->numbers, r[0], q->factors, r[1],
	           reg);
	buf_printf(b, "%s:\tmovsbq\t(%%%s), %%%s\n\timulq\t%%gs:(%%%s), %%%s\n", q->loop, r[1], r[2], r[0], r[2]);
	buf_printf(b, "\taddq\t%%%s, %%%s\n", r[2], reg);
	buf_printf(b, "\taddq\t$8, %%%s\n\tincq\t%%%s\n\tcmpb\t$%d, (%%%s)\n\tjne\t%s\n", r[0], r[1], QUERY_FACTORS_END, r[1],
	           q->loop);
	for (uint32_t k = LOOP_REGS; k-- > 0;) {
		buf_printf(b, "\tpopq\t%%%s\n", r[k]);
		x86_stack_moved(b, q->frame, RED_ZONE + 8 * k + 8, RED_ZONE + 8 * k);
	}
	buf_printf(b, "\tleaq\t%d(%%rsp), %%rsp\n", RED_ZONE);
	x86_stack_moved(b, q->frame, RED_ZONE, 0);
}

static void
put_query(struct buf *b, const char *reg, const struct query_sum *q)
{
	if (q->factors) {
		put_loop(b, q, reg);
	} else {
		buf_printf(b, "\tmovq\t%%gs:%s(%%rip), %%%s\n", q->numbers, reg);
		for (uint32_t i = q->step; i < q->n; i += q->step)
			buf_printf(b, "\taddq\t%%gs:%s+%u(%%rip), %%%s\n", q->numbers, i * 8, reg);
	}
	if (q->more)
		buf_printf(b, "\tleaq\t%" PRId64 "(%%%s), %%%s\n", q->more, reg, reg);
}

static void
put_address(struct buf *out, const char *reg, const char *label)
{
	buf_printf(out, "\tleaq\t%s(%%rip), %%%s\n", label, reg);
}

static void
put_number(struct buf *out, const char *reg, unsigned n)
{
	buf_printf(out, "\tmovq\t$%u, %%%s\n", n, reg);
}

static void
set_timer(struct buf *out, const char *counter, const char *due)
{
	buf_printf(out, "\tleaq\t%s(%%rip), %%r8\n\tleaq\t%s(%%rip), %%r9\n\tjmp\t__chord_timer\n", counter, due);
}

/* The counter's address goes onto the stack after the return address of the stub's call. */
static void
ask_due(struct buf *out, const char *counter)
{
	buf_str(out, "\t.cfi_startproc\n\tpushq\t%rax\n\t.cfi_def_cfa_offset 16\n");
	buf_printf(out, "\tleaq\t%s(%%rip), %%rax\n\txchgq\t%%rax, (%%rsp)\n\tjmp\t__chord_due\n\t.cfi_endproc\n", counter);
}

const struct machine_query x86_query = {
	.is_blank = is_blank, .sum = put_query, .address = put_address, .number = put_number, .set_timer = set_timer,
	.ask_due = ask_due,
};
