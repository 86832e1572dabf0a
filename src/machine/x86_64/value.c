/* SPDX-License-Identifier: MIT */
/* How an instruction computes what it leaves in general registers. */
#include "machine/x86_64/x86_64.h"

static uint16_t
bit_of(ZydisRegister r)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return 0;
	return (uint16_t)(1u << (whole - ZYDIS_REGISTER_RAX));
}

static bool
is_register(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && bit_of(op->reg.value);
}

/* Notes memory or a number as an operand of a sum. */
static void
take_operand(const ZydisDecodedOperand *op, struct value *out)
{
	out->loads |= op->type == ZYDIS_OPERAND_TYPE_MEMORY;
	out->number |= op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->imm.value.s;
}

/* A move from op[1], perhaps extended. */
static void
move(const ZydisDecodedOperand *op, struct value *out)
{
	if (op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		out->how = VALUE_SUM;
		out->number = true;
	} else if (op[1].type == ZYDIS_OPERAND_TYPE_MEMORY) {
		out->how = VALUE_LOADED;
	} else if (is_register(&op[1]) && op[1].size >= 32) {
		out->how = VALUE_SAME;
		out->plus = bit_of(op[1].reg.value);
	}
}

static void
address(const ZydisDecodedOperand *op, struct value *out)
{
	const ZydisDecodedOperandMem *m = &op[1].mem;

	out->how = VALUE_SUM;
	out->plus = (uint16_t)(bit_of(m->base) | bit_of(m->index));
	out->scaled = m->scale > 1 || bit_of(m->base) == bit_of(m->index) ? bit_of(m->index) : 0;
	out->number = m->base != ZYDIS_REGISTER_RIP && m->disp.has_displacement && m->disp.value;
}

static void
sum(const ZydisDecodedOperand *op, bool minus, struct value *out)
{
	uint16_t other = is_register(&op[1]) ? bit_of(op[1].reg.value) : 0;

	if (out->to == 0)
		return;
	out->how = minus ? VALUE_DIFFERENCE : VALUE_SUM;
	out->plus = (uint16_t)(out->to | (minus ? 0 : other));
	out->minus = minus ? other : 0;
	out->scaled = !minus && other == out->to ? other : 0;
	take_operand(&op[1], out);
}

static bool
is_whole(const ZydisDecodedOperand *op)
{
	return is_register(op) && op->size == 64;
}

/* Is it `sbb %r, %r` or `sar $63, %r`? All bits of the result are a condition, or the sign. */
static bool
is_mask(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	if (!is_whole(&op[0]))
		return false;
	if (in->mnemonic == ZYDIS_MNEMONIC_SAR)
		return op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[1].imm.value.u == 63;
	return op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[1].reg.value == op[0].reg.value;
}

static void
find_how(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, struct value *out)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVSX: case ZYDIS_MNEMONIC_MOVSXD: case ZYDIS_MNEMONIC_MOVZX:
		move(op, out);
		break;
	case ZYDIS_MNEMONIC_CDQE:
		out->how = VALUE_SAME;
		out->plus = out->to;
		break;
	case ZYDIS_MNEMONIC_POP:
		out->how = VALUE_LOADED;
		break;
	case ZYDIS_MNEMONIC_LEA:
		address(op, out);
		break;
	case ZYDIS_MNEMONIC_ADD:
		sum(op, false, out);
		break;
	case ZYDIS_MNEMONIC_SUB:
		sum(op, true, out);
		break;
	case ZYDIS_MNEMONIC_SBB: case ZYDIS_MNEMONIC_SAR:
		if (is_mask(in, op))
			out->how = VALUE_MASK;
		break;
	case ZYDIS_MNEMONIC_AND: case ZYDIS_MNEMONIC_OR:
		if (is_whole(&op[0]) && is_whole(&op[1])) {
			out->how = VALUE_MASKED;
			out->plus = (uint16_t)(bit_of(op[0].reg.value) | bit_of(op[1].reg.value));
		}
		break;
	case ZYDIS_MNEMONIC_XCHG:
		out->how = VALUE_EITHER;
		break;
	default:
		if (in->meta.category == ZYDIS_CATEGORY_CMOV)
			out->how = VALUE_EITHER;
	}
}

/* The register that the instruction pushes or stores, as a bit; 0: none. */
static uint16_t
given_away(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	bool stores = in->mnemonic == ZYDIS_MNEMONIC_MOV && op[0].type == ZYDIS_OPERAND_TYPE_MEMORY;

	return in->mnemonic == ZYDIS_MNEMONIC_PUSH && is_register(&op[0]) ? bit_of(op[0].reg.value) :
	       stores && is_register(&op[1]) ? bit_of(op[1].reg.value) : 0;
}

bool
x86_value(const uint8_t *bytes, size_t n, struct value *out)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	bool leads;

	*out = (struct value){0};
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(x86_decoder(), bytes, n, &in, op)))
		return false;
	for (unsigned i = 0; i < in.operand_count; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER && op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			out->to |= bit_of(op[i].reg.value) & (uint16_t)~X86_RSP;
	leads = in.meta.category == ZYDIS_CATEGORY_UNCOND_BR || in.meta.category == ZYDIS_CATEGORY_CALL;
	if (leads && is_register(&op[0]))
		out->led = bit_of(op[0].reg.value);
	out->given = given_away(&in, op);
	if (out->to)
		find_how(&in, op, out);
	return true;
}
