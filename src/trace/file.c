/* SPDX-License-Identifier: MIT */
/* A trace as a file: its head, and an index of its extents. Whatever is impossible is reported, and what comes before it is
 * kept. */
#include "trace/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A process's addresses have this many bits. */
enum { MODULES_MOST = 1 << 20, ADDRESS_BITS = 57 };

char *
trace_name(struct pool *pool, const char *profile)
{
	return pool_printf(pool, "%s" CHORD_TRACE_SUFFIX, profile);
}

bool
trace_bytes(const struct trace_file *f, uint64_t offset, void *to, size_t n)
{
	if (offset > f->size || n > f->size - offset)
		return false;
	if (f->memory)
		return memory_bytes(f->memory, offset, to, n);
	if (f->fd < 0) {
		memcpy(to, f->bytes.at + offset, n);
		return true;
	}
	for (ssize_t got; n; n -= (size_t)got, offset += (uint64_t)got, to = (char *)to + got) {
		got = pread(f->fd, to, n, (off_t)offset);
		if (got < 0 && errno == EINTR)
			got = 0;
		else if (got <= 0)
			return false;
	}
	return true;
}

/* Few streams are out of turn. NULL: the stream has not been seen so far. */
static struct trace_stream *
find_stream(struct trace_file *f, uint32_t number)
{
	if (number < f->stream.n && f->stream.at[number].number == number)
		return &f->stream.at[number];
	for (size_t i = f->stream.n; i; i--)
		if (f->stream.at[i - 1].number == number)
			return &f->stream.at[i - 1];
	return NULL;
}

static struct trace_stream *
stream_of(struct trace_file *f, uint32_t number)
{
	struct trace_stream *s = find_stream(f, number);

	if (s)
		return s;
	VEC_PUSH(f->stream, (struct trace_stream){.number = number});
	return &f->stream.at[f->stream.n - 1];
}

/* ---- extents: a text says what is wrong with one, NULL that nothing is ---- */

/* The rings of a stream are numbered in the order in which they were added, and the first one begins with segment 0. Segments are
 * gone if only the last ones were to be kept. */
static bool
is_ring(struct trace_file *f, const struct chord_extent_head *h, const struct chord_trace_gone *gone)
{
	const uint64_t bytes = h->size - f->page, n = bytes / CHORD_TRACE_SEGMENT;
	const struct trace_stream *s = find_stream(f, h->module);

	return bytes % CHORD_TRACE_SEGMENT == 0 && n >= CHORD_TRACE_SEGMENTS && (f->version > 1 || n == CHORD_TRACE_SEGMENTS) &&
	       h->a <= h->b && h->b <= UINT64_MAX / 2 && h->c == (s ? s->ring.n : 0) && (h->c || !h->a) &&
	       (f->flags & CHORD_TRACE_LAST || !gone->segments);
}

/* room: how many bytes of the extent the file has, with its first page. */
static const char *
read_ring(struct trace_file *f, const struct chord_extent_head *h, uint64_t offset, uint64_t room)
{
	const uint64_t ring = (h->size - f->page) / CHORD_TRACE_SEGMENT;
	struct trace_extent x = {
		.offset = offset + f->page, .bytes = room - f->page, .first = h->b, .end = h->b + ring, .from = h->a, .ring = ring,
	};

	if (!trace_bytes(f, offset + CHORD_TRACE_GONE, &x.gone, sizeof x.gone))
		return "it cannot be read, or has become shorter";
	if (!is_ring(f, h, &x.gone))
		return "a ring that makes no sense";
	f->gone += x.gone.segments;
	VEC_PUSH(stream_of(f, h->module)->ring, x);
	return NULL;
}

static const char *
read_packs(struct trace_file *f, const struct chord_extent_head *h, uint64_t offset, uint64_t room)
{
	struct trace_extent x = {.offset = offset + f->page, .bytes = h->a, .first = h->b, .zstd = h->c == CHORD_TRACE_ZSTD};

	if (h->a > h->size - f->page || h->b > UINT64_MAX / 2 || h->c > CHORD_TRACE_ZSTD)
		return "packed segments that make no sense";
	if (x.bytes > room - f->page)
		x.bytes = room - f->page;
	if (x.bytes)
		VEC_PUSH(stream_of(f, h->module)->packs, x);
	return NULL;
}

/* After the entries that are used, and one that was being written, there are only zeros. */
static bool
is_empty(const struct trace_file *f, uint64_t from, uint64_t to)
{
	char bytes[512];

	for (uint64_t n; from < to; from += n) {
		n = to - from < sizeof bytes ? to - from : sizeof bytes;
		if (!trace_bytes(f, from, bytes, n) || *bytes || memcmp(bytes, bytes + 1, n - 1))
			return false;
	}
	return true;
}

