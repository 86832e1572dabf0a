/* SPDX-License-Identifier: MIT */
/* How segments of traces are packed. Each slot is predicted by the two slots before it: there are four candidates, the slots that
 * followed the same two slots most recently, latest first. The header needs no libc: the runtime packs and the reader unpacks with
 * the same tables.
 *
 * Packed bytes, for each slot that is not the first candidate, and at the end of a segment:
 *   a byte   low two bits: 0: the slot is no candidate, and its four bytes follow; 1 to 3: it is that candidate, counted from 0.
 *            High six bits: how many slots before it were the first candidate. 63 means 63 plus the LEB128 number that follows
 * A segment ends with its last slot. A run of first candidates at the end has a byte of its own, with low bits 0 and no slot after
 * it. */
#ifndef CHORD_PACK_H
#define CHORD_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CHORD_PACK_BITS = 12,
	CHORD_PACK_WAYS = 4,
	CHORD_PACK_RUN = 63,
	CHORD_PACK_LANES = 4,      /* words for a slot's other candidates: a vector whose last word is unused */
	CHORD_PACK_WORST = 5,      /* bytes per slot at most: a segment takes at most this for each slot, plus 8 */
};

/* Runtimes are compiled for size; these functions have to be fast. */
#define CHORD_PACK_INLINE inline __attribute__((always_inline))

/* The packer's state; zeroed where packing begins. First candidates have an array of their own, because mostly no others are looked
 * at. */
struct chord_pack {
	uint32_t first[1 << CHORD_PACK_BITS];
	uint32_t other[1 << CHORD_PACK_BITS][CHORD_PACK_LANES];
	uint32_t last, before;     /* the last slot, and the one before it */
};

/* The index of the candidates for the slot after `before` and `last`: below 1 << CHORD_PACK_BITS. */
#define CHORD_PACK_LAST 0x9e3779b1u
#define CHORD_PACK_BEFORE 0x85ebca6bu
static CHORD_PACK_INLINE uint32_t
chord_pack_behind(uint32_t before, uint32_t last)
{
	return (last * CHORD_PACK_LAST + before * CHORD_PACK_BEFORE) >> (32 - CHORD_PACK_BITS);
}

/* Writes a run of first candidates, and the low two bits of its byte. Returns the end. */
static CHORD_PACK_INLINE uint8_t *
chord_pack_run(uint8_t *to, uint64_t run, unsigned low)
{
	*to++ = (uint8_t)((run < CHORD_PACK_RUN ? run : CHORD_PACK_RUN) << 2 | low);
	if (run < CHORD_PACK_RUN)
		return to;
	for (run -= CHORD_PACK_RUN; run >= 0x80; run >>= 7)
		*to++ = (uint8_t)(run | 0x80);
	*to++ = (uint8_t)run;
	return to;
}

/* Looks for a slot among the other candidates and moves it to the front; `was` was the first candidate and becomes one of the
 * others. Returns the slot's number among all candidates (1 to 3), or 0: it is none of them. */
static CHORD_PACK_INLINE unsigned
chord_pack_other(uint32_t other[CHORD_PACK_LANES], uint32_t was, uint32_t slot)
{
	const uint32_t one = other[0], two = other[1];
	const bool first = one == slot, second = two == slot;
	unsigned way = other[2] == slot ? 3 : 0;

	way = second ? 2 : way;
	way = first ? 1 : way;
	other[0] = was;
	other[1] = first ? two : one;
	other[2] = first | second ? other[2] : two;
	return way;
}
_Static_assert(CHORD_PACK_WAYS == 4, "chord_pack_other() has three");

/* Output: all slots before number `coded` are written. */
struct chord_packing {
	uint8_t *to;
	size_t coded;
};

/* Writes slot number i as candidate `way`, or in full (way 0). */
static CHORD_PACK_INLINE void
chord_pack_put(struct chord_packing *out, size_t i, uint32_t slot, unsigned way)
{
	out->to = chord_pack_run(out->to, i - out->coded, way);
	__builtin_memcpy(out->to, &slot, sizeof slot);
	out->to += way ? 0 : sizeof slot;
	out->coded = i + 1;
}

/* Ends a segment of n slots. Returns the end of its bytes. */
static CHORD_PACK_INLINE uint8_t *
chord_pack_end(const struct chord_packing *out, size_t n)
{
	return out->coded < n ? chord_pack_run(out->to, n - out->coded, 0) : out->to;
}

/* Writes slot number i, whose first candidate `was` another slot. */
static CHORD_PACK_INLINE void
chord_pack_miss(struct chord_pack *p, struct chord_packing *out, size_t i, uint32_t slot, uint32_t behind, uint32_t was)
{
	chord_pack_put(out, i, slot, chord_pack_other(p->other[behind], was, slot));
}

