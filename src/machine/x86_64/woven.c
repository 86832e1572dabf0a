/* SPDX-License-Identifier: MIT */
/* Reads the code that probe.c and the weaver wrote, from the program. */
#include "machine/x86_64/x86_64.h"

static bool
is_reg(const ZydisDecodedOperand *op, ZydisRegister r)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == r;
}

static bool
is_wide(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value >= ZYDIS_REGISTER_RAX &&
	       op->reg.value <= ZYDIS_REGISTER_R15;
}

uint64_t
x86_counter(const ZydisDecodedOperand *op, uint64_t next, const uint64_t *base)
{
	uint64_t at = next;

	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.segment != ZYDIS_REGISTER_GS ||
	    op->mem.index != ZYDIS_REGISTER_NONE)
		return 0;
	if (op->mem.base >= ZYDIS_REGISTER_RAX && op->mem.base <= ZYDIS_REGISTER_R15 && base)
		at = base[op->mem.base - ZYDIS_REGISTER_RAX];
	else if (op->mem.base != ZYDIS_REGISTER_RIP)
		return 0;
	return at ? at + (op->mem.disp.has_displacement ? (uint64_t)op->mem.disp.value : 0) : 0;
}

/* Is it a counter, %gs:N(%rip)? */
static bool
is_counter(const ZydisDecodedOperand *op)
{
	return x86_counter(op, 1, NULL) && op->size == 64;
}

/* Is it addb to the lowest byte of a base, by a step between cells? A counter that consists of cells is known by its first one. */
static bool
is_next_cell(const ZydisDecodedOperand *op)
{
	return op[0].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].size == 8 && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       (op[1].imm.value.s == 8 || op[1].imm.value.s == 8 * CHORD_SUMMED_STEP);
}

/* inc, dec or add of a number: to a counter, or to al, which turns seto's answer into the overflow flag again. An addition to a
 * register, or between a counter and a register, is for a query or for the sum of a call, which has a counter of its own. */
static bool
adds(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, uint64_t addr, const uint64_t *base,
     struct woven_insn *out)
{
	bool number = in->mnemonic == ZYDIS_MNEMONIC_ADD || in->mnemonic == ZYDIS_MNEMONIC_SUB;

