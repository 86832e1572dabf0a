/* SPDX-License-Identifier: MIT */
/* What an instruction does, for counting events. Memory accesses come from Zydis' operands, implied ones included. Whether an
 * instruction computes with floating point, or with vectors, comes from its name: the element types that Zydis gives for scalar and
 * for packed forms are not reliable (vfmadd213ss has four elements, roundsd is an integer), but the names are systematic. */
#include "machine/x86_64/x86_64.h"

#include <string.h>

static bool
starts(const char *name, const char *const *prefix)
{
	for (; *prefix; prefix++)
		if (!strncmp(name, *prefix, strlen(*prefix)))
			return true;
	return false;
}

static bool
ends(const char *name, const char *const *suffix)
{
	size_t n = strlen(name);

	for (; *suffix; suffix++)
		if (n >= strlen(*suffix) && !strcmp(name + n - strlen(*suffix), *suffix))
			return true;
	return false;
}

/* ---- memory ---- */

/* Instructions whose memory operands are hints, or are never accessed. */
static bool
accesses_nothing(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_NOP: case ZYDIS_CATEGORY_WIDENOP: case ZYDIS_CATEGORY_PREFETCH: case ZYDIS_CATEGORY_PREFETCHWT1:
	case ZYDIS_CATEGORY_CLDEMOTE: case ZYDIS_CATEGORY_CLFLUSHOPT: case ZYDIS_CATEGORY_CLWB: case ZYDIS_CATEGORY_MPX:
		return true;
	case ZYDIS_CATEGORY_GATHER: case ZYDIS_CATEGORY_SCATTER:
		return strstr(ZydisMnemonicGetString(in->mnemonic), "erpf"); /* vgatherpf0dps prefetches */
	default:
		break;
	}
	return in->mnemonic == ZYDIS_MNEMONIC_CLFLUSH || in->mnemonic == ZYDIS_MNEMONIC_UD0 || in->mnemonic == ZYDIS_MNEMONIC_UD1 ||
	       in->mnemonic == ZYDIS_MNEMONIC_INVLPG;
}

/* The elements that a gather or scatter accesses: as many as fit into both the data and the indices. */
static unsigned
elements(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, const ZydisDecodedOperand *mem)
{
	const char *name = ZydisMnemonicGetString(in->mnemonic);
	unsigned index = strstr(name, "gatherq") || strstr(name, "scatterq") ? 64 : 32, n, data = 0;

	for (unsigned i = 0; i < in->operand_count_visible; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER && ZydisRegisterGetClass(op[i].reg.value) != ZYDIS_REGCLASS_MASK)
			data = op[i].size;
	n = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, mem->mem.index) / index;
	return data && mem->size && data / mem->size < n ? data / mem->size : n;
}

/* An access under a condition counts as done: that of a masked element, of one round of a repeated string instruction, and the
 * write of cmpxchg (which the processor always does). */
static void
add_access(struct facts *f, const ZydisDecodedOperand *op, unsigned n)
{
	if (op->actions & (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD)) {
		f->loads = (uint16_t)(f->loads + n);
		f->bytes_loaded += op->size / 8u * n;
	}
	if (op->actions & (ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE)) {
		f->stores = (uint16_t)(f->stores + n);
		f->bytes_stored += op->size / 8u * n;
	}
}

