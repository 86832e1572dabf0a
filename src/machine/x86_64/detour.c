/* SPDX-License-Identifier: MIT */
/* Detours: code elsewhere in the process that counts down each time woven code adds to a counter. The addition itself is made
 * there, at the end, so that it leaves the flags as always. */
#include "machine/x86_64/x86_64.h"

#ifdef __x86_64__

#include <string.h>

/* A detour that is being written, and its address. */
struct writer {
	struct traced_detour *d;
	uint64_t to;
};

static void
put(struct writer *w, const void *bytes, size_t n)
{
	memcpy(w->d->code + w->d->size, bytes, n);
	w->d->size = (uint8_t)(w->d->size + n);
}

/* Writes a distance from the end of an instruction, which comes `behind` bytes after the distance. */
static bool
put_distance(struct writer *w, uint64_t target, unsigned behind)
{
	int64_t d = (int64_t)(target - (w->to + w->d->size + 4 + behind));
	int32_t n = (int32_t)d;

	put(w, &n, sizeof n);
	return d == n;
}

/* Writes an instruction that does the same there as at its old address: what it addresses relative to itself gets another
 * distance. */
static bool
put_moved(struct writer *w, const uint8_t *bytes, const ZydisDecodedInstruction *in, uint64_t at)
{
	unsigned disp = in->raw.disp.offset;
	int32_t old;

	if (!(in->attributes & ZYDIS_ATTRIB_IS_RELATIVE)) {
		put(w, bytes, in->length);
		return true;
	}
	if (in->raw.disp.size != 32)
		return false;
	memcpy(&old, bytes + disp, sizeof old);
	put(w, bytes, disp);
	if (!put_distance(w, at + in->length + (uint64_t)(int64_t)old, in->length - disp - 4u))
		return false;
	put(w, bytes + disp + 4, in->length - disp - 4u);
	return true;
}

static bool
put_jump(struct writer *w, uint64_t target)
{
	put(w, "\xe9", 1);
	return put_distance(w, target, 0);
}

/* Writes the instruction after the addition, if it can be elsewhere. *on: where control goes on. */
static bool
put_next(struct writer *w, const uint8_t *bytes, size_t n, uint64_t at, uint64_t *on)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t target;

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(x86_decoder(), bytes, n, &in, op)))
		return false;
	target = at + in.length + (uint64_t)op[0].imm.value.s;
	*on = at + in.length;
	switch (in.meta.category) {
	case ZYDIS_CATEGORY_CALL: case ZYDIS_CATEGORY_SYSCALL: case ZYDIS_CATEGORY_INTERRUPT: case ZYDIS_CATEGORY_SYSTEM:
		return false;
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
			*on = target;
			return true;
		}
		break;
	case ZYDIS_CATEGORY_COND_BR:
		/* Short jumps that have no long form cannot be moved. */
		if ((in.opcode & 0xf0) != 0x70 && (in.opcode & 0xf0) != 0x80)
			return false;
		put(w, (uint8_t []){0x0f, (uint8_t)(0x80 | (in.opcode & 0x0f))}, 2);
		return put_distance(w, target, 0);
	default:
		break;
	}
	return put_moved(w, bytes, &in, at);
}

static bool
put_behind(struct writer *w, const uint8_t *bytes, size_t n, uint64_t at, uint8_t length, uint64_t *on)
{
	w->d->next = w->d->size;
	return put_next(w, bytes + length, n - length, at + length, on);
}

/* dec leaves the carry alone, as inc does. Before other steps the carry is kept in memory, inverted. */
static bool
put_count(struct writer *w, uint32_t amount, uint64_t left, uint64_t *jump_at)
{
	bool ok = true;

	if (amount == 1) {
		put(w, "\x48\xff\x0d", 3);                /* dec left(%rip) */
		ok &= put_distance(w, left, 0);
	} else {
		put(w, "\x0f\x93\x05", 3);                /* setnc kept(%rip) */
		ok &= put_distance(w, left + 8, 0);
		put(w, "\x48\x81\x2d", 3);                /* sub $amount, left(%rip) */
		ok &= put_distance(w, left, 4);
		put(w, &amount, sizeof amount);
	}
	put(w, "\x0f\x88", 2);                            /* js */
	*jump_at = w->d->size;
	put(w, "\0\0\0", 4);
	return ok;
}

static bool
put_carry(struct writer *w, uint32_t amount, uint64_t left)
{
	if (amount == 1)
		return true;
	put(w, "\x80\x3d", 2);                            /* cmpb $1, kept(%rip) */
	if (!put_distance(w, left + 8, 1))
		return false;
	put(w, "\1", 1);
	return true;
}

bool
x86_detour(const uint8_t *bytes, size_t n, uint64_t at, uint8_t before, bool next, uint32_t amount, uint64_t to, uint64_t left,
           struct traced_detour *d)
{
	enum { JUMP = 5 };
	struct writer w = {d, to};
	ZydisDecodedInstruction in;
	uint64_t on, js, from = at;
	int32_t distance;

	*d = (struct traced_detour){0};
	if (before && !put_next(&w, bytes, n, at, &on))
		return false;
	bytes += before;
	n -= before;
	at += before;
	if (!amount || amount > INT32_MAX || ZYAN_FAILED(ZydisDecoderDecodeInstruction(x86_decoder(), NULL, bytes, n, &in)))
		return false;
	on = at + in.length;
	d->next_was = (uint8_t)(before + in.length);
	if (!put_count(&w, amount, left, &js) || !put_carry(&w, amount, left) || !put_moved(&w, bytes, &in, at) ||
	    (before + in.length < JUMP && !(next && put_behind(&w, bytes, n, at, in.length, &on))) || !put_jump(&w, on))
		return false;
	distance = (int32_t)(d->size - js - 4);
	memcpy(d->code + js, &distance, sizeof distance);
	if (!put_carry(&w, amount, left))
		return false;
	put(&w, "\xcc", 1);
	d->took = before + in.length < JUMP ? JUMP : (uint8_t)(before + in.length);
	d->jump[0] = 0xe9;
	distance = (int32_t)(to - (from + JUMP));
	memcpy(d->jump + 1, &distance, sizeof distance);
	return (int64_t)(to - (from + JUMP)) == distance;
}

#else

bool
x86_detour(const uint8_t *bytes, size_t n, uint64_t at, uint8_t before, bool next, uint32_t amount, uint64_t to, uint64_t left,
           struct traced_detour *d)
{
	(void)bytes, (void)n, (void)at, (void)before, (void)next, (void)amount, (void)to, (void)left, (void)d;
	return false;
}

#endif
