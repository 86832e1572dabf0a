/* SPDX-License-Identifier: MIT */
/* Which registers an instruction reads and writes: general, vector and mask registers, and each status flag. */
#include "machine/x86_64/x86_64.h"

/* Bits: general registers in the order of their encoding, vector registers, mask registers, flags. */
enum { VECTOR = 16, MASK = 48, FLAG = 56 };
static const ZydisAccessedFlagsMask flag[] = {
	ZYDIS_CPUFLAG_CF, ZYDIS_CPUFLAG_PF, ZYDIS_CPUFLAG_AF, ZYDIS_CPUFLAG_ZF, ZYDIS_CPUFLAG_SF, ZYDIS_CPUFLAG_OF,
	ZYDIS_CPUFLAG_DF,
};
enum { FLAGS = sizeof flag / sizeof *flag };

#define BITS(from, n) (((UINT64_C(1) << (n)) - 1) << (from))

static uint64_t
bit_of(ZydisRegister r)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	if (whole == ZYDIS_REGISTER_RSP)
		return 0;
	if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15)
		return UINT64_C(1) << (whole - ZYDIS_REGISTER_RAX);
	if (whole >= ZYDIS_REGISTER_ZMM0 && whole <= ZYDIS_REGISTER_ZMM31)
		return UINT64_C(1) << (VECTOR + whole - ZYDIS_REGISTER_ZMM0);
	return whole >= ZYDIS_REGISTER_K0 && whole <= ZYDIS_REGISTER_K7 ? UINT64_C(1) << (MASK + whole - ZYDIS_REGISTER_K0) : 0;
}

static uint64_t
flags_of(ZydisAccessedFlagsMask m)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < FLAGS; i++)
		bits |= m & flag[i] ? UINT64_C(1) << (FLAG + i) : 0;
	return bits;
}

/* Does a write leave a part of the register as it was? A write of 32 bits clears the other ones. For SSE instructions the 128 bits
 * are all of the register; what is above them is not looked at. */
static bool
is_partial(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(op->reg.value);

	if (class == ZYDIS_REGCLASS_GPR8 || class == ZYDIS_REGCLASS_GPR16)
		return true;
	return class == ZYDIS_REGCLASS_XMM && in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && op->size < 128;
}

static void
add_register(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, struct registers *out)
{
	uint64_t bit = bit_of(op->reg.value);
	bool unmasked = op->encoding == ZYDIS_OPERAND_ENCODING_MASK && op->reg.value == ZYDIS_REGISTER_K0;

	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ && !unmasked)
		out->read |= bit;
	if (!(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return;
	out->written |= bit;
	if (!(op->actions & ZYDIS_OPERAND_ACTION_WRITE) || is_partial(in, op) || x86_may_keep(in->mnemonic))
		out->read |= bit;
}

static void
add_operand(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, struct registers *out)
{
	if (op->type == ZYDIS_OPERAND_TYPE_REGISTER)
		add_register(in, op, out);
	else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
		out->read |= bit_of(op->mem.base) | bit_of(op->mem.index);
}

/* Shifts by a count that may be 0, and repeated comparisons of 0 items, leave the flags as they were. */
static bool
may_keep_flags(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	for (unsigned i = 0; i < in->operand_count; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER && op[i].reg.value == ZYDIS_REGISTER_RFLAGS)
			return !(op[i].actions & ZYDIS_OPERAND_ACTION_WRITE);
	return false;
}

static void
add_flags(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, struct registers *out)
{
	const ZydisAccessedFlags *f = in->cpu_flags;
	uint64_t written = f ? flags_of(f->modified | f->set_0 | f->set_1 | f->undefined) : 0;

	if (!f)
		return;
	out->read |= flags_of(f->tested) | (may_keep_flags(in, op) ? written : 0);
	out->written |= written;
}

/* If two operands are the same register, is the result the same whatever it holds? */
static bool
is_constant(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	unsigned last = in->operand_count_visible - 1u;

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_XOR: case ZYDIS_MNEMONIC_SUB: case ZYDIS_MNEMONIC_PXOR: case ZYDIS_MNEMONIC_XORPS:
	case ZYDIS_MNEMONIC_XORPD: case ZYDIS_MNEMONIC_VPXOR: case ZYDIS_MNEMONIC_VXORPS: case ZYDIS_MNEMONIC_VXORPD:
	case ZYDIS_MNEMONIC_PCMPEQB:
	case ZYDIS_MNEMONIC_PCMPEQD: case ZYDIS_MNEMONIC_VPCMPEQB: case ZYDIS_MNEMONIC_VPCMPEQD:
		break;
	default:
		return false;
	}
	return op[last].type == ZYDIS_OPERAND_TYPE_REGISTER && op[last - 1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       op[last].reg.value == op[last - 1].reg.value && !is_partial(in, &op[0]) &&
	       in->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX;
}

/* What the ABI says of registers after calls, and Linux of those after system calls. */
static void
add_callee(const ZydisDecodedInstruction *in, struct registers *out)
{
	uint64_t results = BITS(0, 1) | BITS(2, 1) | BITS(VECTOR, 2), flags = BITS(FLAG, FLAGS);

	if (in->meta.category == ZYDIS_CATEGORY_CALL) {
		out->written = results;
		out->lost = (X86_CLOBBERED | BITS(VECTOR, 32) | BITS(MASK, 8) | BITS(FLAG, FLAGS - 1)) & ~results;
	} else if (in->meta.category == ZYDIS_CATEGORY_SYSCALL || in->meta.category == ZYDIS_CATEGORY_INTERRUPT) {
		out->read |= BITS(0, 1);
		out->written = (out->written | BITS(0, 1)) & ~flags;
	}
}

/* Do its operands not say which registers it writes, or may it undo what other instructions have written? */
static bool
is_obscure(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_FXRSTOR: case ZYDIS_MNEMONIC_FXRSTOR64: case ZYDIS_MNEMONIC_XRSTOR: case ZYDIS_MNEMONIC_XRSTOR64:
	case ZYDIS_MNEMONIC_XRSTORS: case ZYDIS_MNEMONIC_XRSTORS64: case ZYDIS_MNEMONIC_XBEGIN: case ZYDIS_MNEMONIC_IRETQ:
		return true;
	default:
		return false;
	}
}

bool
x86_registers(const uint8_t *bytes, size_t n, struct registers *out)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];

	*out = (struct registers){0};
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(x86_decoder(), bytes, n, &in, op)) || is_obscure(in.mnemonic))
		return false;
	if (in.meta.category == ZYDIS_CATEGORY_NOP || in.meta.category == ZYDIS_CATEGORY_WIDENOP)
		return true;
	for (unsigned i = 0; i < in.operand_count; i++)
		add_operand(&in, &op[i], out);
	if (is_constant(&in, op))
		out->read = 0;
	add_flags(&in, op, out);
	add_callee(&in, out);
	if (in.mnemonic == ZYDIS_MNEMONIC_VZEROALL)
		out->written |= BITS(VECTOR, 16);
	return true;
}

const char *
x86_register_name(unsigned bit)
{
	static const char *const name[] = {
		"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
		"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
		"xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26",
		"xmm27", "xmm28", "xmm29", "xmm30", "xmm31",
		"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "cf", "pf", "af", "zf", "sf", "of", "df",
	};

	return bit < sizeof name / sizeof *name ? name[bit] : "?";
}
