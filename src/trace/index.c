/* SPDX-License-Identifier: MIT */
/* An index has the reader's state at the beginning of extents of packed segments, where reading can begin, and all events that
 * order streams. It is kept in a file, with a hash of everything that it depends on, and a sum. If it belongs to another trace or
 * is damaged, it is ignored. Its size is bounded, whatever the trace's length: if there are too many states, every other one is
 * dropped; if the events take too much, they are not kept. */
#include "trace/internal.h"

#include "cfg/in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The version covers the bytes and everything that the reader makes of a trace: a reader that follows a trace differently needs
 * another version. */
enum { MAGIC = 0x58494843, VERSION = 8, BYTES_MOST = 8 << 20, STATE_MOST = BYTES_MOST / 16 };
/* What an index may hold in addition to states. */
enum { HOLDS_EVENTS = 1, HOLDS_DATA = 2, HOLDS_ALL = 3 };

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

/* A hash of the trace and of its reader. The trace is hashed byte by byte, except for packed segments: for those the time of the
 * last change has to do. */
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

/* The bytes of a state stay where they are, in `bytes`. */
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
read_streams(struct trace_index *x, struct in *in)
{
	uint64_t holds = in_uleb(in);
	size_t at, n;

	if (holds > HOLDS_ALL)
		in_bad(in, "it holds what is not known");
	x->ordered = holds & HOLDS_EVENTS;
	x->with_data = holds & HOLDS_DATA;
	for (size_t i = 0; i < x->file->stream.n; i++) {
		struct trace_indexed *s = &x->stream[i];

		s->parts = in_uleb(in);
		s->nevents = in_uleb(in);
		if (!read_part(in, &x->bytes, &at, &n))
			break;
		s->read = (struct str){x->bytes.at + at, n};
	}
	return !in->bad;
}

