/* SPDX-License-Identifier: MIT */
/* The slots of a stream. Packed segments come first, then what the ring still has; where a ring stays in the file for good, another
 * run of both follows. A process that is killed while it packs leaves a segment in both places: the packed one counts. */
#include "trace/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct slots *
slots_new(struct trace_file *f, size_t stream)
{
	struct slots *r = xcalloc(1, sizeof *r);

	r->file = f;
	r->stream = &f->stream.at[stream];
	return r;
}

static bool
fault(struct slots *r, const char *why)
{
	r->fault = pool_printf(r->file->pool, "segment %" PRIu64 ": %s", r->segment, why);
	return false;
}

/* ---- packed segments ---- */

static uint32_t
sum_of(const uint32_t *slot)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < CHORD_TRACE_SLOTS; i++)
		sum += slot[i] * 0x9e3779b1u + i;
	return sum;
}

static bool
next_packed(struct slots *r)
{
	struct chord_trace_record rec;

	if (r->left < sizeof rec || !trace_bytes(r->file, r->at, &rec, sizeof rec))
		return fault(r, "its record is cut off");
	if (rec.segment != (uint32_t)r->segment)
		return fault(r, "damaged: its record has another's number");
	if (rec.bytes > sizeof r->packed)
		return fault(r, "damaged: larger than a segment can be");
	if (rec.bytes > r->left - sizeof rec || !trace_bytes(r->file, r->at + sizeof rec, r->packed, rec.bytes))
		return fault(r, "its record is cut off");
	if (!chord_unpack(&r->pack, r->packed, rec.bytes, r->slot, CHORD_TRACE_SLOTS) || sum_of(r->slot) != rec.sum)
		return fault(r, "damaged: its slots are not those that were packed");
	rec.bytes = (rec.bytes + 3) & ~3u;
	r->done += sizeof rec + rec.bytes;
	r->at += sizeof rec + rec.bytes;
	r->left -= rec.bytes < r->left - sizeof rec ? sizeof rec + rec.bytes : r->left;
	r->n = CHORD_TRACE_SLOTS;
	r->segment++;
	return true;
}

/* ---- rings ---- */

static bool
is_last(const struct slots *r)
{
	return r->next + 1 == r->stream->extent.n;
}

static size_t
written(const uint32_t *slot)
{
	size_t n = CHORD_TRACE_SLOTS;

	while (n && !slot[n - 1])
		n--;
	return n;
}

static bool
ring_segment(struct slots *r, const struct trace_extent *x, uint64_t segment)
{
	uint64_t place = (segment - x->from) % CHORD_TRACE_SEGMENTS * CHORD_TRACE_SEGMENT;

	if (place + CHORD_TRACE_SEGMENT > x->bytes || !trace_bytes(r->file, x->offset + place, r->slot, sizeof r->slot))
		return fault(r, "cut off");
	return true;
}

/* The ring of the present: behind its last slot that is written there is nothing. */
static bool
anything_behind(struct slots *r, const struct trace_extent *x)
{
	bool any = false;

	for (uint64_t s = r->segment + 1; s < x->end && !any; s++) {
		if (!ring_segment(r, x, s))
			return false;
		any = written(r->slot);
	}
	return any;
}

static bool
next_in_ring(struct slots *r)
{
	const struct trace_extent *x = &r->stream->extent.at[r->next];
	bool more = !is_last(r) || anything_behind(r, x);

	if (r->fault || !ring_segment(r, x, r->segment))
		return false;
	r->n = more ? CHORD_TRACE_SLOTS : written(r->slot);
	if (!more)
		r->next++;
	r->done += CHORD_TRACE_SEGMENT;
	r->segment++;
	return r->n;
}

/* ---- from one extent to the next ---- */

/* Goes on to the extent that has the next segment. False: none has, or `fault`. */
static bool
find_extent(struct slots *r)
{
	for (; r->next < r->stream->extent.n; r->next++) {
		const struct trace_extent *x = &r->stream->extent.at[r->next];

		if (x->ring && r->segment < x->end && r->segment >= x->first)
			return true;
		if (x->first > r->segment)
			return fault(r, "missing");
		if (x->ring)
			continue;
		if (x->first != r->segment)
			return fault(r, "damaged: it is there twice");
		r->at = x->offset;
		r->left = x->bytes;
		memset(&r->pack, 0, sizeof r->pack);
		if (r->left) {
			r->next++;
			return true;
		}
	}
	return false;
}

bool
slots_next(struct slots *r)
{
	r->n = 0;
	if (r->fault)
		return false;
	if (r->left)
		return next_packed(r);
	if (!find_extent(r))
		return false;
	return r->left ? next_packed(r) : next_in_ring(r);
}

bool
slots_seek(struct slots *r, uint64_t segment)
{
	size_t i = r->stream->extent.n;

	r->n = 0;
	r->left = 0;
	r->fault = NULL;
	while (i && r->stream->extent.at[i - 1].first > segment)
		i--;
	if (!i)
		return false;
	r->next = i - 1;
	r->segment = r->stream->extent.at[i - 1].first;
	while (r->segment < segment)
		if (!slots_next(r))
			return false;
	return true;
}

uint64_t
trace_stream_bytes(const struct trace_stream *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->extent.n; i++)
		n += s->extent.at[i].bytes;
	return n;
}
