/* SPDX-License-Identifier: MIT */
/* Which memory an instruction accesses, in which order, and which known values it leaves in registers. Values serve to compute
 * addresses: their low 48 bits are right. */
#include "machine/x86_64/x86_64.h"

#include <string.h>

static const uint64_t LOW = (1ull << REG_VALUE_BITS) - 1;
enum { COUNT = 1 /* rcx */ };

/* The number of the bit of a general register of any width, or -1; not of ah and its like. */
static int
general(ZydisRegister r)
{
	if (r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH)
		return -1;
	r = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
	return r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15 ? (int)(r - ZYDIS_REGISTER_RAX) : -1;
}

/* ---- accesses ---- */

static bool
accesses_nothing(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_NOP: case ZYDIS_CATEGORY_WIDENOP: case ZYDIS_CATEGORY_PREFETCH: case ZYDIS_CATEGORY_PREFETCHWT1:
	case ZYDIS_CATEGORY_CLDEMOTE: case ZYDIS_CATEGORY_CLFLUSHOPT: case ZYDIS_CATEGORY_CLWB: case ZYDIS_CATEGORY_MPX:
		return true;
	default:
		return in->mnemonic == ZYDIS_MNEMONIC_CLFLUSH || in->mnemonic == ZYDIS_MNEMONIC_UD0 ||
		       in->mnemonic == ZYDIS_MNEMONIC_UD1 || in->mnemonic == ZYDIS_MNEMONIC_INVLPG;
	}
}

/* Does the instruction access memory that its operand does not describe: under a mask, by a bit's number, or as much as a register
 * says? */
static bool
is_unclear(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, const ZydisDecodedOperand *mem)
{
	const char *name = ZydisMnemonicGetString(in->mnemonic);

	if (mem->mem.type != ZYDIS_MEMOP_TYPE_MEM || in->avx.mask.mode > ZYDIS_MASK_MODE_DISABLED || strstr(name, "maskmov"))
		return true;
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_XSAVE: case ZYDIS_CATEGORY_XSAVEOPT: case ZYDIS_CATEGORY_GATHER: case ZYDIS_CATEGORY_SCATTER:
		return true;
	default:
		break;
	}
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_BT: case ZYDIS_MNEMONIC_BTC: case ZYDIS_MNEMONIC_BTR: case ZYDIS_MNEMONIC_BTS:
		return op[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
	case ZYDIS_MNEMONIC_CMPSB: case ZYDIS_MNEMONIC_CMPSW: case ZYDIS_MNEMONIC_CMPSD: case ZYDIS_MNEMONIC_CMPSQ:
	case ZYDIS_MNEMONIC_SCASB: case ZYDIS_MNEMONIC_SCASW: case ZYDIS_MNEMONIC_SCASD: case ZYDIS_MNEMONIC_SCASQ:
		return in->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
	case ZYDIS_MNEMONIC_XLAT: case ZYDIS_MNEMONIC_ENTER: case ZYDIS_MNEMONIC_FXSAVE: case ZYDIS_MNEMONIC_FXSAVE64:
	case ZYDIS_MNEMONIC_FXRSTOR: case ZYDIS_MNEMONIC_FXRSTOR64: case ZYDIS_MNEMONIC_FNSAVE: case ZYDIS_MNEMONIC_FRSTOR:
	case ZYDIS_MNEMONIC_FNSTENV: case ZYDIS_MNEMONIC_FLDENV: case ZYDIS_MNEMONIC_MOVDIR64B: case ZYDIS_MNEMONIC_ENQCMD:
		return true;
	default:
		return false;
	}
}

/* Is the operand the word that a push, pop, call or return accesses on the stack? */
static bool
is_stack(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	return op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && op->mem.base == ZYDIS_REGISTER_RSP &&
	       (in->meta.category == ZYDIS_CATEGORY_PUSH || in->meta.category == ZYDIS_CATEGORY_POP ||
	        in->meta.category == ZYDIS_CATEGORY_CALL || in->meta.category == ZYDIS_CATEGORY_RET);
}

static bool
compares(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_CMPXCHG || m == ZYDIS_MNEMONIC_CMPXCHG8B || m == ZYDIS_MNEMONIC_CMPXCHG16B;
}

