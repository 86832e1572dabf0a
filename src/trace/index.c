/* SPDX-License-Identifier: MIT */
/* An index: what the reader knew at the beginning of extents of packed segments, where reading can begin. It is kept in a file,
 * with a number of all that it depends on and a sum: one that is of another trace, or damaged, is as if it were not there. Its
 * size is bounded, whatever the trace's length: where it becomes too large, every other state is dropped. */
#include "trace/internal.h"

#include "cfg/in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The version is that of the bytes, and of all that the reader makes of a trace: one that follows a trace otherwise is another. */
enum { MAGIC = 0x58494843, VERSION = 5, BYTES_MOST = 8 << 20, STATE_MOST = BYTES_MOST / 16 };

struct head {
	uint32_t magic, version;
	uint64_t key;
	uint64_t sum;            /* str_hash() of what follows */
};

/* ---- what it depends on ---- */

static void
add_ring(struct buf *b, const struct trace_file *f, const struct trace_extent *x)
{
	char *part = xmalloc(CHORD_TRACE_SEGMENT);
	uint64_t n;

	for (uint64_t at = 0; at < x->bytes; at += n) {
		n = x->bytes - at < CHORD_TRACE_SEGMENT ? x->bytes - at : CHORD_TRACE_SEGMENT;
		buf_number(b, trace_bytes(f, x->offset + at, part, n) ? str_hash((struct str){part, n}) : 0);
		buf_char(b, ' ');
	}
	free(part);
}

static void
add_stream(struct buf *b, const struct trace_file *f, const struct trace_stream *s)
{
	buf_printf(b, "stream %u\n", s->number);
	for (size_t i = 0; i < s->packs.n; i++) {
		const struct trace_extent *x = &s->packs.at[i];

		buf_printf(b, "%ju %ju %ju %d\n", (uintmax_t)x->offset, (uintmax_t)x->bytes, (uintmax_t)x->first, x->zstd);
	}
	for (size_t i = 0; i < s->ring.n; i++) {
		const struct trace_extent *x = &s->ring.at[i];

		buf_printf(b, "ring %ju %ju %ju %ju ", (uintmax_t)x->offset, (uintmax_t)x->bytes, (uintmax_t)x->first,
		           (uintmax_t)x->end);
		add_ring(b, f, x);
	}
}

static void
add_profile(struct buf *b, const struct profile *p, const struct map *const *map)
{
	buf_printf(b, "profile %u %ju\n", p->flags, (uintmax_t)p->state);
	for (size_t i = 0; i < p->module.n; i++) {
		buf_printf(b, "%u ", map[i] ? map[i]->nproc + 1 : 0);
		buf_add(b, p->module.at[i].id, p->module.at[i].nid);
	}
	for (size_t i = 0; i < p->number.n; i++)
		buf_printf(b, " %u", p->number.at[i]);
}

