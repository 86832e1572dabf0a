/* SPDX-License-Identifier: MIT */
/* What an instruction reads and writes, and where it leads, from Zydis. */
#include "machine/x86_64/x86_64.h"

static uint8_t
flag_mask(ZydisAccessedFlagsMask m)
{
	return (uint8_t)((m & ZYDIS_CPUFLAG_CF ? X86_CF : 0) | (m & ZYDIS_CPUFLAG_PF ? X86_PF : 0) |
	                 (m & ZYDIS_CPUFLAG_AF ? X86_AF : 0) | (m & ZYDIS_CPUFLAG_ZF ? X86_ZF : 0) |
	                 (m & ZYDIS_CPUFLAG_SF ? X86_SF : 0) | (m & ZYDIS_CPUFLAG_OF ? X86_OF : 0));
}

/* Shifts by a count that may be 0, and repeated comparisons of 0 items, leave the flags unchanged. */
static bool
may_keep_flags(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_SHL: case ZYDIS_MNEMONIC_SHR: case ZYDIS_MNEMONIC_SAR: case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR: case ZYDIS_MNEMONIC_RCL: case ZYDIS_MNEMONIC_RCR:
		return !(op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && (op[1].imm.value.u & 31));
	case ZYDIS_MNEMONIC_SHLD: case ZYDIS_MNEMONIC_SHRD:
		return !(op[2].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && (op[2].imm.value.u & 31));
	case ZYDIS_MNEMONIC_CMPSB: case ZYDIS_MNEMONIC_CMPSW: case ZYDIS_MNEMONIC_CMPSD: case ZYDIS_MNEMONIC_CMPSQ:
	case ZYDIS_MNEMONIC_SCASB: case ZYDIS_MNEMONIC_SCASW: case ZYDIS_MNEMONIC_SCASD: case ZYDIS_MNEMONIC_SCASQ:
		return true;
	default:
		return false;
	}
}

static void
read_flags(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, struct insn *out)
{
	const ZydisAccessedFlags *f = in->cpu_flags;

	if (!f)
		return;
	out->flags_read = flag_mask(f->tested);
	/* A flag that is written only in some cases is both "modified" and "tested". */
	out->flags_kill = flag_mask(f->modified | f->set_0 | f->set_1 | f->undefined);
	if (may_keep_flags(in, op))
		out->flags_kill = 0;
}

static uint16_t
reg_bit(ZydisRegister r)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return 0;
	return (uint16_t)(1u << (whole - ZYDIS_REGISTER_RAX));
}

static bool
is_wide(ZydisRegister r)
{
	return (r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15) || (r >= ZYDIS_REGISTER_EAX && r <= ZYDIS_REGISTER_R15D);
}

/* Does it set a register to zero, whatever it held? */
static bool
is_zeroing(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	return (in->mnemonic == ZYDIS_MNEMONIC_XOR || in->mnemonic == ZYDIS_MNEMONIC_SUB) &&
	       op[0].type == ZYDIS_OPERAND_TYPE_REGISTER && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       op[0].reg.value == op[1].reg.value && is_wide(op[0].reg.value);
}

/* Notes what an operand tells of memory below the stack pointer. */
static void
look_below(const ZydisDecodedOperand *op, bool address, struct insn *out)
{
	int64_t at = op->mem.disp.has_displacement ? op->mem.disp.value : 0;

	if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		bool read = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ, written = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;

		if (op->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN && reg_bit(op->reg.value) == X86_RSP && read && !written)
			out->below = INT8_MIN;
		return;
	}
	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || (reg_bit(op->mem.base) != X86_RSP && reg_bit(op->mem.index) != X86_RSP))
		return;
	if (op->mem.index != ZYDIS_REGISTER_NONE || at < -INT8_MAX || (address && at < 0))
		out->below = INT8_MIN;
	else if (at < out->below)
		out->below = (int8_t)at;
}

/* May the instruction leave its destination unchanged? Searches do if there is nothing to find, and reads of the shadow stack's
 * pointer do if there is no such stack. */
bool
x86_may_keep(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_BSF || m == ZYDIS_MNEMONIC_BSR || m == ZYDIS_MNEMONIC_RDSSPD || m == ZYDIS_MNEMONIC_RDSSPQ;
}

static void
read_operand(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, struct insn *out)
{
	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		out->regs_read |= reg_bit(op->mem.base) | reg_bit(op->mem.index);
		if (op->mem.base == ZYDIS_REGISTER_RIP && op->mem.disp.has_displacement) {
			out->attr |= INSN_MENTIONS;
			out->pc_at = in->raw.disp.offset;
			out->target = (uint32_t)(out->off + out->len + (uint64_t)op->mem.disp.value);
		}
	} else if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		uint16_t bit = reg_bit(op->reg.value);

		if (op->actions & (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD))
			out->regs_read |= bit;
		if ((op->actions & ZYDIS_OPERAND_ACTION_WRITE) && is_wide(op->reg.value) && !x86_may_keep(in->mnemonic))
			out->regs_kill |= bit;
		else if (op->actions & (ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE))
			out->regs_read |= bit; /* the part that it does not write is kept */
	}
}

