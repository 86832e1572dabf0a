/* SPDX-License-Identifier: MIT */
/* Which memory an instruction accesses, given the registers before it. */
#include "machine/x86_64/x86_64.h"

#ifdef __x86_64__

#include <stddef.h>
#include <sys/user.h>

#define WORD(name) (offsetof(struct user_regs_struct, name) / sizeof(uint64_t))

const uint8_t x86_word[16] = {
	WORD(rax), WORD(rcx), WORD(rdx), WORD(rbx), WORD(rsp), WORD(rbp), WORD(rsi), WORD(rdi), WORD(r8), WORD(r9), WORD(r10),
	WORD(r11), WORD(r12), WORD(r13), WORD(r14), WORD(r15),
};

/* Is everything that the instruction does determined by registers and memory? This is known of the instructions here only. */
static bool
is_determined(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_BINARY: case ZYDIS_CATEGORY_BITBYTE: case ZYDIS_CATEGORY_BMI1: case ZYDIS_CATEGORY_BMI2:
	case ZYDIS_CATEGORY_CALL: case ZYDIS_CATEGORY_CMOV: case ZYDIS_CATEGORY_COND_BR: case ZYDIS_CATEGORY_CONVERT:
	case ZYDIS_CATEGORY_DATAXFER: case ZYDIS_CATEGORY_FLAGOP: case ZYDIS_CATEGORY_LOGICAL: case ZYDIS_CATEGORY_LZCNT:
	case ZYDIS_CATEGORY_NOP: case ZYDIS_CATEGORY_WIDENOP: case ZYDIS_CATEGORY_POP: case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_PREFETCH: case ZYDIS_CATEGORY_RET: case ZYDIS_CATEGORY_ROTATE: case ZYDIS_CATEGORY_SEMAPHORE:
	case ZYDIS_CATEGORY_SETCC: case ZYDIS_CATEGORY_SHIFT: case ZYDIS_CATEGORY_SSE: case ZYDIS_CATEGORY_AVX:
	case ZYDIS_CATEGORY_AVX2: case ZYDIS_CATEGORY_LOGICAL_FP: case ZYDIS_CATEGORY_UNCOND_BR:
		/* Flags differ while a thread is stepped. */
		return in->mnemonic != ZYDIS_MNEMONIC_XTEST && in->mnemonic != ZYDIS_MNEMONIC_PUSHF &&
		       in->mnemonic != ZYDIS_MNEMONIC_PUSHFQ && in->mnemonic != ZYDIS_MNEMONIC_POPF &&
		       in->mnemonic != ZYDIS_MNEMONIC_POPFQ;
	default:
		break;
	}
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_ENDBR64: case ZYDIS_MNEMONIC_LEA: case ZYDIS_MNEMONIC_LEAVE: case ZYDIS_MNEMONIC_LFENCE:
	case ZYDIS_MNEMONIC_MFENCE: case ZYDIS_MNEMONIC_PAUSE: case ZYDIS_MNEMONIC_SFENCE:
		return true;
	default:
		return false;
	}
}

/* Is it an access by which woven code counts? Which bytes other instructions access by this segment is not asked. */
static bool
counts(const ZydisDecodedInstruction *in, const struct access *a)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_ADC: case ZYDIS_MNEMONIC_ADD: case ZYDIS_MNEMONIC_DEC: case ZYDIS_MNEMONIC_INC: case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_SUB:
		return a->segment == ACCESS_GS;
	default:
		return false;
	}
}

/* The address of an access. end: the address after the instruction. */
static uint64_t
address(const struct traced_regs *r, const struct access *a, uint64_t end)
{
	uint64_t at = (uint64_t)a->disp + (a->pc ? end : 0);

	if (a->base >= 0)
		at += r->word[x86_word[a->base]];
	if (a->index >= 0)
		at += r->word[x86_word[a->index]] * a->scale;
	if (a->narrow)
		at &= UINT32_MAX;
	if (a->segment)
		at += r->word[a->segment == ACCESS_FS ? WORD(fs_base) : WORD(gs_base)];
	return at;
}

static bool
place(const struct traced_regs *r, const struct access *a, bool counter, uint64_t end, struct traced_writes *to)
{
	if ((a->unknown && !counter) || a->count >= 0 || a->narrow || a->bytes > TRACED_WRITE || to->n == TRACED_WRITES)
		return false;
	to->of[to->n].counter = counter;
	to->of[to->n].at = address(r, a, end);
	to->of[to->n++].size = a->bytes;
	return true;
}

/* Does the code begin with addb $8, %r of woven code, and an addition to the counter by that register? The word of r, or -1. */
static int8_t
goes_to_cell(const uint8_t *bytes, size_t n)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in, add;
	struct access access[ACCESSES_MOST];
	int reg;

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(x86_decoder(), bytes, n, &in, op)) || in.mnemonic != ZYDIS_MNEMONIC_ADD ||
	    op[0].type != ZYDIS_OPERAND_TYPE_REGISTER || op[0].size != 8 || op[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	    op[1].imm.value.s != 8 || (op[0].reg.value >= ZYDIS_REGISTER_AH && op[0].reg.value <= ZYDIS_REGISTER_BH))
		return -1;
	bytes += in.length;
	n -= in.length;
	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(x86_decoder(), NULL, bytes, n, &add)) || add.mnemonic != ZYDIS_MNEMONIC_ADD ||
	    x86_accesses(NULL, bytes, add.length, access) != 1)
		return -1;
	reg = (int)ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op[0].reg.value) - ZYDIS_REGISTER_RAX;
	return access[0].segment == ACCESS_GS && access[0].base == reg && access[0].index < 0 ? (int8_t)x86_word[reg] : -1;
}

bool
x86_writes(const uint8_t *bytes, size_t n, const struct traced_regs *r, struct traced_writes *to)
{
	ZydisDecodedInstruction in;
	struct access access[ACCESSES_MOST];
	struct facts facts;
	unsigned naccess, stores = 0;

	to->n = 0;
	to->cell = goes_to_cell(bytes, n);
	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(x86_decoder(), NULL, bytes, n, &in)) || !is_determined(&in) ||
	    !x86_facts(bytes, in.length, &facts))
		return false;
	naccess = x86_accesses(NULL, bytes, in.length, access);
	for (unsigned i = 0; i < naccess; i++)
		if (access[i].how & ACCESS_STORES) {
			stores++;
			if (!place(r, &access[i], counts(&in, &access[i]), r->word[WORD(rip)] + in.length, to))
				return false;
		}
	return stores == facts.stores;
}

bool
x86_touches(const uint8_t *bytes, size_t n, const struct traced_regs *r, uint64_t at, uint64_t size)
{
	ZydisDecodedInstruction in;
	struct access access[ACCESSES_MOST];
	unsigned naccess;

	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(x86_decoder(), NULL, bytes, n, &in)))
		return false;
	naccess = x86_accesses(NULL, bytes, in.length, access);
	for (unsigned i = 0; i < naccess; i++) {
		const struct access *a = &access[i];
		uint64_t from = address(r, a, r->word[WORD(rip)] + in.length);

		if ((a->unknown && a->segment != ACCESS_GS) || (a->count >= 0 && !r->word[x86_word[a->count]]))
			continue;
		if (from - at < size || at - from < a->bytes)
			return true;
	}
	return false;
}

#endif