static const char *
read_modules(struct trace_file *f, const struct chord_extent_head *h, uint64_t offset, uint64_t room)
{
	struct chord_trace_module m;
	const uint64_t used = f->page + (h->a + 1) * sizeof m;

	if (h->a > (h->size - f->page) / sizeof m || h->a > MODULES_MOST)
		return "more modules than there is room for";
	for (uint64_t i = 0; i < h->a && (i + 1) * sizeof m <= room - f->page; i++) {
		if (!trace_bytes(f, offset + f->page + i * sizeof m, &m, sizeof m))
			return "it cannot be read, or has become shorter";
		if (!m.bytes || m.low % CHORD_PAGE_LEAST || m.first % CHORD_PAGE_LEAST || m.high >> (ADDRESS_BITS - 32))
			return "a module that makes no sense";
		VEC_PUSH(f->module, m);
	}
	if (h->module || h->b || h->c || (used < room && !is_empty(f, offset + used, offset + room)))
		return "modules that make no sense";
	return NULL;
}

static const char *
read_extent(struct trace_file *f, const struct chord_extent_head *h, uint64_t offset, uint64_t room)
{
	switch (h->type) {
	case CHORD_TRACE_RING:
		return read_ring(f, h, offset, room);
	case CHORD_TRACE_PACKS:
		return read_packs(f, h, offset, room);
	case CHORD_TRACE_MODULES:
		return read_modules(f, h, offset, room);
	}
	return pool_printf(f->pool, "an extent of type %u, which there is not", h->type);
}

/* Sets *offset to that of the next extent. */
static const char *
read_next(struct trace_file *f, uint64_t used, uint64_t *offset)
{
	struct chord_extent_head h;
	uint64_t room;
	const char *why;

	if (!trace_bytes(f, *offset, &h, sizeof h))
		return "it cannot be read, or has become shorter";
	if (h.size <= f->page || h.size % f->page || h.size > used - *offset)
		return "an extent of a size that cannot be";
	room = h.size < f->size - *offset ? h.size : f->size - *offset;
	why = read_extent(f, &h, *offset, room);
	*offset += h.size;
	return why;
}

/* Packed segments of a stream without a ring belong to another stream. */
static const char *
drop_parts(struct trace_file *f)
{
	const char *why = NULL;
	size_t n = 0;

	for (size_t i = 0; i < f->stream.n; i++) {
		struct trace_stream s = f->stream.at[i];

		if (s.ring.n) {
			f->stream.at[n++] = s;
			continue;
		}
		why = pool_printf(f->pool, "damaged: stream %" PRIu32 " has no ring", s.number);
		free(s.packs.at);
	}
	f->stream.n = n;
	return why;
}

static const char *
read_extents(struct trace_file *f, uint64_t used)
{
	for (uint64_t offset = f->page; offset < used && offset < f->size && f->size - offset >= f->page;) {
		const uint64_t at = offset;
		const char *why = read_next(f, used, &offset);

		if (why)
			return pool_printf(f->pool, "damaged at byte %" PRIu64 ": %s", at, why);
	}
	if (used > f->size)
		return pool_printf(f->pool, "truncated: %" PRIu64 " of %" PRIu64 " bytes are there", f->size, used);
	return drop_parts(f);
}

/* ---- the index ---- */

