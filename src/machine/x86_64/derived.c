/* SPDX-License-Identifier: MIT */
/* Which registers have addresses on the stack, derived from what instructions do. */
#include "machine/x86_64/x86_64.h"

/* General registers are bits 0 to 15, the low halves of vector registers 16 to 31. */
static int
number(ZydisRegister r)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15)
		return (int)(whole - ZYDIS_REGISTER_RAX);
	return whole >= ZYDIS_REGISTER_ZMM0 && whole <= ZYDIS_REGISTER_ZMM15 ? (int)(whole - ZYDIS_REGISTER_ZMM0) + 16 : -1;
}

static bool
has(uint32_t regs, ZydisRegister r)
{
	int i = number(r);

	return i >= 0 && regs >> i & 1;
}

static void
set(uint32_t *regs, ZydisRegister r, bool derived)
{
	int i = number(r);

	if (i >= 0)
		*regs = (*regs & ~(1u << i)) | (uint32_t)derived << i;
}

static bool
is_register(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static void
forget(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, uint32_t *regs)
{
	for (unsigned i = 0; i < in->operand_count; i++)
		if (is_register(&op[i]) && op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			set(regs, op[i].reg.value, false);
}

static void
exchange(const ZydisDecodedOperand *op, uint32_t was, uint32_t *regs)
{
	for (unsigned i = 0; i < 2; i++)
		if (is_register(&op[i]))
			set(regs, op[i].reg.value, is_register(&op[!i]) && has(was, op[!i].reg.value));
}

/* Handles instructions of which more is known than the registers that they write. */
static void
refine(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, uint32_t was, uint32_t *regs)
{
	bool to = is_register(&op[0]), from = in->operand_count > 1 && is_register(&op[1]) && has(was, op[1].reg.value);

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVQ:
		if (to)
			set(regs, op[0].reg.value, from && op[0].size >= 64);
		break;
	case ZYDIS_MNEMONIC_LEA:
		set(regs, op[0].reg.value, has(was, op[1].mem.base) || has(was, op[1].mem.index));
		break;
	case ZYDIS_MNEMONIC_ADD: case ZYDIS_MNEMONIC_SUB: case ZYDIS_MNEMONIC_AND: case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_INC: case ZYDIS_MNEMONIC_DEC:
		if (to)
			set(regs, op[0].reg.value, has(was, op[0].reg.value) || (in->mnemonic == ZYDIS_MNEMONIC_ADD && from));
		break;
	case ZYDIS_MNEMONIC_XCHG: exchange(op, was, regs); break;
	case ZYDIS_MNEMONIC_LEAVE: set(regs, ZYDIS_REGISTER_RSP, has(was, ZYDIS_REGISTER_RBP)); break;
	default:
		/* Pushes, pops, calls and returns move the stack pointer by words. */
		if (!to || op[0].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN || number(op[0].reg.value) != X86_SP)
			set(regs, ZYDIS_REGISTER_RSP, has(was, ZYDIS_REGISTER_RSP));
	}
}

void
x86_derived(const uint8_t *bytes, size_t n, uint32_t *regs)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	uint32_t was = *regs;

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(x86_decoder(), bytes, n, &in, op))) {
		*regs = 0;
		return;
	}
	forget(&in, op, regs);
	refine(&in, op, was, regs);
}