static bool
read_states(struct trace_index *x, struct in *in)
{
	if (!read_streams(x, in))
		return false;
	while (in_left(in)) {
		struct trace_state s = {.stream = in_below(in, x->file->stream.n, "there is no such stream")};

		s.part = in_uleb(in);
		s.thread = in_uleb(in);
		s.insns = in_uleb(in);
		s.segment = in_uleb(in);
		s.events = in_uleb(in);
		if (!read_part(in, &x->bytes, &s.entered, &s.nentered) || !read_part(in, &x->bytes, &s.at, &s.n) ||
		    !read_part(in, &x->bytes, &s.data, &s.ndata))
			break;
		if (s.nentered + s.n + s.ndata > STATE_MOST)
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

	if (stat(x->name, &st) || !S_ISREG(st.st_mode) || st.st_size > 3 * BYTES_MOST || !file_read(x->name, &x->bytes) ||
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

/* The state of an index that has been neither read nor made. */
static void
clear(struct trace_index *x)
{
	x->bytes.n = x->state.n = 0;
	x->read = x->with_data = false;
	x->ordered = true;
	memset(x->stream, 0, x->file->stream.n * sizeof *x->stream);
}

struct trace_index *
trace_index_open(struct pool *pool, const char *trace, struct trace_file *f, const struct profile *p, const struct map *const *map,
                 const struct data *data)
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
	x->stream = xcalloc(f->stream.n, sizeof *x->stream);
	x->every = 1;
	x->data = data;
	x->read = read_index(x) && (!data || x->with_data);
	if (x->read)
		return x;
	clear(x);
	x->cannot = f->fault != NULL;
	x->with_data = data != NULL;
	return x;
}

static void
free_entered(const struct trace_index *x, struct trace_indexed *s)
{
	for (size_t i = 0; s->entered && i < x->profile->module.n; i++)
		free(s->entered[i]);
	free(s->entered);
	s->entered = NULL;
}

void
trace_index_free(struct trace_index *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->file->stream.n; i++) {
		free_entered(x, &x->stream[i]);
		buf_free(&x->stream[i].events);
	}
	free(x->stream);
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

void
trace_index_data(const struct trace_index *x, const struct trace_state *s, const struct replay *r, struct data *d)
{
	data_restore(d, (struct str){x->bytes.at + s->data, s->ndata}, r->stack.n);
}

/* ---- what orders streams ---- */

/* The fields of struct replay that describe such an event; `which` 0: a thread begins. */
static void
fields_of(const struct replay *r, uint32_t which, uint64_t v[2])
{
	v[0] = v[1] = 0;
	switch (which) {
	case CHORD_EVENT_CREATES:
		v[0] = r->made;
		v[1] = r->stream;
		break;
	case CHORD_EVENT_JOINS:
		v[0] = r->joined;
		v[1] = r->joined_in;
		break;
	case CHORD_EVENT_FORKS: case CHORD_EVENT_FORKED:
		v[0] = r->forks;
		v[1] = r->parent;
		break;
	case CHORD_EVENT_STAMP:
		v[0] = r->stamp;
		break;
	case CHORD_EVENT_ENDS:
		v[0] = r->ends;
		v[1] = r->by;
		break;
	}
}

static void
set_fields(struct replay *r, uint32_t which, const uint64_t v[2])
{
	const uint32_t low[] = {(uint32_t)v[0], (uint32_t)v[1]};

	switch (which) {
	case CHORD_EVENT_CREATES:
		r->made = low[0];
		r->stream = low[1];
		break;
	case CHORD_EVENT_JOINS:
		r->joined = low[0];
		r->joined_in = low[1];
		break;
	case CHORD_EVENT_FORKS: case CHORD_EVENT_FORKED:
		r->forks = v[0];
		r->parent = low[1];
		break;
	case CHORD_EVENT_STAMP:
		r->stamp = v[0];
		break;
	case CHORD_EVENT_ENDS:
		r->ends = low[0];
		r->by = low[1];
		break;
	}
}

void
trace_index_happens(struct trace_index *x, const struct replay *r, uint32_t which)
{
	struct trace_indexed *s = &x->stream[r->number];
	uint64_t v[2];

	s->nevents++;
	if (!x->ordered)
		return;
	fields_of(r, which, v);
	x->nevents -= s->events.n;
	buf_uleb(&s->events, which);
	buf_uleb(&s->events, r->insns);
	buf_uleb(&s->events, v[0]);
	buf_uleb(&s->events, v[1]);
	x->nevents += s->events.n;
	if (x->nevents <= BYTES_MOST)
		return;
	x->ordered = false;
	for (size_t i = 0; i < x->file->stream.n; i++)
		buf_free(&x->stream[i].events);
}

/* Reads the next event and returns its kind. */
static uint32_t
next_event(struct in *in, uint64_t *insns, uint64_t v[2])
{
	static const uint32_t all = 1 | 1 << CHORD_EVENT_CREATES | 1 << CHORD_EVENT_JOINS | 1 << CHORD_EVENT_FORKS |
	                            1 << CHORD_EVENT_FORKED | 1 << CHORD_EVENT_STAMP | 1 << CHORD_EVENT_ENDS;
	uint32_t which = in_below(in, 32, "there is no such event");

	if (!(all >> which & 1))
		in_bad(in, "there is no such event");
	*insns = in_uleb(in);
	v[0] = in_uleb(in);
	v[1] = in_uleb(in);
	return which;
}

static struct in
events_of(const struct trace_index *x, const struct trace_events *e)
{
	const struct str all = x->stream[e->stream].read;

	return (struct in){.at = (const unsigned char *)all.at + e->at, .end = (const unsigned char *)all.at + all.n};
}

bool
trace_index_next(const struct trace_index *x, struct trace_events *e, struct replay *r, uint32_t *which)
{
	struct in in = events_of(x, e);
	uint64_t v[2], insns;

	*which = next_event(&in, &insns, v);
	if (in.bad)
		return false;
	e->at = (size_t)((const char *)in.at - x->stream[e->stream].read.at);
	e->n++;
	if (r) {
		r->insns = insns;
		set_fields(r, *which, v);
	}
	return true;
}

uint64_t
trace_index_before_thread(const struct trace_index *x, struct trace_events e)
{
	uint32_t which;
	uint64_t n;

	do
		n = e.n;
	while (trace_index_next(x, &e, NULL, &which) && which);
	return n;
}

/* ---- making it ---- */

/* How often the thread of a stream has entered each procedure, by module of the profile and by procedure. NULL: nobody asks for
 * it. */
static uint64_t **
entered_of(struct trace_index *x, size_t stream)
{
	struct trace_indexed *s = &x->stream[stream];

	if (s->entered || !x->file->stream.at[stream].packs.n)
		return s->entered;
	s->entered = xcalloc(x->profile->module.n, sizeof *s->entered);
	for (size_t i = 0; i < x->profile->module.n; i++)
		if (x->map[i])
			s->entered[i] = xcalloc(x->map[i]->nproc, sizeof **s->entered);
	return s->entered;
}

void
trace_index_enters(struct trace_index *x, const struct replay *r, const struct proc *p, uint32_t module)
{
	uint64_t **entered = entered_of(x, r->number);

	if (entered)
		entered[module][p - x->map[module]->proc]++;
}

/* An activation that had begun before is not counted for the thread, so the thread's counts of entries are not known. */
void
trace_index_thread(struct trace_index *x, const struct replay *r)
{
	uint64_t **entered = x->stream[r->number].entered;

	x->cannot |= r->stack.n != 0;
	for (size_t i = 0; entered && i < x->profile->module.n; i++)
		if (entered[i])
			memset(entered[i], 0, x->map[i]->nproc * sizeof **entered);
}

static void
add_entered(const struct trace_index *x, size_t stream, struct buf *b)
{
	uint64_t *const *entered = x->stream[stream].entered;

	for (size_t i = 0; entered && i < x->profile->module.n; i++)
		for (uint32_t k = 0; entered[i] && k < x->map[i]->nproc; k++) {
			if (!entered[i][k])
				continue;
			buf_uleb(b, i);
			buf_uleb(b, k);
			buf_uleb(b, entered[i][k]);
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
		new.data = b.n;
		buf_add(&b, x->bytes.at + s.data, s.ndata);
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
	                        .segment = r->slots->segment, .entered = x->bytes.n,
	                        .events = x->stream[r->number].nevents};

	if (x->cannot || x->passed++ % x->every)
		return;
	add_entered(x, r->number, &x->bytes);
	s.at = x->bytes.n;
	s.nentered = s.at - s.entered;
	x->cannot |= !replay_save(r, x->map, x->profile, &x->bytes);
	s.n = x->bytes.n - s.at;
	s.data = x->bytes.n;
	if (x->data)
		data_save(x->data, &x->bytes);
	s.ndata = x->bytes.n - s.data;
	if (s.nentered + s.n + s.ndata > STATE_MOST) {
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
	x->stream[r->number].parts = r->part;
	free_entered(x, &x->stream[r->number]);
}

static void
put_state(const struct trace_index *x, const struct trace_state *s, struct buf *b)
{
	buf_uleb(b, s->stream);
	buf_uleb(b, s->part);
	buf_uleb(b, s->thread);
	buf_uleb(b, s->insns);
	buf_uleb(b, s->segment);
	buf_uleb(b, s->events);
	buf_uleb(b, s->nentered);
	buf_add(b, x->bytes.at + s->entered, s->nentered);
	buf_uleb(b, s->n);
	buf_add(b, x->bytes.at + s->at, s->n);
	buf_uleb(b, s->ndata);
	buf_add(b, x->bytes.at + s->data, s->ndata);
}

/* States of streams that were read in turns are mixed in x->state, so they are sorted by stream here. */
static void
put_all(const struct trace_index *x, struct buf *b)
{
	buf_uleb(b, (x->ordered ? HOLDS_EVENTS : 0) | (x->with_data ? HOLDS_DATA : 0));
	for (size_t i = 0; i < x->file->stream.n; i++) {
		const struct trace_indexed *s = &x->stream[i];

		buf_uleb(b, s->parts);
		buf_uleb(b, s->nevents);
		buf_uleb(b, s->events.n);
		buf_add(b, s->events.at, s->events.n);
	}
	for (size_t i = 0; i < x->file->stream.n; i++)
		for (size_t k = 0; k < x->state.n; k++)
			if (x->state.at[k].stream == i)
				put_state(x, &x->state.at[k], b);
}

/* Is the file of that name the one that was read, and unchanged? */
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
