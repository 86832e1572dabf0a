/* SPDX-License-Identifier: MIT */
/* What instructions do to registers whose distance from the frame is known. */
#include "machine/x86_64/x86_64.h"

/* The number of the bit of a general register of 64 bits, or -1. */
static int
wide(const ZydisDecodedOperand *op)
{
	ZydisRegister r = op->type == ZYDIS_OPERAND_TYPE_REGISTER ? op->reg.value : ZYDIS_REGISTER_NONE;

	return r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15 ? (int)(r - ZYDIS_REGISTER_RAX) : -1;
}

static void
set(struct frame_regs *f, int reg, bool known, int64_t at)
{
	f->known = (uint16_t)((f->known & ~(1u << reg)) | (unsigned)known << reg);
	f->at[reg] = at;
}

static bool
is_known(const struct frame_regs *f, int reg)
{
	return reg >= 0 && f->known >> reg & 1;
}

/* Forgets all registers that the instruction writes. */
static void
forget(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, struct frame_regs *f)
{
	for (unsigned i = 0; i < in->operand_count; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER && op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) {
			ZydisRegister r = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op[i].reg.value);

			if (r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15)
				f->known &= (uint16_t)~(1u << (r - ZYDIS_REGISTER_RAX));
		}
}

/* Handles lea: the address is known if it is a known register plus a number. */
static void
load_address(const ZydisDecodedOperand *op, struct frame_regs *f)
{
	int to = wide(&op[0]);
	ZydisDecodedOperand base = {.type = ZYDIS_OPERAND_TYPE_REGISTER};
	int64_t disp = op[1].mem.disp.has_displacement ? op[1].mem.disp.value : 0;
	int from;

	base.reg.value = op[1].mem.base;
	from = op[1].mem.index == ZYDIS_REGISTER_NONE ? wide(&base) : -1;
	set(f, to, is_known(f, from), from < 0 ? 0 : f->at[from] + disp);
}

/* Sets the stack pointer to its distance `was` plus n, whatever else the instruction does to it. */
static void
move_sp(struct frame_regs *f, const struct frame_regs *was, int64_t n)
{
	set(f, X86_SP, is_known(was, X86_SP), was->at[X86_SP] + n);
}

static void
add(const ZydisDecodedOperand *op, int sign, const struct frame_regs *was, struct frame_regs *f)
{
	int to = wide(&op[0]);

	if (to >= 0 && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		set(f, to, is_known(was, to), was->at[to] + sign * op[1].imm.value.s);
}

/* Handles instructions of which more is known than the registers that they write. */
static void
refine(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, const struct frame_regs *was, struct frame_regs *f)
{
	int to = wide(&op[0]), from = wide(&op[1]), word = in->operand_width / 8;

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH: case ZYDIS_MNEMONIC_PUSHF: case ZYDIS_MNEMONIC_PUSHFQ: move_sp(f, was, -word); break;
	case ZYDIS_MNEMONIC_POPF: case ZYDIS_MNEMONIC_POPFQ: move_sp(f, was, word); break;
	case ZYDIS_MNEMONIC_POP:
		if (to != X86_SP)
			move_sp(f, was, word);
		break;
	case ZYDIS_MNEMONIC_CALL: move_sp(f, was, -8); break; /* it only pushes, if it calls the next instruction */
	case ZYDIS_MNEMONIC_ADD: add(op, 1, was, f); break;
	case ZYDIS_MNEMONIC_SUB: add(op, -1, was, f); break;
	case ZYDIS_MNEMONIC_LEAVE: set(f, X86_SP, is_known(was, X86_FP), was->at[X86_FP] + 8); break;
	case ZYDIS_MNEMONIC_LEA:
		if (to >= 0) {
			*f = *was;
			load_address(op, f);
		}
		break;
	case ZYDIS_MNEMONIC_MOV:
		if (to >= 0 && from >= 0)
			set(f, to, is_known(was, from), was->at[from]);
		break;
	default: break;
	}
}

void
x86_frame(const uint8_t *bytes, size_t n, struct frame_regs *f)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	struct frame_regs was = *f;

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(x86_decoder(), bytes, n, &in, op))) {
		f->known = 0;
		return;
	}
	forget(&in, op, f);
	if (in.operand_count)
		refine(&in, op, &was, f);
}
