/* SPDX-License-Identifier: MIT */
/* Traces made in memory. */
#ifndef TEST_TRACE_BYTES_H
#define TEST_TRACE_BYTES_H

#include "trace/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TRACE_PAGE = CHORD_PAGE_LEAST, RING_BYTES = CHORD_TRACE_SEGMENT * CHORD_TRACE_SEGMENTS };

static inline void
trace_pad(struct buf *b, size_t to)
{
	static const char zero[TRACE_PAGE];

	while (b->n % to)
		buf_add(b, zero, to - b->n % to < sizeof zero ? to - b->n % to : sizeof zero);
}

static inline void
trace_head(struct buf *b)
{
	struct chord_trace_head h = {.magic = CHORD_TRACE_MAGIC, .version = CHORD_TRACE_VERSION, .pid = 17, .id = 1, .id2 = 2,
	                             .page = TRACE_PAGE};

	buf_add(b, &h, sizeof h);
	trace_pad(b, TRACE_PAGE);
}

/* All that has been added is complete. */
static inline void
trace_end(struct buf *b)
{
	uint64_t used = b->n;

	memcpy(b->at + offsetof(struct chord_trace_head, used), &used, sizeof used);
}

/* Adds an extent of n bytes. */
static inline void
trace_extent(struct buf *b, struct chord_extent_head h, const void *at, size_t n)
{
	h.size = TRACE_PAGE + (n + TRACE_PAGE - 1) / TRACE_PAGE * TRACE_PAGE;
	buf_add(b, &h, sizeof h);
	trace_pad(b, TRACE_PAGE);
	if (n)
		buf_add(b, at, n);
	trace_pad(b, TRACE_PAGE);
}

static inline void
trace_modules(struct buf *b, const struct chord_trace_module *m, uint64_t n)
{
	trace_extent(b, (struct chord_extent_head){.type = CHORD_TRACE_MODULES, .a = n}, m, n * sizeof *m);
}

/* Packs segments `first` to first + n - 1; slot(s, i) is slot i of segment s. */
static inline void
trace_packs(struct buf *b, uint32_t stream, uint64_t first, uint64_t n, uint32_t (*slot)(uint64_t s, uint32_t i))
{
	static struct chord_pack p;
	static uint32_t at[CHORD_TRACE_SLOTS];
	static uint8_t out[CHORD_TRACE_SLOTS * CHORD_PACK_WORST + 8];
	struct buf all = {0};

	memset(&p, 0, sizeof p);
	for (uint64_t s = first; s < first + n; s++) {
		struct chord_trace_record r = {.segment = (uint32_t)s};

		for (uint32_t i = 0; i < CHORD_TRACE_SLOTS; i++) {
			at[i] = slot(s, i);
			r.sum += at[i] * 0x9e3779b1u + i;
		}
		r.bytes = (uint32_t)(chord_pack(&p, at, CHORD_TRACE_SLOTS, out) - out);
		buf_add(&all, &r, sizeof r);
		buf_add(&all, out, r.bytes);
		trace_pad(&all, 4);
	}
	trace_extent(b, (struct chord_extent_head){.type = CHORD_TRACE_PACKS, .module = stream, .a = all.n, .b = first}, all.at,
	             all.n);
	buf_free(&all);
}

/* Rings of a stream so far. */
static inline uint64_t
trace_rings(const struct buf *b, uint32_t stream)
{
	struct chord_extent_head h;
	uint64_t n = 0;

	for (size_t at = TRACE_PAGE; at < b->n; at += h.size) {
		memcpy(&h, b->at + at, sizeof h);
		n += h.type == CHORD_TRACE_RING && h.module == stream;
	}
	return n;
}

/* A ring whose first segment is `from`, with `first` packed and n slots from there on. */
static inline void
trace_ring(struct buf *b, uint32_t stream, uint64_t from, uint64_t first, uint64_t n, uint32_t (*slot)(uint64_t s, uint32_t i))
{
	uint32_t *ring = xcalloc(1, RING_BYTES);

	for (uint64_t k = 0; k < n; k++) {
		uint64_t s = first + k / CHORD_TRACE_SLOTS;

		ring[(s - from) * CHORD_TRACE_SLOTS % (RING_BYTES / 4) + k % CHORD_TRACE_SLOTS] = slot(s, k % CHORD_TRACE_SLOTS);
	}
	trace_extent(b, (struct chord_extent_head){.type = CHORD_TRACE_RING, .module = stream, .a = from, .b = first,
	                                           .c = trace_rings(b, stream)}, ring, RING_BYTES);
	free(ring);
}

#endif
