/* SPDX-License-Identifier: MIT */
/* The slots of a stream. Most segments are packed. Some are in rings that were given up, and the last ones are in the current ring.
 * A process that is killed while it packs leaves a segment in both places. In that case the packed one is used. */
#include "trace/internal.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

enum { GAP = 64 };

/* The first segment that the stream has. */
static uint64_t
first_of(const struct trace_stream *s)
{
	uint64_t n = s->packs.n ? s->packs.at[0].first : UINT64_MAX;

	return s->ring.n && s->ring.at[0].first < n ? s->ring.at[0].first : n;
}

struct slots *
slots_new(struct trace_file *f, size_t stream, struct replay_code *code)
{
	struct slots *r = xcalloc(1, sizeof *r);

	r->file = f;
	r->stream = &f->stream.at[stream];
	r->segment = first_of(r->stream);
	if (code && replay_code_has_words(code))
		r->words = words_new(code);
	return r;
}

void
slots_free(struct slots *r)
{
	if (!r)
		return;
	ZSTD_freeDCtx(r->zstd);
	words_free(r->words);
	free(r);
}

bool
slots_fault(struct slots *r, const char *why)
{
	r->fault = pool_printf(r->file->pool, "segment %" PRIu64 ": %s", r->segment, why);
	return false;
}

void
slots_spoil(struct slots *r, const char *why)
{
	r->segment--;
	slots_fault(r, why);
}

/* ---- packed segments ---- */

static void
begin_zstd(struct slots *r)
{
	if (!r->zstd) {
		r->zstd = ZSTD_createDCtx();
		if (!r->zstd)
			die("memory", "none is left");
		ZSTD_DCtx_setParameter(r->zstd, ZSTD_d_windowLogMax, CHORD_TRACE_ZSTD_WINDOW);
	}
	ZSTD_DCtx_reset(r->zstd, ZSTD_reset_session_only);
}

static void
begin_extent(struct slots *r)
{
	const struct trace_extent *x = &r->stream->packs.at[r->next++];

	r->at = x->offset;
	r->left = x->bytes;
	memset(&r->pack, 0, sizeof r->pack);
	if (x->zstd)
		begin_zstd(r);
}

/* Reads the head of the next record; there has to be one. False: see `fault`. */
static bool
peek(struct slots *r)
{
	bool begins = !r->left;

	if (begins)
		begin_extent(r);
	if (r->left < sizeof r->record || !trace_bytes(r->file, r->at, &r->record, sizeof r->record))
		return slots_fault(r, "its record is cut off");
	r->number = begins ? r->stream->packs.at[r->next - 1].first : r->number + (r->record.segment - (uint32_t)r->number);
	if (r->record.segment != (uint32_t)r->number || r->number < r->segment)
		return slots_fault(r, "damaged: another one stands in its place");
	r->peeked = true;
	return true;
}

/* Is there a packed segment, and is it the next one? Also false if `fault` is set. */
static bool
is_packed(struct slots *r)
{
	if (!r->peeked && !r->left && r->next == r->stream->packs.n)
		return false;
	return (r->peeked || peek(r)) && r->number == r->segment;
}

static uint32_t
sum_of(const uint32_t *slot)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < CHORD_TRACE_SLOTS; i++)
		sum += slot[i] * 0x9e3779b1u + i;
	return sum;
}

/* Makes packed[] from a record's bytes. False: they are damaged. */
static bool
decompress(struct slots *r, uint32_t *bytes)
{
	ZSTD_inBuffer in = {r->stored, *bytes, 0};
	ZSTD_outBuffer out = {r->packed, sizeof r->packed, 0};
	size_t before;

	if (!r->stream->packs.at[r->next - 1].zstd) {
		memcpy(r->packed, r->stored, *bytes <= sizeof r->packed ? *bytes : 0);
		return *bytes <= sizeof r->packed;
	}
	do {
		before = in.pos + out.pos;
		if (ZSTD_isError(ZSTD_decompressStream(r->zstd, &out, &in)))
			return false;
	} while (in.pos + out.pos > before);
	*bytes = (uint32_t)out.pos;
	return in.pos == in.size;
}

static bool
next_packed(struct slots *r)
{
	uint32_t stored = r->record.bytes, bytes = stored;
	uint64_t size;

	if (stored > sizeof r->stored)
		return slots_fault(r, "damaged: larger than a segment can be");
	if (stored > r->left - sizeof r->record || !trace_bytes(r->file, r->at + sizeof r->record, r->stored, stored))
		return slots_fault(r, "its record is cut off");
	if (!decompress(r, &bytes))
		return slots_fault(r, "damaged: it cannot be decompressed");
	if (!chord_unpack(&r->pack, r->packed, bytes, r->raw, CHORD_TRACE_SLOTS) || sum_of(r->raw) != r->record.sum)
		return slots_fault(r, "damaged: its slots are not those that were packed");
	size = sizeof r->record + (((uint64_t)stored + 3) & ~3ull);
	r->done += size;
	r->at += size;
	r->left -= size < r->left ? size : r->left;
	r->nraw = CHORD_TRACE_SLOTS;
	r->peeked = false;
	r->packs = true;
	r->segment++;
	return true;
}