/* Adds all accesses. True: the instruction has a memory operand that is accessed. */
static bool
add_accesses(struct facts *f, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	bool any = false;

	if (accesses_nothing(in))
		return false;
	for (unsigned i = 0; i < in->operand_count; i++) {
		if (op[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (op[i].mem.type == ZYDIS_MEMOP_TYPE_VSIB)
			add_access(f, &op[i], elements(in, op, &op[i]));
		else if (op[i].mem.type == ZYDIS_MEMOP_TYPE_MEM)
			add_access(f, &op[i], 1);
		any |= op[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN;
	}
	return any;
}

/* ---- vectors and floating point ---- */

static bool
has_vector_register(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	for (unsigned i = 0; i < in->operand_count; i++) {
		if (op[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		switch (ZydisRegisterGetClass(op[i].reg.value)) {
		case ZYDIS_REGCLASS_MMX: case ZYDIS_REGCLASS_XMM: case ZYDIS_REGCLASS_YMM: case ZYDIS_REGCLASS_ZMM:
		case ZYDIS_REGCLASS_TMM:
			return true;
		default:
			break;
		}
	}
	return false;
}

/* Does the instruction only move bits, unchanged? */
static bool
is_move(const char *name)
{
	static const char *const moves[] = {"mov", "maskmov", "pmaskmov", "lddqu", "broadcast", "pbroadcast", "pinsr", "pextr",
		"insert", "extract", "pinsert", "pextract", "gather", "pgather", "scatter", "pscatter", "tile", NULL};
	static const char *const signs[] = {"movmsk", NULL};

	return starts(name, moves) && !starts(name, signs);
}

/* An exclusive or of a register with itself sets it to 0. */
static bool
is_zeroing(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, const char *name)
{
	static const char *const xors[] = {"pxor", "xorps", "xorpd", NULL};
	unsigned n = in->operand_count_visible;

	return starts(name, xors) && op[n - 1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       op[n - 2].type == ZYDIS_OPERAND_TYPE_REGISTER && op[n - 1].reg.value == op[n - 2].reg.value;
}

/* Names of integer operations begin with p: pabsd is no scalar. */
static bool
is_scalar(const char *name)
{
	static const char *const scalar[] = {"ss", "sd", "sh", "2si", "2usi", NULL};

	return *name != 'p' && ends(name, scalar);
}

/* Is it logic, or does it only move elements? */
static bool
is_bitwise(const char *name)
{
	static const char *const bitwise[] = {"and", "or", "xor", "shuf", "unpck", "blend", "perm", "compress", "expand", "align",
		"test", "movmsk", NULL};

	return starts(name, bitwise);
}

static bool
is_vector_fp(const char *name)
{
	static const char *const fp[] = {"ss", "sd", "sh", "ps", "pd", "ph", NULL};
	static const char *const converts[] = {"cvt", "dpbf16ps", "tdpbf16ps", NULL};

	if (is_move(name) || is_bitwise(name) || *name == 'p')
		return false;
	return ends(name, fp) || starts(name, converts);
}

/* Loads, stores, exchanges and control of the x87 compute nothing, unless they convert to or from integers. */
static bool
is_x87_fp(const char *name)
{
	static const char *const others[] = {"fld", "fst", "fxch", "fn", "fwait", "ffree", "fincstp", "fdecstp", "frstor", "fdisi",
		"feni", "fsetpm", NULL};

	return !starts(name, others);
}

static bool
is_divide(const char *name)
{
	static const char *const divides[] = {"div", "idiv", "fdiv", "fidiv", "sqrt", "fsqrt", NULL};

	return starts(name, divides);
}

static void
classify_vector(struct facts *f, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, const char *name)
{
	if (is_zeroing(in, op, name))
		return;
	f->fp = in->meta.category == ZYDIS_CATEGORY_AMD3DNOW || is_vector_fp(name);
	f->vector = !is_move(name) && !is_scalar(name);
}

bool
x86_facts(const uint8_t *bytes, size_t n, struct facts *out)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	const char *name;
	bool memory;

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(x86_decoder(), bytes, n, &in, op)))
		return false;
	*out = (struct facts){.mnemonic = ZydisMnemonicGetString(in.mnemonic)};
	memory = add_accesses(out, &in, op);
	out->atomic = in.attributes & ZYDIS_ATTRIB_HAS_LOCK || (in.mnemonic == ZYDIS_MNEMONIC_XCHG && memory);
	/* vaddps is to AVX what addps is to SSE. */
	name = out->mnemonic + (*out->mnemonic == 'v');
	out->divide = is_divide(name);
	if (in.meta.category == ZYDIS_CATEGORY_X87_ALU)
		out->fp = is_x87_fp(name);
	else if (has_vector_register(&in, op))
		classify_vector(out, &in, op, name);
	return true;
}