/* Slots are packed in pieces, by one of two functions that give the same bytes. chord_pack_seldom() branches at each slot: it is
 * fast if most slots are the first candidate, or if the others are regular, because the branches are then predicted.
 * chord_pack_often() first collects the other slots without branches, then looks for them. The piece before decides which one is
 * used. Both return how many slots were not the first candidate. */
enum { CHORD_PACK_PIECE = 64, CHORD_PACK_OFTEN = CHORD_PACK_PIECE / 4 };

static CHORD_PACK_INLINE unsigned
chord_pack_seldom(struct chord_pack *p, struct chord_packing *out, const uint32_t *slot, size_t i, size_t end)
{
	uint32_t before = p->before, last = p->last, behind, was;
	unsigned found = 0;

	for (; i < end; before = last, last = slot[i++]) {
		behind = chord_pack_behind(before, last);
		was = p->first[behind];
		if (was == slot[i])
			continue;
		p->first[behind] = slot[i];
		chord_pack_miss(p, out, i, slot[i], behind, was);
		found++;
	}
	p->before = before;
	p->last = last;
	return found;
}

static CHORD_PACK_INLINE unsigned
chord_pack_often(struct chord_pack *p, struct chord_packing *out, const uint32_t *slot, size_t i, size_t end)
{
	struct { uint32_t was; uint16_t at, behind; } miss[CHORD_PACK_PIECE];
	uint32_t before = p->before, last = p->last, behind, was;
	const size_t begin = i;
	unsigned found = 0;

	for (; i < end; before = last, last = slot[i++]) {
		behind = chord_pack_behind(before, last);
		was = p->first[behind];
		miss[found].was = was;
		miss[found].at = (uint16_t)(i - begin);
		miss[found].behind = (uint16_t)behind;
		p->first[behind] = slot[i];
		found += was != slot[i];
	}
	p->before = before;
	p->last = last;
	for (unsigned k = 0; k < found; k++)
		chord_pack_miss(p, out, begin + miss[k].at, slot[begin + miss[k].at], miss[k].behind, miss[k].was);
	return found;
}

/* Packs n slots to `to`, which has room for CHORD_PACK_WORST * n + 8 bytes. Returns the end. */
static CHORD_PACK_INLINE uint8_t *
chord_pack(struct chord_pack *p, const uint32_t *slot, size_t n, uint8_t *to)
{
	struct chord_packing out = {to, 0};
	unsigned found = 0;

	for (size_t at = 0, end; at < n; at = end) {
		end = n - at < CHORD_PACK_PIECE ? n : at + CHORD_PACK_PIECE;
		found = found > CHORD_PACK_OFTEN ? chord_pack_often(p, &out, slot, at, end) :
		        chord_pack_seldom(p, &out, slot, at, end);
	}
	return chord_pack_end(&out, n);
}

/* Reads what chord_pack_run() wrote. False: it is cut off, or the number is too large. */
static inline bool
chord_unpack_run(const uint8_t **at, const uint8_t *end, uint64_t *run, unsigned *low)
{
	if (*at == end)
		return false;
	*low = **at & 3u;
	*run = *(*at)++ >> 2;
	if (*run < CHORD_PACK_RUN)
		return true;
	for (unsigned shift = 0; *at < end && shift < 28; shift += 7) {
		uint8_t b = *(*at)++;

		*run += (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return true;
	}
	return false;
}

/* Unpacks exactly n slots from bytes[0..size). False: the bytes are not n packed slots; `slot` and p are then of no use. */
static inline bool
chord_unpack(struct chord_pack *p, const uint8_t *bytes, size_t size, uint32_t *slot, size_t n)
{
	const uint8_t *end = bytes + size;
	uint32_t before = p->before, last = p->last, behind, was;
	uint64_t run;
	unsigned low;

	for (size_t i = 0; i < n; before = last, last = slot[i++]) {
		if (!chord_unpack_run(&bytes, end, &run, &low) || run > n - i)
			return false;
		for (; run; run--, before = last, last = slot[i++])
			slot[i] = p->first[chord_pack_behind(before, last)];
		if (i == n) {
			if (low)
				return false;
			break;
		}
		behind = chord_pack_behind(before, last);
		was = p->first[behind];
		if (low) {
			slot[i] = p->other[behind][low - 1];
		} else if (end - bytes >= (ptrdiff_t)sizeof *slot) {
			__builtin_memcpy(&slot[i], bytes, sizeof *slot);
			bytes += sizeof *slot;
		} else {
			return false;
		}
		chord_pack_other(p->other[behind], was, slot[i]);
		p->first[behind] = slot[i];
	}
	p->before = before;
	p->last = last;
	return bytes == end;
}

#endif