/* The trace, byte by byte but for what is packed, of which the time of the last change has to do; who reads it. */
static uint64_t
key_of(const struct trace_file *f, const struct profile *p, const struct map *const *map)
{
	struct buf b = {0};
	struct stat st = {0};
	uint64_t key;

	fstat(f->fd, &st);
	buf_printf(&b, "%ju %ju.%09ld ", (uintmax_t)f->size, (uintmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	buf_printf(&b, "%u %u %ju %ju %ju %ju\n", f->version, f->flags, (uintmax_t)f->pid, (uintmax_t)f->id, (uintmax_t)f->id2,
	           (uintmax_t)f->error);
	if (f->module.n)
		buf_add(&b, f->module.at, f->module.n * sizeof *f->module.at);
	for (size_t i = 0; i < f->stream.n; i++)
		add_stream(&b, f, &f->stream.at[i]);
	add_profile(&b, p, map);
	key = str_hash((struct str){b.at, b.n});
	buf_free(&b);
	return key;
}

/* ---- reading it ---- */

/* The bytes of a state stay where they are. */
static bool
read_part(struct in *in, const struct buf *b, size_t *at, size_t *n)
{
	*n = in_uleb(in);
	if (*n > in_left(in))
		in_bad(in, "it ends too early");
	*at = (size_t)((const char *)in->at - b->at);
	if (!in->bad)
		in->at += *n;
	return !in->bad;
}

static bool
read_states(struct trace_index *x, struct in *in)
{
	for (size_t i = 0; i < x->file->stream.n; i++)
		x->parts[i] = in_uleb(in);
	while (in_left(in)) {
		struct trace_state s = {.stream = in_below(in, x->file->stream.n, "there is no such stream")};

		s.part = in_uleb(in);
		s.thread = in_uleb(in);
		s.insns = in_uleb(in);
		s.segment = in_uleb(in);
		if (!read_part(in, &x->bytes, &s.entered, &s.nentered) || !read_part(in, &x->bytes, &s.at, &s.n))
			break;
		if (s.nentered + s.n > STATE_MOST)
			in_bad(in, "it is larger than any that is written");
		VEC_PUSH(x->state, s);
	}
	return !in->bad;
}

static bool
read_index(struct trace_index *x)
{
	struct head h;
	struct in in;
	struct stat st;

	if (stat(x->name, &st) || !S_ISREG(st.st_mode) || st.st_size > 2 * BYTES_MOST || !file_read(x->name, &x->bytes) ||
	    x->bytes.n < sizeof h)
		return false;
	memcpy(&h, x->bytes.at, sizeof h);
	in.at = (const unsigned char *)x->bytes.at + sizeof h;
	in = (struct in){.at = in.at, .end = (const unsigned char *)x->bytes.at + x->bytes.n};
	return h.magic == MAGIC && h.version == VERSION && h.key == x->key &&
	       h.sum == str_hash((struct str){(const char *)in.at, in_left(&in)}) && read_states(x, &in);
}

static bool
is_long(const struct trace_file *f)
{
	for (size_t i = 0; i < f->stream.n; i++)
		if (f->stream.at[i].packs.n > 1)
			return true;
	return false;
}

struct trace_index *
trace_index_open(struct pool *pool, const char *trace, struct trace_file *f, const struct profile *p, const struct map *const *map)
{
	struct trace_index *x;

	if (f->fd < 0 || !is_long(f))
		return NULL;
	x = xcalloc(1, sizeof *x);
	x->name = pool_printf(pool, "%s" CHORD_TRACE_INDEX, trace);
	x->file = f;
	x->profile = p;
	x->map = map;
	x->key = key_of(f, p, map);
	x->parts = xcalloc(f->stream.n, sizeof *x->parts);
	x->every = 1;
	x->read = read_index(x);
	if (x->read)
		return x;
	x->cannot = f->fault != NULL;
	x->bytes.n = x->state.n = 0;
	x->entered = xcalloc(p->module.n, sizeof *x->entered);
	for (size_t i = 0; i < p->module.n; i++)
		if (map[i])
			x->entered[i] = xcalloc(map[i]->nproc, sizeof **x->entered);
	return x;
}

void
trace_index_free(struct trace_index *x)
{
	if (!x)
		return;
	for (size_t i = 0; x->entered && i < x->profile->module.n; i++)
		free(x->entered[i]);
	free(x->entered);
	free(x->parts);
	free(x->state.at);
	buf_free(&x->bytes);
	free(x);
}

void
trace_index_entered(const struct trace_index *x, const struct trace_state *s,
                    void (*each)(void *ctx, const struct proc *p, uint64_t n), void *ctx)
{
	const unsigned char *at = (const unsigned char *)x->bytes.at + s->entered;
	struct in in = {.at = at, .end = at + s->nentered};

	while (in_left(&in)) {
		uint32_t module = in_below(&in, x->profile->module.n, "there is no such module");
		const struct map *map = in.bad ? NULL : x->map[module];
		uint32_t i = in_below(&in, map ? map->nproc : 0, "there is no such procedure");
		uint64_t n = in_uleb(&in);

		if (!in.bad)
			each(ctx, &map->proc[i], n);
	}
}

bool
trace_index_go(const struct trace_index *x, const struct trace_state *s, struct replay *r)
{
	return s->stream == r->number &&
	       replay_restore(r, x->map, x->profile, (struct str){x->bytes.at + s->at, s->n}, s->segment);
}

/* ---- making it ---- */

void
trace_index_enters(struct trace_index *x, const struct proc *p, uint32_t module)
{
	x->entered[module][p - x->map[module]->proc]++;
}

/* An activation that had begun before is not counted for the thread: then nothing is known of what that has entered. */
void
trace_index_thread(struct trace_index *x, const struct replay *r)
{
	x->cannot |= r->stack.n != 0;
	for (size_t i = 0; i < x->profile->module.n; i++)
		if (x->entered[i])
			memset(x->entered[i], 0, x->map[i]->nproc * sizeof **x->entered);
}

static void
add_entered(const struct trace_index *x, struct buf *b)
{
	for (size_t i = 0; i < x->profile->module.n; i++)
		for (uint32_t k = 0; x->entered[i] && k < x->map[i]->nproc; k++) {
			if (!x->entered[i][k])
				continue;
			buf_uleb(b, i);
			buf_uleb(b, k);
			buf_uleb(b, x->entered[i][k]);
		}
}

/* Drops every other state. */
static void
thin(struct trace_index *x)
{
	struct buf b = {0};
	size_t n = 0;

	for (size_t i = 1; i < x->state.n; i += 2) {
		struct trace_state s = x->state.at[i], new = s;

		new.entered = b.n;
		buf_add(&b, x->bytes.at + s.entered, s.nentered);
		new.at = b.n;
		buf_add(&b, x->bytes.at + s.at, s.n);
		x->state.at[n++] = new;
	}
	x->state.n = n;
	x->every *= 2;
	buf_free(&x->bytes);
	x->bytes = b;
}

void
trace_index_add(struct trace_index *x, const struct replay *r)
{
	struct trace_state s = {.stream = (uint32_t)r->number, .part = r->part, .thread = r->thread, .insns = r->insns,
	                        .segment = r->slots->segment, .entered = x->bytes.n};

	if (x->cannot || x->passed++ % x->every)
		return;
	add_entered(x, &x->bytes);
	s.at = x->bytes.n;
	s.nentered = s.at - s.entered;
	x->cannot |= !replay_save(r, x->map, x->profile, &x->bytes);
	s.n = x->bytes.n - s.at;
	if (s.nentered + s.n > STATE_MOST) {
		x->bytes.n = s.entered;
		return;
	}
	VEC_PUSH(x->state, s);
	if (x->bytes.n > BYTES_MOST)
		thin(x);
}

void
trace_index_ended(struct trace_index *x, const struct replay *r)
{
	x->cannot |= r->stop || r->slots->fault;
	x->parts[r->number] = r->part;
}

static void
put_all(const struct trace_index *x, struct buf *b)
{
	for (size_t i = 0; i < x->file->stream.n; i++)
		buf_uleb(b, x->parts[i]);
	for (size_t i = 0; i < x->state.n; i++) {
		const struct trace_state *s = &x->state.at[i];

		buf_uleb(b, s->stream);
		buf_uleb(b, s->part);
		buf_uleb(b, s->thread);
		buf_uleb(b, s->insns);
		buf_uleb(b, s->segment);
		buf_uleb(b, s->nentered);
		buf_add(b, x->bytes.at + s->entered, s->nentered);
		buf_uleb(b, s->n);
		buf_add(b, x->bytes.at + s->at, s->n);
	}
}

/* Is the file of that name what was read, and has it not changed? */
static bool
is_same(const struct trace_index *x, struct pool *pool)
{
	const char *trace = pool_strndup(pool, x->name, strlen(x->name) - strlen(CHORD_TRACE_INDEX)), *why;
	struct trace_file *now = trace_open(pool, trace, &why);
	bool same = now && !now->fault && key_of(now, x->profile, x->map) == x->key;

	trace_close(now);
	return same;
}

void
trace_index_keep(struct trace_index *x)
{
	struct head h = {.magic = MAGIC, .version = VERSION, .key = x->key};
	struct pool *pool = pool_new();
	struct buf b = {0};
	struct stat st;

	if (!x->cannot && x->state.n && is_same(x, pool) && (lstat(x->name, &st) ? errno == ENOENT : S_ISREG(st.st_mode))) {
		buf_add(&b, &h, sizeof h);
		put_all(x, &b);
		h.sum = str_hash((struct str){b.at + sizeof h, b.n - sizeof h});
		memcpy(b.at, &h, sizeof h);
		(void)!file_write(x->name, b.at, b.n);
		buf_free(&b);
	}
	pool_free(pool);
}