static struct access
access_of(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, const ZydisDecodedOperand *mem)
{
	struct access a = {.bytes = mem->size / 8u, .scale = mem->mem.scale, .base = -1, .index = -1, .count = -1};

	if (mem->actions & (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD))
		a.how |= ACCESS_LOADS;
	if (mem->actions & (ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE))
		a.how |= ACCESS_STORES;
	a.disp = mem->mem.disp.has_displacement ? mem->mem.disp.value : 0;
	a.pc = mem->mem.base == ZYDIS_REGISTER_RIP || mem->mem.base == ZYDIS_REGISTER_EIP;
	if (!a.pc && mem->mem.base != ZYDIS_REGISTER_NONE)
		a.base = (int8_t)general(mem->mem.base);
	if (mem->mem.index != ZYDIS_REGISTER_NONE && mem->mem.type == ZYDIS_MEMOP_TYPE_MEM)
		a.index = (int8_t)general(mem->mem.index);
	a.narrow = in->address_width == 32;
	a.segment = mem->mem.segment == ZYDIS_REGISTER_FS ? ACCESS_FS : mem->mem.segment == ZYDIS_REGISTER_GS ? ACCESS_GS : 0;
	if (is_stack(in, mem) && a.how == ACCESS_STORES)
		a.disp = -(int64_t)a.bytes;
	else if (in->mnemonic == ZYDIS_MNEMONIC_LEAVE)
		a.base = X86_FP;
	if (in->attributes & ZYDIS_ATTRIB_HAS_REP && in->meta.category == ZYDIS_CATEGORY_STRINGOP)
		a.count = COUNT;
	a.atomic = (in->attributes & ZYDIS_ATTRIB_HAS_LOCK || in->mnemonic == ZYDIS_MNEMONIC_XCHG) && !compares(in->mnemonic);
	a.unknown = is_unclear(in, op, mem) || a.segment == ACCESS_GS ||
	            (in->mnemonic == ZYDIS_MNEMONIC_POP && !is_stack(in, mem) && a.base == X86_SP);
	return a;
}

/* Inserts an access in order: loads come first, and the load of the operand before that of the stack. */
static unsigned
put_access(struct access *out, unsigned n, struct access a, bool stack)
{
	unsigned at = n;

	if (a.how & ACCESS_LOADS)
		while (at && (!(out[at - 1].how & ACCESS_LOADS) || (!stack && out[at - 1].base == X86_SP && out[at - 1].disp < 0)))
			at--;
	memmove(&out[at + 1], &out[at], (n - at) * sizeof *out);
	out[at] = a;
	return n + 1;
}