/* What `from` has decompressed of an extent is decompressed again for `to`, because a context of zstd cannot be copied. */
void
slots_copy(struct slots *to, const struct slots *from)
{
	const struct trace_extent *x = from->next ? &from->stream->packs.at[from->next - 1] : NULL;
	struct ZSTD_DCtx_s *own = to->zstd;
	struct chord_trace_record record;
	uint32_t bytes;

	words_free(to->words);
	*to = *from;
	to->zstd = own;
	to->words = from->words ? words_copy(from->words) : NULL;
	to->slot = to->raw;
	to->n = 0;
	if (!x || !x->zstd || !from->left)
		return;
	begin_zstd(to);
	for (uint64_t at = x->offset; at < from->at; at += sizeof record + ((record.bytes + 3) & ~3ull)) {
		if (!trace_bytes(to->file, at, &record, sizeof record) || record.bytes > sizeof to->stored ||
		    !trace_bytes(to->file, at + sizeof record, to->stored, record.bytes))
			return;
		bytes = record.bytes;
		if (!decompress(to, &bytes))
			return; /* the next record will be reported as damaged, too */
	}
}

/* ---- rings ---- */

static size_t
written(const uint32_t *slot)
{
	size_t n = CHORD_TRACE_SLOTS;

	while (n && !slot[n - 1])
		n--;
	return n;
}

static uint64_t
place_of(const struct trace_extent *x, uint64_t segment)
{
	return (segment - x->from) % x->ring * CHORD_TRACE_SEGMENT;
}

static bool
ring_segment(struct slots *r, const struct trace_extent *x, uint64_t segment)
{
	uint64_t place = place_of(x, segment);

	if (place + CHORD_TRACE_SEGMENT > x->bytes || !trace_bytes(r->file, x->offset + place, r->raw, CHORD_TRACE_SEGMENT))
		return slots_fault(r, "cut off");
	return true;
}

/* Looks for the last segment that has a written slot. False: see `fault`. */
static bool
find_last(struct slots *r, const struct trace_extent *x)
{
	r->in = x->offset;
	for (r->last = x->end - 1; r->last > r->segment; r->last--) {
		if (!ring_segment(r, x, r->last))
			return false;
		if (written(r->raw))
			break;
	}
	return true;
}

uint64_t
slots_count(struct trace_file *f, size_t stream)
{
	struct slots *r = slots_new(f, stream, NULL);
	const struct trace_extent *x = r->stream->ring.n ? &r->stream->ring.at[r->stream->ring.n - 1] : NULL;
	uint64_t n = 0;

	if (x) {
		r->segment = x->first;
		if (find_last(r, x) && ring_segment(r, x, r->last))
			n = r->last * CHORD_TRACE_SLOTS + written(r->raw);
	}
	slots_free(r);
	return n;
}

/* Is anything written after the next segment? Also false if `fault` is set. */
static bool
anything_behind(struct slots *r, const struct trace_extent *x)
{
	if (r->peeked || x != &r->stream->ring.at[r->stream->ring.n - 1])
		return true;
	return (r->in == x->offset || find_last(r, x)) && r->last > r->segment;
}

/* Puts marks of dropped segments first: the reader needs them for what follows. */
static void
put_gone(struct slots *r, const struct chord_trace_gone *gone)
{
	uint32_t mark[2], n = 0;

	if (CHORD_SLOT_KIND(gone->modules) == CHORD_MARK_MODULES)
		mark[n++] = gone->modules;
	if (CHORD_SLOT_KIND(gone->thread) == CHORD_MARK_THREAD || CHORD_SLOT_KIND(gone->thread) == CHORD_MARK_CHILD)
		mark[n++] = gone->thread;
	memmove(r->raw + n, r->raw, r->nraw * sizeof *r->raw);
	memcpy(r->raw, mark, n * sizeof *mark);
	r->nraw += n;
}

/* Only a few adjacent slots can be reserved and never written, except at the end of a ring that is followed by another one. Threads
 * that share a ring may skip more. A ring that keeps only the last segments is zeroed from its beginning on. */
static bool
has_gaps(const struct slots *r, bool last)
{
	size_t gap = 0;

	if (r->file->flags & (CHORD_TRACE_SHARED | CHORD_TRACE_OVERRUN | CHORD_TRACE_LAST))
		return false;
	for (size_t i = 0; i < r->nraw; i++) {
		if (r->raw[i] && gap > GAP)
			return true;
		gap = r->raw[i] ? 0 : gap + 1;
	}
	return gap > GAP && !last;
}

/* The number of segments that the ring now gives as packed or dropped. The process may still be running. */
static uint64_t
packed_by_now(const struct slots *r, const struct trace_extent *x)
{
	const uint64_t at = x->offset - r->file->page + offsetof(struct chord_extent_head, b);
	uint64_t n = x->first;

	return trace_bytes(r->file, at, &n, sizeof n) ? n : x->first;
}