	if (is_wide(&op[0]))
		return true;
	if (in->mnemonic == ZYDIS_MNEMONIC_ADD && is_next_cell(op))
		return true;
	if (number && op[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return is_counter(&op[0]) && is_wide(&op[1]);
	if (in->mnemonic == ZYDIS_MNEMONIC_SUB)
		return false;
	if (number && is_reg(&op[0], ZYDIS_REGISTER_AL))
		return op[1].imm.value.s == 127;
	out->counter = op[0].size == 64 ? x86_counter(&op[0], addr + in->length, base) : 0;
	if (!out->counter)
		return false;
	out->add = number ? op[1].imm.value.s : in->mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1;
	return true;
}

/* lea N(%reg), %reg: moves the stack pointer below the red zone or back, gives the answer to a query, or keeps where a register
 * begins to count. It may also load an address of the module, to set timers or for a base. */
static bool
moves_by(const ZydisDecodedOperand *op, struct woven_insn *out)
{
	if (is_wide(&op[0]) && op[1].mem.base == ZYDIS_REGISTER_RIP)
		return true;
	if (!is_wide(&op[0]) || op[1].mem.index != ZYDIS_REGISTER_NONE ||
	    (op[0].reg.value == ZYDIS_REGISTER_RSP) != (op[1].mem.base == ZYDIS_REGISTER_RSP))
		return false;
	if (op[0].reg.value == ZYDIS_REGISTER_RSP)
		out->sp = op[1].mem.disp.value;
	return true;
}

/* Is it -8(%rsp), where a register may be saved? */
static bool
is_below(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.base == ZYDIS_REGISTER_RSP && op->mem.disp.value == -8;
}

/* Is it a word below the stack pointer where a register that is lent waits? */
static bool
is_lent(const ZydisDecodedOperand *op)
{
	int64_t at = op->mem.disp.value;

	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.base == ZYDIS_REGISTER_RSP &&
	       op->mem.index == ZYDIS_REGISTER_NONE && at >= -PATH_ROOM && at < -PATH_ROOM + 8 * LENT_MOST;
}

/* Is it a move from a register to another or back, or of a counter or number to a register? A register that begins to count is
 * set to 0 by its lower half. */
static bool
moves(const ZydisDecodedOperand *op)
{
	if (op[0].type == ZYDIS_OPERAND_TYPE_REGISTER && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return is_wide(&op[0]) || (op[0].size == 32 && !op[1].imm.value.u);
	if (is_wide(&op[0]) && is_counter(&op[1]))
		return true;
	if ((is_lent(&op[0]) && is_wide(&op[1])) || (is_wide(&op[0]) && is_lent(&op[1])))
		return true;
	if (is_below(&op[0]) || is_below(&op[1]))
		return is_wide(&op[0]) || is_wide(&op[1]);
	return is_wide(&op[0]) && is_wide(&op[1]) &&
	       (is_reg(&op[0], ZYDIS_REGISTER_RAX) || is_reg(&op[1], ZYDIS_REGISTER_RAX));
}

static bool
jumps(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, uint64_t addr, struct woven_insn *out)
{
	out->jumps = in->mnemonic == ZYDIS_MNEMONIC_JMP;
	out->target = addr + in->length + (uint64_t)op[0].imm.value.s;
	return op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static bool
is_ours(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, uint64_t addr, const uint64_t *base,
        struct woven_insn *out)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_INC: case ZYDIS_MNEMONIC_DEC: case ZYDIS_MNEMONIC_ADD: case ZYDIS_MNEMONIC_SUB:
		return adds(in, op, addr, base, out);
	case ZYDIS_MNEMONIC_LEA:
		return moves_by(op, out);
	case ZYDIS_MNEMONIC_MOV:
		return moves(op);
	case ZYDIS_MNEMONIC_PUSH: case ZYDIS_MNEMONIC_POP:
		out->sp = in->mnemonic == ZYDIS_MNEMONIC_PUSH ? -8 : 8;
		return in->mnemonic == ZYDIS_MNEMONIC_PUSH || is_wide(&op[0]);
	case ZYDIS_MNEMONIC_PUSHFQ: case ZYDIS_MNEMONIC_POPFQ:
		out->sp = in->mnemonic == ZYDIS_MNEMONIC_PUSHFQ ? -8 : 8;
		return true;
	case ZYDIS_MNEMONIC_SETO:
		return is_reg(&op[0], ZYDIS_REGISTER_AL);
	/* The loop of a query, which ends. */
	case ZYDIS_MNEMONIC_MOVSX: case ZYDIS_MNEMONIC_IMUL: case ZYDIS_MNEMONIC_CMP: case ZYDIS_MNEMONIC_JNZ:
		return true;
	case ZYDIS_MNEMONIC_SAR:
		return is_wide(&op[0]) && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	case ZYDIS_MNEMONIC_LAHF: case ZYDIS_MNEMONIC_SAHF: case ZYDIS_MNEMONIC_NOP:
		return true;
	/* A call of the runtime that comes back, or a jump over it. */
	case ZYDIS_MNEMONIC_JNS: case ZYDIS_MNEMONIC_JS:
	case ZYDIS_MNEMONIC_JMP: case ZYDIS_MNEMONIC_CALL:
		return jumps(in, op, addr, out);
	default:
		return false;
	}
}

bool
x86_woven(const uint8_t *bytes, size_t n, uint64_t addr, const uint64_t *base, struct woven_insn *out)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(x86_decoder(), bytes, n, &in, op)))
		return false;
	*out = (struct woven_insn){.len = in.length};
	return is_ours(&in, op, addr, base, out);
}

bool
x86_traces(const uint8_t *bytes, size_t n, uint64_t addr, struct woven_insn *out)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(x86_decoder(), bytes, n, &in, op)))
		return false;
	*out = (struct woven_insn){.len = in.length};
	if (in.meta.category == ZYDIS_CATEGORY_RET)
		return false;
	if (in.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
		return jumps(&in, op, addr, out);
	out->reserves = in.mnemonic == ZYDIS_MNEMONIC_ADD && op[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	                op[0].mem.segment == ZYDIS_REGISTER_GS && op[0].mem.base != ZYDIS_REGISTER_RIP &&
	                op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[1].imm.value.s == sizeof(uint32_t);
	out->asks = in.mnemonic == ZYDIS_MNEMONIC_CMP && is_reg(&op[0], ZYDIS_REGISTER_RDX) && is_reg(&op[1], ZYDIS_REGISTER_RSP);
	return true;
}