static unsigned
find_accesses(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, struct access *out)
{
	unsigned n = 0;

	if (accesses_nothing(in))
		return 0;
	for (unsigned i = 0; i < in->operand_count && n < ACCESSES_MOST; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && op[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN)
			n = put_access(out, n, access_of(in, op, &op[i]), is_stack(in, &op[i]));
	return n;
}

/* ---- instructions that were decoded ---- */

enum { INSN_BYTES = ZYDIS_MAX_INSTRUCTION_LENGTH, CACHE_BITS = 11 };

struct decoded {
	uint8_t bytes[INSN_BYTES], n; /* the bytes that it was decoded from; n is 0 if there is nothing */
	bool is_insn;
	int naccess;             /* below 0: they have not been looked for */
	struct access access[ACCESSES_MOST];
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

struct insn_cache {
	struct decoded at[1 << CACHE_BITS];
};

struct insn_cache *
x86_insn_cache(void)
{
	return xcalloc(1, sizeof(struct insn_cache));
}

static size_t
place_of(const uint8_t bytes[INSN_BYTES])
{
	uint64_t first, last;

	memcpy(&first, bytes, sizeof first);
	memcpy(&last, bytes + INSN_BYTES - sizeof last, sizeof last);
	return (first * 0x9e3779b97f4a7c15 + last * 0xc2b2ae3d27d4eb4f) >> (64 - CACHE_BITS);
}

/* The instruction that the bytes begin with. If the cache has it, it is not decoded again. Without a cache it is in *own. */
static struct decoded *
decoded(struct insn_cache *cache, const uint8_t *bytes, size_t n, struct decoded *own)
{
	uint8_t first[INSN_BYTES] = {0};
	struct decoded *d = own;

	if (n < INSN_BYTES)
		memcpy(first, bytes, n);
	else
		memcpy(first, bytes, n = INSN_BYTES);
	if (cache) {
		d = &cache->at[place_of(first)];
		if (d->n == n && !memcmp(d->bytes, first, sizeof first))
			return d;
	}
	memcpy(d->bytes, first, sizeof first);
	d->n = (uint8_t)n;
	d->is_insn = ZYAN_SUCCESS(ZydisDecoderDecodeFull(x86_decoder(), bytes, n, &d->in, d->op));
	d->naccess = d->is_insn ? -1 : 0;
	return d;
}

unsigned
x86_accesses(struct insn_cache *cache, const uint8_t *bytes, size_t n, struct access *out)
{
	struct decoded own, *d = decoded(cache, bytes, n, &own);

	if (d->naccess < 0)
		d->naccess = (int)find_accesses(&d->in, d->op, d->access);
	memcpy(out, d->access, (size_t)d->naccess * sizeof *out);
	return (unsigned)d->naccess;
}

/* ---- values ---- */

struct step {
	const ZydisDecodedInstruction *in;
	const ZydisDecodedOperand *op;
	uint64_t addr;
	const struct reg_values *was;
	struct reg_values *now;
};

static void
set(struct reg_values *r, int reg, bool known, uint64_t v)
{
	r->known = (r->known & ~(1u << reg)) | (uint32_t)known << reg;
	r->v[reg] = v & LOW;
}

static bool
has(const struct reg_values *r, int reg)
{
	return reg >= 0 && r->known >> reg & 1;
}

/* An operand's value, if its low 48 bits are known, or all of them if it has fewer. */
static bool
value_of(const struct step *s, const ZydisDecodedOperand *op, uint64_t *v)
{
	int reg;

	if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		*v = op->imm.value.u;
		return true;
	}
	reg = op->type == ZYDIS_OPERAND_TYPE_REGISTER ? general(op->reg.value) : -1;
	if (!has(s->was, reg))
		return false;
	*v = s->was->v[reg];
	if (op->size < 64)
		*v &= (1ull << op->size) - 1;
	return true;
}

static bool
address_of(const struct step *s, const ZydisDecodedOperand *op, uint64_t *v)
{
	int base = general(op->mem.base), index = general(op->mem.index);

	*v = op->mem.disp.has_displacement ? (uint64_t)op->mem.disp.value : 0;
	if (op->mem.base == ZYDIS_REGISTER_RIP)
		*v += s->addr + s->in->length;
	else if (op->mem.base != ZYDIS_REGISTER_NONE && !has(s->was, base))
		return false;
	if (op->mem.index != ZYDIS_REGISTER_NONE && !has(s->was, index))
		return false;
	if (base >= 0)
		*v += s->was->v[base];
	if (index >= 0)
		*v += s->was->v[index] * op->mem.scale;
	if (s->in->address_width == 32)
		*v &= UINT32_MAX;
	return true;
}

static uint64_t
extended(uint64_t v, unsigned bits)
{
	return bits >= REG_VALUE_BITS ? v : (uint64_t)((int64_t)(v << (64 - bits)) >> (64 - bits));
}

/* The result of an operation on two numbers. False: the low bits of the result depend on more than the low bits of the numbers. */
static bool
combine(const struct step *s, uint64_t a, uint64_t b, uint64_t *v)
{
	unsigned bits = s->op[0].size;

	switch (s->in->mnemonic) {
	case ZYDIS_MNEMONIC_ADD: *v = a + b; return true;
	case ZYDIS_MNEMONIC_SUB: *v = a - b; return true;
	case ZYDIS_MNEMONIC_AND: *v = a & b; return true;
	case ZYDIS_MNEMONIC_OR:  *v = a | b; return true;
	case ZYDIS_MNEMONIC_XOR: *v = a ^ b; return true;
	case ZYDIS_MNEMONIC_IMUL: *v = a * b; return true;
	case ZYDIS_MNEMONIC_SHL: *v = a << (b & (bits - 1)); return true;
	case ZYDIS_MNEMONIC_SHR: *v = a >> (b & (bits - 1)); return bits == 32;
	default: return false;
	}
}

/* Is it an operation of a register with itself whose result is 0? */
static bool
is_zero(const struct step *s)
{
	return (s->in->mnemonic == ZYDIS_MNEMONIC_XOR || s->in->mnemonic == ZYDIS_MNEMONIC_SUB) &&
	       s->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && s->op[0].reg.value == s->op[1].reg.value;
}

/* The value that the instruction leaves in the register that is its first operand. False: it is not known. */
static bool
result(const struct step *s, uint64_t *v)
{
	const ZydisDecodedOperand *op = s->op;
	uint64_t a, b;

	switch (s->in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVZX: return value_of(s, &op[1], v);
	case ZYDIS_MNEMONIC_MOVSX: case ZYDIS_MNEMONIC_MOVSXD:
		if (!value_of(s, &op[1], &a))
			return false;
		*v = extended(a, op[1].size);
		return true;
	case ZYDIS_MNEMONIC_LEA: return address_of(s, &op[1], v);
	case ZYDIS_MNEMONIC_INC: case ZYDIS_MNEMONIC_DEC:
		*v = value_of(s, &op[0], &a) ? s->in->mnemonic == ZYDIS_MNEMONIC_INC ? a + 1 : a - 1 : 0;
		return value_of(s, &op[0], &a);
	case ZYDIS_MNEMONIC_NEG: case ZYDIS_MNEMONIC_NOT:
		if (!value_of(s, &op[0], &a))
			return false;
		*v = s->in->mnemonic == ZYDIS_MNEMONIC_NEG ? -a : ~a;
		return true;
	case ZYDIS_MNEMONIC_CDQE:
		if (!value_of(s, &op[0], &a))
			return false;
		*v = extended(a & UINT32_MAX, 32);
		return true;
	default:
		break;
	}
	*v = 0;
	if (is_zero(s))
		return true;
	if (s->in->operand_count_visible == 3 && s->in->mnemonic == ZYDIS_MNEMONIC_IMUL)
		op++;
	return s->in->operand_count_visible > 1 && value_of(s, &op[0], &a) && value_of(s, &op[1], &b) && combine(s, a, b, v);
}

static void
move_sp(const struct step *s, int64_t n)
{
	set(s->now, X86_SP, has(s->was, X86_SP), s->was->v[X86_SP] + (uint64_t)n);
}

static void
forget(const struct step *s)
{
	for (unsigned i = 0; i < s->in->operand_count; i++) {
		const ZydisDecodedOperand *op = &s->op[i];
		int reg;

		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		reg = general(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value));
		if (reg >= 0)
			set(s->now, reg, false, 0);
	}
}

