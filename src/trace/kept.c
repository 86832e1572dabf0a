/* SPDX-License-Identifier: MIT */
/* A stream of which only the last segments are kept may have several rings: a segment with a slot that nobody will write is not
 * used again, and the stream goes on in a new ring, which drops its own first segments in turn. Then the rest of the earlier rings
 * does not join up with it, and is not shown. The last marks of those rings take the place of dropped marks that the reader
 * needs. */
#include "trace/internal.h"

#include <string.h>

static bool
is_mark(uint32_t slot, uint32_t kind)
{
	return CHORD_SLOT_KIND(slot) == kind;
}

static void
keep_mark(struct chord_trace_gone *to, uint32_t slot)
{
	if (is_mark(slot, CHORD_MARK_THREAD) || is_mark(slot, CHORD_MARK_CHILD))
		to->thread = slot;
	else if (is_mark(slot, CHORD_MARK_MODULES))
		to->modules = slot;
}

/* Finds the last marks of a ring. */
static void
keep_marks(const struct trace_file *f, const struct trace_extent *x, struct chord_trace_gone *to)
{
	uint32_t slot[1024];

	keep_mark(to, x->gone.thread);
	keep_mark(to, x->gone.modules);
	for (uint64_t n = x->first; n < x->end; n++) {
		const uint64_t place = (n - x->from) % x->ring * CHORD_TRACE_SEGMENT;

		for (uint64_t at = place; at < place + CHORD_TRACE_SEGMENT && at + sizeof slot <= x->bytes; at += sizeof slot) {
			if (!trace_bytes(f, x->offset + at, slot, sizeof slot))
				return;
			for (size_t i = 0; i < sizeof slot / sizeof *slot; i++)
				keep_mark(to, slot[i]);
		}
	}
}

void
trace_keep_end(struct trace_file *f, struct trace_stream *s)
{
	struct chord_trace_gone gone = {0};
	size_t k = s->ring.n;

	while (k && s->ring.at[k - 1].first == s->ring.at[k - 1].from)
		k--;
	if (k < 2)
		return;
	k--;
	for (size_t i = 0; i < k; i++) {
		keep_marks(f, &s->ring.at[i], &gone);
		f->gone += s->ring.at[i].end - s->ring.at[i].first;
	}
	keep_mark(&gone, s->ring.at[k].gone.thread);
	keep_mark(&gone, s->ring.at[k].gone.modules);
	s->ring.n -= k;
	memmove(s->ring.at, s->ring.at + k, s->ring.n * sizeof *s->ring.at);
	s->ring.at[0].gone.thread = gone.thread;
	s->ring.at[0].gone.modules = gone.modules;
}
