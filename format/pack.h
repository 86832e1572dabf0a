/* SPDX-License-Identifier: MIT */
/* How segments of traces are packed: each slot is looked for among the four that followed the same two slots last time, last one
 * first. Needs no libc: the runtime packs and the reader unpacks with the same tables.
 *
 * Packed bytes: for each slot that is not the first candidate, and at the end of a segment:
 *   a byte   in its low two bits 0: it is not among the candidates, and its four bytes follow; 1 to 3: it is that candidate,
 *            counted from 0. In the other six: so many slots before it were the first candidate; 63: 63 and as many more as the
 *            LEB128 number that follows says
 * A segment ends with its last slot: what remains of the last run has a byte of its own with low bits 0 and no slot behind it. */
#ifndef CHORD_PACK_H
#define CHORD_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CHORD_PACK_BITS = 12,
	CHORD_PACK_WAYS = 4,
	CHORD_PACK_RUN = 63,
	CHORD_PACK_LANES = 4,      /* words for a slot's other candidates: a vector, the last one unused */
	CHORD_PACK_WORST = 5,      /* bytes for a slot at most; a segment takes no more than that for each, and 8 */
};

/* Runtimes are compiled for size. */
#define CHORD_PACK_INLINE inline __attribute__((always_inline))

/* Zeroed where packing begins. The first candidates are apart: mostly no other is looked at. */
struct chord_pack {
	uint32_t first[1 << CHORD_PACK_BITS];
	uint32_t other[1 << CHORD_PACK_BITS][CHORD_PACK_LANES];
	uint32_t last, before;     /* slots */
};

/* The number of the candidates behind two slots. */
#define CHORD_PACK_LAST 0x9e3779b1u
#define CHORD_PACK_BEFORE 0x85ebca6bu
static CHORD_PACK_INLINE uint32_t
chord_pack_behind(uint32_t before, uint32_t last)
{
	return (last * CHORD_PACK_LAST + before * CHORD_PACK_BEFORE) >> (32 - CHORD_PACK_BITS);
}

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

/* Finds a slot among the others, of which the first candidate is one now. Gives its number among all; 0: it is none of them. */
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

/* What is written: slots before number `coded` are. */
struct chord_packing {
	uint8_t *to;
	size_t coded;
};

/* Writes slot number i, which is that candidate, or none (0). */
static CHORD_PACK_INLINE void
chord_pack_put(struct chord_packing *out, size_t i, uint32_t slot, unsigned way)
{
	out->to = chord_pack_run(out->to, i - out->coded, way);
	__builtin_memcpy(out->to, &slot, sizeof slot);
	out->to += way ? 0 : sizeof slot;
	out->coded = i + 1;
}

/* Behind the last of n slots. */
static CHORD_PACK_INLINE uint8_t *
chord_pack_end(const struct chord_packing *out, size_t n)
{
	return out->coded < n ? chord_pack_run(out->to, n - out->coded, 0) : out->to;
}

/* Writes slot number i, whose first candidate was another one. */
static CHORD_PACK_INLINE void
chord_pack_miss(struct chord_pack *p, struct chord_packing *out, size_t i, uint32_t slot, uint32_t behind, uint32_t was)
{
	chord_pack_put(out, i, slot, chord_pack_other(p->other[behind], was, slot));
}

/* Slots are packed in pieces, each in one of two ways, which give the same bytes. Where most slots are the first candidate, or it
 * is regular which are not, a branch for each is foreseen. Else it is faster to find, without branches, those that are not, and
 * then to look for them. Which way a piece goes the piece before tells. Both give the number of those that are not the first. */
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

/* Packs n slots to `to`, which has room for the worst. Returns the end. */
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

/* Reads what chord_pack_run() wrote. False: it is cut off or too large. */
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

/* Unpacks exactly n slots from bytes[0..size). False: they are not that. */
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