static void
set_target(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, struct insn *out)
{
	if (op[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !op[0].imm.is_relative)
		return;
	out->attr |= INSN_REL;
	out->target = (uint32_t)(out->off + in->length + (uint64_t)op[0].imm.value.s);
}

static bool
is_near_only(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_JCXZ || m == ZYDIS_MNEMONIC_JECXZ || m == ZYDIS_MNEMONIC_JRCXZ ||
	       m == ZYDIS_MNEMONIC_LOOP || m == ZYDIS_MNEMONIC_LOOPE || m == ZYDIS_MNEMONIC_LOOPNE;
}

/* xend and xabort are in the categories of jumps, but lead nowhere: an aborted transaction leaves nothing, and the processor goes
 * on as if its xbegin had jumped. */
static bool
is_of_transaction(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_XEND || m == ZYDIS_MNEMONIC_XABORT;
}

static void
classify_jump(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, struct insn *out)
{
	bool direct = op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	if (in->meta.category == ZYDIS_CATEGORY_COND_BR) {
		out->cls = CHORD_INSN_BRANCH;
		if (is_near_only(in->mnemonic))
			out->attr |= INSN_NEAR;
		set_target(in, op, out);
	} else if (in->meta.category == ZYDIS_CATEGORY_CALL) {
		out->cls = direct ? CHORD_INSN_CALL : CHORD_INSN_ICALL;
		set_target(in, op, out);
	} else {
		out->cls = direct ? CHORD_INSN_JUMP : CHORD_INSN_IJUMP;
		out->attr &= (uint16_t)~INSN_FALLS;
		set_target(in, op, out);
	}
}

static bool
is_string(const ZydisDecodedInstruction *in)
{
	return in->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

/* The frame pointer is assumed to be that of this frame, because epilogues restore the stack pointer from it. */
static void
classify_move(const ZydisDecodedOperand *op, struct insn *out)
{
	bool loads = op[1].type == ZYDIS_OPERAND_TYPE_MEMORY;

	if (op[0].type != ZYDIS_OPERAND_TYPE_REGISTER || !is_wide(op[0].reg.value))
		return;
	if (loads)
		out->attr |= INSN_LOADS;
	if (op[0].reg.value == ZYDIS_REGISTER_RSP &&
	    (loads || (op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[1].reg.value != ZYDIS_REGISTER_RBP)))
		out->attr |= INSN_SETS_SP;
}

static void
classify(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, struct insn *out)
{
	out->attr |= INSN_FALLS;
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_COND_BR: case ZYDIS_CATEGORY_UNCOND_BR: case ZYDIS_CATEGORY_CALL:
		if (!is_of_transaction(in->mnemonic))
			classify_jump(in, op, out);
		return;
	case ZYDIS_CATEGORY_RET: case ZYDIS_CATEGORY_SYSRET:
		out->cls = CHORD_INSN_RET;
		out->attr &= (uint16_t)~INSN_FALLS;
		return;
	case ZYDIS_CATEGORY_SYSCALL: case ZYDIS_CATEGORY_INTERRUPT:
		out->cls = CHORD_INSN_SYSCALL;
		return;
	case ZYDIS_CATEGORY_PUSH: case ZYDIS_CATEGORY_POP:
		if (in->mnemonic == ZYDIS_MNEMONIC_PUSH || in->mnemonic == ZYDIS_MNEMONIC_POP)
			out->attr |= INSN_PUSHES;
		return;
	case ZYDIS_CATEGORY_NOP: case ZYDIS_CATEGORY_WIDENOP:
		out->attr |= INSN_NOP;
		return;
	default:
		break;
	}
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_UD0: case ZYDIS_MNEMONIC_UD1: case ZYDIS_MNEMONIC_UD2: case ZYDIS_MNEMONIC_HLT:
		out->cls = CHORD_INSN_TRAP;
		out->attr &= (uint16_t)~INSN_FALLS;
		break;
	case ZYDIS_MNEMONIC_UIRET:
		out->cls = CHORD_INSN_RET;
		out->attr &= (uint16_t)~INSN_FALLS;
		break;
	case ZYDIS_MNEMONIC_MOV:
		classify_move(op, out);
		break;
	case ZYDIS_MNEMONIC_ENDBR64: case ZYDIS_MNEMONIC_ENDBR32:
		out->attr |= INSN_FIRST;
		break;
	default:
		if (is_string(in))
			out->cls = CHORD_INSN_REP;
	}
}

/* Calls, returns and jumps out of the procedure may read anything. A system call leaves the flags as they were: the kernel gives
 * them back. */