static int
by_first(const void *a, const void *b)
{
	const struct trace_extent *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* A ring that is followed by another one ends where that one begins. */
static void
settle_stream(struct trace_stream *s)
{
	if (s->packs.n)
		qsort(s->packs.at, s->packs.n, sizeof *s->packs.at, by_first);
	if (s->ring.n)
		qsort(s->ring.at, s->ring.n, sizeof *s->ring.at, by_first);
	for (size_t i = 1; i < s->ring.n; i++) {
		struct trace_extent *x = &s->ring.at[i - 1];
		uint64_t from = s->ring.at[i].from;

		if (from < x->end)
			x->end = from > x->first ? from : x->first;
	}
}

static const char *
check_head(struct pool *pool, const struct chord_trace_head *h, uint64_t size)
{
	if (!size)
		return "the file is empty";
	if (size < sizeof h->magic || h->magic != CHORD_TRACE_MAGIC)
		return "not a trace";
	if (size < CHORD_PAGE_LEAST)
		return "truncated: not even its first page is there";
	if (h->version < 1 || h->version > CHORD_TRACE_VERSION)
		return pool_printf(pool, "a trace of version %u; this is version %u", h->version, CHORD_TRACE_VERSION);
	if (h->page < CHORD_PAGE_LEAST || h->page > CHORD_PAGE_MOST || h->page & (h->page - 1))
		return "damaged: pages of a size that cannot be";
	if (h->used < h->page || h->used % h->page)
		return "damaged: its header makes no sense";
	if (h->flags & ~(uint32_t)(CHORD_TRACE_STOPPED | CHORD_TRACE_SHARED | CHORD_TRACE_UNKNOWN | CHORD_TRACE_LATE |
	    CHORD_TRACE_LAST | CHORD_TRACE_OVERRUN))
		return "damaged: flags without a meaning";
	return NULL;
}

/* The process may have made the file longer before it wrote the new size to the head. */
static void
take_size(struct trace_file *f)
{
	struct stat st;

	if (f->fd >= 0 && !fstat(f->fd, &st))
		f->size = (uint64_t)st.st_size;
}

static struct trace_file *
read_file(struct pool *pool, struct trace_file *f, const char **why)
{
	struct chord_trace_head h = {0};

	if (!trace_bytes(f, 0, &h, f->size < sizeof h ? (size_t)f->size : sizeof h))
		*why = "it cannot be read";
	else
		*why = check_head(pool, &h, f->size);
	if (*why) {
		trace_close(f);
		return NULL;
	}
	take_size(f);
	f->page = h.page;
	f->version = h.version;
	f->flags = h.flags;
	f->pid = h.pid;
	f->id = h.id;
	f->id2 = h.id2;
	f->error = h.error;
	f->fault = read_extents(f, h.used);
	for (size_t i = 0; i < f->stream.n; i++) {
		settle_stream(&f->stream.at[i]);
		if (f->flags & CHORD_TRACE_LAST)
			trace_keep_end(f, &f->stream.at[i]);
	}
	return f;
}

static struct trace_file *
new_file(struct pool *pool, int fd, struct str bytes, uint64_t size)
{
	struct trace_file *f = xcalloc(1, sizeof *f);

	f->pool = pool;
	f->fd = fd;
	f->bytes = bytes;
	f->size = size;
	return f;
}

struct trace_file *
trace_take(struct pool *pool, struct trace_memory *m, const char **why)
{
	struct trace_file *f = new_file(pool, -1, (struct str){0}, memory_size(m));

	f->memory = m;
	return read_file(pool, f, why);
}

struct trace_file *
trace_parse(struct pool *pool, struct str bytes, const char **why)
{
	return read_file(pool, new_file(pool, -1, bytes, bytes.n), why);
}

struct trace_file *
trace_open(struct pool *pool, const char *path, const char **why)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &st)) {
		*why = pool_strdup(pool, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		*why = "not a file";
	} else {
		return read_file(pool, new_file(pool, fd, (struct str){0}, (uint64_t)st.st_size), why);
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}

void
trace_close(struct trace_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	for (size_t i = 0; i < f->stream.n; i++) {
		free(f->stream.at[i].packs.at);
		free(f->stream.at[i].ring.at);
	}
	free(f->stream.at);
	free(f->module.at);
	if (f->memory)
		free(f->memory->part.at);
	free(f);
}

const char *
trace_short(struct pool *pool, const struct trace_file *f)
{
	if (f->fault)
		return f->fault;
	if (f->flags & CHORD_TRACE_STOPPED)
		return pool_printf(pool, "it stopped before the process did: %s%s", f->error ? strerror((int)f->error) : "no room",
		                   f->flags & CHORD_TRACE_LAST ? "; the end of the run, which was to be kept, is not in it" : "");
	if (f->flags & CHORD_TRACE_LATE)
		return "its beginning is missing: too much ran before the runtime did, or a fork came amid it";
	if (f->flags & CHORD_TRACE_UNKNOWN)
		return "two modules, one loaded when the other was gone, had the same tokens";
	if (f->flags & CHORD_TRACE_SHARED)
		return "threads shared a stream: what they wrote may be lost or mixed";
	if (f->flags & CHORD_TRACE_OVERRUN)
		return "handlers interrupted one another, or children of vfork were killed, where a segment begins: "
		       "what they wrote may be lost or mixed";
	return trace_tail(pool, f);
}

const char *
trace_tail(struct pool *pool, const struct trace_file *f)
{
	if (!f->gone)
		return NULL;
	return pool_printf(pool, "only its end was kept: the beginning, %" PRIu64 " segment%s of %d paths, is missing", f->gone,
	                   f->gone == 1 ? "" : "s", CHORD_TRACE_SLOTS);
}

uint32_t
trace_module_of(const struct trace_file *f, uint32_t token, size_t n)
{
	n = n < f->module.n ? n : f->module.n;
	for (size_t i = n; i; i--)
		if (token - f->module.at[i - 1].low < f->module.at[i - 1].bytes)
			return (uint32_t)(i - 1);
	for (size_t i = n; i < f->module.n; i++)
		if (token - f->module.at[i].low < f->module.at[i].bytes)
			return (uint32_t)i;
	return UINT32_MAX;
}
