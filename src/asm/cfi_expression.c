/* SPDX-License-Identifier: MIT */
/* What expressions of DWARF read, as directives give them byte by byte. */
#include "asm/cfi_expression.h"

#include "cfg/in.h"

enum op {
	OP_ADDR = 0x03, OP_DEREF = 0x06, OP_CONST1U = 0x08, OP_CONST8S = 0x0f, OP_CONSTU = 0x10, OP_CONSTS = 0x11, OP_DUP = 0x12,
	OP_OVER = 0x14, OP_PICK = 0x15, OP_SWAP = 0x16, OP_ROT = 0x17, OP_ABS = 0x19, OP_PLUS = 0x22, OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24, OP_XOR = 0x27, OP_EQ = 0x29, OP_NE = 0x2e, OP_LIT0 = 0x30, OP_LIT31 = 0x4f, OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f, OP_DEREF_SIZE = 0x94, OP_NOP = 0x96,
};

static uint8_t
byte(struct in *in)
{
	uint8_t b;

	in_bytes(in, &b, 1);
	return b;
}

/* Signed LEB128. */
static int64_t
signed_number(struct in *in)
{
	const uint8_t *from = in->at;
	uint64_t v = in_uleb(in);
	size_t bits = 7 * (size_t)(in->at - from);

	if (!in->bad && in->at[-1] & 0x40 && bits < 64)
		v |= UINT64_MAX << bits;
	return (int64_t)v;
}

static bool
is_between(uint8_t op, enum op first, enum op last)
{
	return op >= first && op <= last;
}

static bool
takes_nothing(uint8_t op)
{
	return op == OP_DEREF || is_between(op, OP_DUP, OP_OVER) || op == OP_SWAP || op == OP_ROT ||
	       is_between(op, OP_ABS, OP_PLUS) || is_between(op, OP_SHL, OP_XOR) || is_between(op, OP_EQ, OP_NE) ||
	       is_between(op, OP_LIT0, OP_LIT31) || op == OP_NOP;
}

/* Passes the operand of an operation that reads no register. */
static void
pass_operand(struct in *in, uint8_t op)
{
	uint8_t fixed[8];

	if (takes_nothing(op))
		return;
	if (op == OP_CONSTU || op == OP_CONSTS || op == OP_PLUS_UCONST)
		in_uleb(in);
	else if (op == OP_PICK || op == OP_DEREF_SIZE)
		byte(in);
	else if (is_between(op, OP_CONST1U, OP_CONST8S))
		in_bytes(in, fixed, (size_t)1 << (op - OP_CONST1U) / 2);
	else if (op == OP_ADDR)
		in_bytes(in, fixed, 8);
	else
		in_bad(in, "an operation is not known");
}

/* The operation `op` reads a register; its operand follows. */
static void
read_register(const struct machine_unwind *m, struct in *in, uint8_t op, bool first, struct cfi_expression *x)
{
	unsigned column = op - OP_BREG0;
	int64_t off = signed_number(in);

	if (m->general(column) < 0 || (column == m->sp && !first)) {
		in_bad(in, "it reads a register in a way that is not known");
		return;
	}
	x->regs |= 1u << m->general(column);
	if (column == m->sp) {
		x->by_sp = true;
		x->rule = (struct frame_rule){.off = off, .rest = in->at, .nrest = in_left(in)};
	}
}

bool
cfi_expression_read(const struct machine_unwind *m, const uint8_t *bytes, size_t n, struct cfi_expression *out)
{
	struct in in = {.at = bytes, .end = bytes + n};

	*out = (struct cfi_expression){.bytes = bytes, .n = n};
	while (in_left(&in)) {
		bool first = in.at == bytes;
		uint8_t op = byte(&in);

		if (is_between(op, OP_BREG0, OP_BREG31))
			read_register(m, &in, op, first, out);
		else
			pass_operand(&in, op);
	}
	return n && !in.bad;
}

bool
cfi_expression_loads(const struct machine_unwind *m, const struct cfi_expression *x, struct cfi_frame *out)
{
	struct in in = {.at = x->bytes, .end = x->bytes + x->n};
	uint8_t op = byte(&in);
	int64_t off;

	if (!is_between(op, OP_BREG0, OP_BREG31))
		return false;
	off = signed_number(&in);
	if (byte(&in) != OP_DEREF || in.bad || in_left(&in))
		return false;
	*out = (struct cfi_frame){(uint8_t)m->general(op - OP_BREG0), true, off};
	return true;
}