static void
widen(struct insn *out, bool near)
{
	if (!(out->regs_read & X86_SCRATCH) &&
	    (out->cls == CHORD_INSN_CALL || out->cls == CHORD_INSN_ICALL || (out->cls == CHORD_INSN_RET && near)))
		out->attr |= INSN_SPARES;
	if (out->cls == CHORD_INSN_SYSCALL)
		out->flags_kill = 0;
	switch (out->cls) {
	case CHORD_INSN_CALL: case CHORD_INSN_ICALL: case CHORD_INSN_RET: case CHORD_INSN_SYSCALL: case CHORD_INSN_TRAP:
		out->regs_read = X86_ALL_REGS;
		out->regs_kill = 0;
		break;
	default:
		break;
	}
}

static uint8_t
latency_in_registers(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVZX: case ZYDIS_MNEMONIC_MOVSX: case ZYDIS_MNEMONIC_MOVSXD:
		return 0;
	case ZYDIS_MNEMONIC_IMUL: case ZYDIS_MNEMONIC_MUL:
		return 3;
	default:
		return 1;
	}
}

/* An instruction that reads its destination may have read memory long before the value of that register is known: then the load
 * takes no time. */
static uint8_t
latency_of(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	enum { LOAD = 5 };
	uint8_t latency = latency_in_registers(in->mnemonic);

	if (in->operand_count_visible < 2 || op[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    op[0].actions != ZYDIS_OPERAND_ACTION_WRITE)
		return latency;
	for (unsigned i = 1; i < in->operand_count_visible; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && op[i].actions == ZYDIS_OPERAND_ACTION_READ)
			return (uint8_t)(latency + LOAD);
	return latency;
}

const ZydisDecoder *
x86_decoder(void)
{
	static ZydisDecoder decoder;
	static bool ready;

	if (!ready)
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ready = true;
	return &decoder;
}

bool
x86_decode(const uint8_t *bytes, size_t n, uint32_t off, struct insn *out)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(x86_decoder(), bytes, n, &in, op)))
		return false;
	*out = (struct insn){.off = off, .len = in.length, .stmt = UINT32_MAX, .latency = latency_of(&in, op)};
	classify(&in, op, out);
	read_flags(&in, op, out);
	for (unsigned i = 0; i < in.operand_count; i++) {
		read_operand(&in, &op[i], out);
		look_below(&op[i], in.mnemonic == ZYDIS_MNEMONIC_LEA, out);
	}
	if (is_zeroing(&in, op))
		out->regs_read = 0;
	widen(out, in.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR);
	return true;
}

/* The number of a register's bit; 16 for the PC. */
static int8_t
bit_number(ZydisRegister r)
{
	return r == ZYDIS_REGISTER_RIP ? 16 : reg_bit(r) ? (int8_t)__builtin_ctz(reg_bit(r)) : -1;
}

static int8_t
reg_number(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER ? bit_number(op->reg.value) : -1;
}

bool
x86_move(const uint8_t *bytes, size_t n, struct move *out)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	const ZydisDecodedOperand *place = &op[0];

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(x86_decoder(), bytes, n, &in, op)) || op[0].size != 64 ||
	    (in.mnemonic != ZYDIS_MNEMONIC_MOV && in.mnemonic != ZYDIS_MNEMONIC_LEA))
		return false;
	*out = (struct move){.to = reg_number(&op[0]), .from = reg_number(&op[1]), .base = -1, .index = -1};
	out->stores = op[0].type == ZYDIS_OPERAND_TYPE_MEMORY;
	out->address = in.mnemonic == ZYDIS_MNEMONIC_LEA;
	place += !out->stores;
	if (place->type != ZYDIS_OPERAND_TYPE_MEMORY)
		return true;
	out->base = bit_number(place->mem.base);
	out->index = bit_number(place->mem.index);
	out->scale = out->index < 0 ? 0 : place->mem.scale;
	out->segment = place->mem.segment >= ZYDIS_REGISTER_FS ? (uint8_t)(place->mem.segment - ZYDIS_REGISTER_ES) : 0;
	out->disp_at = place->mem.disp.has_displacement ? in.raw.disp.offset : 0;
	out->disp = place->mem.disp.has_displacement ? place->mem.disp.value : 0;
	return true;
}

uint32_t
x86_counts(const uint8_t *bytes, size_t n, uint64_t at, const uint64_t *base, uint64_t *counter, bool *jumps)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];

	*counter = 0;
	*jumps = false;
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(x86_decoder(), bytes, n, &in, op)))
		return 0;
	if (in.operand_count && op[0].actions & ZYDIS_OPERAND_ACTION_WRITE)
		*counter = x86_counter(&op[0], at + in.length, base);
	*jumps = in.meta.category == ZYDIS_CATEGORY_UNCOND_BR || in.meta.category == ZYDIS_CATEGORY_COND_BR ||
	         in.meta.category == ZYDIS_CATEGORY_RET;
	return in.length;
}
