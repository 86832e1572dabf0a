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
	CHORD_PACK_WORST = 5,      /* bytes for a slot at most; a segment takes no more than that for each, and 8 */
};

/* Zeroed where packing begins. */
struct chord_pack {
	uint32_t last, before;     /* slots */
	uint32_t next[1 << CHORD_PACK_BITS][CHORD_PACK_WAYS];
};

/* The candidates behind two slots. */
static inline uint32_t *
chord_pack_ways(struct chord_pack *p, uint32_t before, uint32_t last)
{
	return p->next[(last * 0x9e3779b1u + before * 0x85ebca6bu) >> (32 - CHORD_PACK_BITS)];
}

/* Makes it the first candidate; it was number `way`, or the last one goes. */
static inline void
chord_pack_first(uint32_t *ways, unsigned way, uint32_t slot)
{
	for (unsigned i = way < CHORD_PACK_WAYS ? way : CHORD_PACK_WAYS - 1; i; i--)
		ways[i] = ways[i - 1];
	ways[0] = slot;
}

static inline uint8_t *
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

/* Packs n slots to `to`, which has room for the worst. Returns the end. */
static inline uint8_t *
chord_pack(struct chord_pack *p, const uint32_t *slot, size_t n, uint8_t *to)
{
	uint32_t before = p->before, last = p->last;
	uint64_t run = 0;

	for (size_t i = 0; i < n; before = last, last = slot[i++]) {
		uint32_t *ways = chord_pack_ways(p, before, last);
		unsigned way = 0;

		if (ways[0] == slot[i]) {
			run++;
			continue;
		}
		while (++way < CHORD_PACK_WAYS && ways[way] != slot[i])
			;
		to = chord_pack_run(to, run, way % CHORD_PACK_WAYS);
		run = 0;
		if (way == CHORD_PACK_WAYS) {
			__builtin_memcpy(to, &slot[i], sizeof slot[i]);
			to += sizeof slot[i];
		}
		chord_pack_first(ways, way, slot[i]);
	}
	p->before = before;
	p->last = last;
	return run ? chord_pack_run(to, run, 0) : to;
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
	uint32_t before = p->before, last = p->last, *ways;
	uint64_t run;
	unsigned low;

	for (size_t i = 0; i < n; before = last, last = slot[i++]) {
		if (!chord_unpack_run(&bytes, end, &run, &low) || run > n - i)
			return false;
		for (; run; run--, before = last, last = slot[i++])
			slot[i] = chord_pack_ways(p, before, last)[0];
		if (i == n) {
			p->before = before;
			p->last = last;
			return bytes == end && !low;
		}
		ways = chord_pack_ways(p, before, last);
		if (low) {
			slot[i] = ways[low];
		} else if (end - bytes >= (ptrdiff_t)sizeof *slot) {
			__builtin_memcpy(&slot[i], bytes, sizeof *slot);
			bytes += sizeof *slot;
		} else {
			return false;
		}
		chord_pack_first(ways, low ? low : CHORD_PACK_WAYS, slot[i]);
	}
	p->before = before;
	p->last = last;
	return bytes == end;
}

#endif
