/* SPDX-License-Identifier: MIT */
/* A trace that a process kept in its memory because it could make no file. Its head and its extents are read as if they stood one
 * after the other in a file. */
#include "trace/internal.h"

enum { PARTS_MOST = 1 << 22 };

/* The address of the next extent, read from the head or extent at `at`. 0: there is none, or it cannot be read. */
static uint64_t
next_of(const struct trace_memory *m, uint64_t at)
{
	uint64_t next = 0;

	return m->read(m->of, at + CHORD_TRACE_NEXT, &next, sizeof next) ? next : 0;
}

/* Lists the extents that are linked, up to `used` bytes. An extent after these was being added. */
static void
list_parts(struct trace_memory *m, const struct chord_trace_head *h, uint64_t at)
{
	struct chord_extent_head x;
	uint64_t offset = h->page;

	VEC_PUSH(m->part, (struct trace_part){0, h->page, at});
	while (offset < h->used && m->part.n < PARTS_MOST && (at = next_of(m, at)) != 0 && m->read(m->of, at, &x, sizeof x) &&
	       x.size && x.size <= h->used - offset) {
		VEC_PUSH(m->part, (struct trace_part){offset, x.size, at});
		offset += x.size;
	}
}

/* The part that has the byte at `offset`. */
static const struct trace_part *
part_of(const struct trace_memory *m, uint64_t offset)
{
	size_t lo = 0, hi = m->part.n;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->part.at[mid].offset <= offset)
			lo = mid;
		else
			hi = mid;
	}
	return &m->part.at[lo];
}

uint64_t
memory_size(const struct trace_memory *m)
{
	const struct trace_part *last = &m->part.at[m->part.n - 1];

	return last->offset + last->size;
}

bool
memory_bytes(const struct trace_memory *m, uint64_t offset, void *to, size_t n)
{
	for (size_t some; n; n -= some, offset += some, to = (char *)to + some) {
		const struct trace_part *p = part_of(m, offset);
		const uint64_t left = p->size - (offset - p->offset);

		some = n < left ? n : (size_t)left;
		if (!m->read(m->of, p->addr + (offset - p->offset), to, some))
			return false;
	}
	return true;
}

struct trace_file *
trace_of_memory(struct pool *pool, trace_read_fn *read, const void *of, uint64_t anchor, const char **why)
{
	struct trace_memory *m = pool_alloc(pool, sizeof *m);
	const uint64_t at = anchor + CHORD_TRACE_MOORED;
	struct chord_trace_head h;

	*m = (struct trace_memory){.read = read, .of = of};
	*why = NULL;
	if (!read(of, at, &h, sizeof h) || h.magic != CHORD_TRACE_MAGIC)
		return NULL;
	if (h.page != CHORD_PAGE_LEAST || h.used < h.page) {
		*why = "damaged: the head of its trace makes no sense";
		return NULL;
	}
	list_parts(m, &h, at);
	return trace_take(pool, m, why);
}