/* movs, stos and lods go up: the direction flag is clear, as the ABI demands. */
static void
move_strings(const struct step *s)
{
	static const int regs[] = {6, 7};
	bool repeated = s->in->attributes & ZYDIS_ATTRIB_HAS_REP;
	uint64_t n = repeated ? s->was->v[COUNT] : 1;

	for (unsigned i = 0; i < s->in->operand_count; i++) {
		const ZydisDecodedOperand *op = &s->op[i];
		int reg = op->type == ZYDIS_OPERAND_TYPE_MEMORY ? general(op->mem.base) : -1;

		for (int k = 0; k < 2; k++)
			if (reg == regs[k])
				set(s->now, reg, has(s->was, reg) && (!repeated || has(s->was, COUNT)),
				    s->was->v[reg] + n * (op->size / 8u));
	}
	if (repeated)
		set(s->now, COUNT, true, 0);
}

static bool
is_string_move(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_MOVSB: case ZYDIS_MNEMONIC_MOVSW: case ZYDIS_MNEMONIC_MOVSQ:
	case ZYDIS_MNEMONIC_STOSB: case ZYDIS_MNEMONIC_STOSW: case ZYDIS_MNEMONIC_STOSD: case ZYDIS_MNEMONIC_STOSQ:
	case ZYDIS_MNEMONIC_LODSB: case ZYDIS_MNEMONIC_LODSW: case ZYDIS_MNEMONIC_LODSD: case ZYDIS_MNEMONIC_LODSQ:
		return true;
	default:
		return false;
	}
}

/* After a call only those registers are known that the ABI preserves. */
static void
call(const struct step *s)
{
	s->now->known &= ~(uint32_t)(X86_CLOBBERED | X86_RESULTS | X86_MORE_RESULTS);
	move_sp(s, 0);
}

static void
step(const struct step *s)
{
	const ZydisDecodedOperand *op = s->op;
	int to = op[0].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].size >= 32 ? general(op[0].reg.value) : -1;
	int word = s->in->operand_width / 8;
	uint64_t v;

	forget(s);
	switch (s->in->meta.category) {
	case ZYDIS_CATEGORY_CALL: call(s); return;
	case ZYDIS_CATEGORY_PUSH: move_sp(s, -word); return;
	case ZYDIS_CATEGORY_POP:
		if (to == X86_SP)
			set(s->now, X86_SP, false, 0);
		else
			move_sp(s, word);
		return;
	case ZYDIS_CATEGORY_SYSCALL: set(s->now, 0, false, 0); return;
	default: break;
	}
	if (s->in->mnemonic == ZYDIS_MNEMONIC_LEAVE)
		set(s->now, X86_SP, has(s->was, X86_FP), s->was->v[X86_FP] + 8);
	else if (is_string_move(s->in->mnemonic) || (s->in->mnemonic == ZYDIS_MNEMONIC_MOVSD && op[0].size == 32 &&
	                                             s->in->meta.category == ZYDIS_CATEGORY_STRINGOP))
		move_strings(s);
	else if (to >= 0 && op[0].actions & ZYDIS_OPERAND_ACTION_WRITE && result(s, &v))
		set(s->now, to, true, op[0].size == 32 ? v & UINT32_MAX : v);
}

void
x86_compute(struct insn_cache *cache, const uint8_t *bytes, size_t n, uint64_t addr, struct reg_values *r)
{
	struct decoded own;
	const struct decoded *d = decoded(cache, bytes, n, &own);
	struct reg_values was = *r;

	if (d->is_insn)
		step(&(struct step){&d->in, d->op, addr, &was, r});
	else
		r->known = 0;
}