/* If the process has gone on and has emptied the segment, the stream ends before it. */
static bool
is_overtaken(struct slots *r, const struct trace_extent *x)
{
	if (packed_by_now(r, x) <= r->segment)
		return false;
	r->nraw = 0;
	r->ended = true;
	if (r->file->flags & CHORD_TRACE_LAST)
		slots_fault(r, "it has been overwritten: the process goes on");
	return true;
}

/* A segment is first emptied, then counted as packed. */
static bool
is_being_emptied(struct slots *r, const struct trace_extent *x)
{
	const struct timespec millisecond = {.tv_nsec = 1000000};

	for (int i = 0; i < 20 && r->file->fd >= 0; i++) {
		nanosleep(&millisecond, NULL);
		if (is_overtaken(r, x))
			return true;
	}
	return false;
}

/* The used slots of the last segment. A slot that was written while the segment was read is left out with all after it, because
 * slots before it may have been missed. */
static size_t
written_so_far(struct slots *r, const struct trace_extent *x)
{
	size_t n = written(r->raw);
	uint32_t now;

	for (size_t i = 0; i < n; i++)
		if (!r->raw[i] && trace_bytes(r->file, x->offset + place_of(x, r->segment) + 4 * i, &now, sizeof now) && now)
			return i;
	return n;
}

/* After the last written slot there is nothing. A segment may have been packed and not been counted as packed yet. */
static bool
next_in_ring(struct slots *r, const struct trace_extent *x)
{
	bool more = anything_behind(r, x);

	if (r->fault)
		return false;
	if (r->packs && r->segment > packed_by_now(r, x) + 1)
		return slots_fault(r, "damaged: its ring says that fewer have been packed");
	r->packs = false;
	if (!ring_segment(r, x, r->segment) || is_overtaken(r, x))
		return false;
	r->nraw = more ? CHORD_TRACE_SLOTS : written_so_far(r, x);
	if (has_gaps(r, r->segment + 1 == x->end)) {
		if (is_being_emptied(r, x))
			return false;
		r->nraw = 0;
		return slots_fault(r, "damaged: slots are missing in it");
	}
	if (r->segment == x->first && r->nraw)
		put_gone(r, &x->gone);
	r->done += CHORD_TRACE_SEGMENT;
	r->segment++;
	r->ended = !more;
	return r->nraw;
}

static const struct trace_extent *
ring_of(const struct slots *r)
{
	for (size_t i = 0; i < r->stream->ring.n; i++) {
		const struct trace_extent *x = &r->stream->ring.at[i];

		if (r->segment >= x->first && r->segment < x->end)
			return x;
	}
	return NULL;
}

/* ---- all of it ---- */

/* Streams of forked children begin with slots without meaning, up to where the parent's stream was. */
static bool
begins_later(const struct slots *r)
{
	for (size_t i = 0; i < r->nraw; i++)
		if (r->raw[i] == CHORD_MARK_NONE || CHORD_SLOT_KIND(r->raw[i]) == CHORD_MARK_CHILD)
			return true;
	return r->file->flags & CHORD_TRACE_LAST;
}

static bool
next_segment(struct slots *r)
{
	const struct trace_extent *x;

	if (is_packed(r))
		return next_packed(r);
	x = r->fault ? NULL : ring_of(r);
	if (x)
		return next_in_ring(r, x);
	return !r->fault && slots_fault(r, "missing");
}

static bool
next_raw(struct slots *r)
{
	uint64_t segment = r->segment;

	r->nraw = 0;
	if (r->fault || r->ended || !next_segment(r))
		return false;
	if (segment && segment == first_of(r->stream) && !begins_later(r)) {
		r->nraw = 0;
		r->segment = segment;
		return slots_fault(r, "those before it are missing");
	}
	return true;
}

bool
slots_next(struct slots *r)
{
	bool any = next_raw(r);

	r->n = r->nraw;
	r->slot = any && r->words ? words_expand(r->words, r->raw, &r->n) : r->raw;
	return any;
}

bool
slots_at_extent(const struct slots *r)
{
	return !r->fault && !r->ended && !r->left && r->next && r->next < r->stream->packs.n &&
	       r->stream->packs.at[r->next].first == r->segment && !(r->words && words_wait(r->words));
}

bool
slots_seek(struct slots *r, uint64_t segment, size_t listed)
{
	size_t i = r->stream->packs.n;

	while (i && r->stream->packs.at[i - 1].first > segment)
		i--;
	r->n = 0;
	r->left = r->in = 0;
	r->peeked = r->ended = r->packs = false;
	r->fault = NULL;
	r->next = i ? i - 1 : 0;
	r->segment = i ? r->stream->packs.at[i - 1].first : first_of(r->stream);
	while (r->segment < segment)
		if (!slots_next(r))
			return false;
	if (r->words)
		words_begin(r->words, listed);
	return r->segment == segment;
}

uint64_t
trace_stream_bytes(const struct trace_stream *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->packs.n; i++)
		n += s->packs.at[i].bytes;
	for (size_t i = 0; i < s->ring.n; i++)
		n += (s->ring.at[i].end - s->ring.at[i].first) * CHORD_TRACE_SEGMENT;
	return n;
}
