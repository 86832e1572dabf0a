/* SPDX-License-Identifier: MIT */
/* Reads a profile. The file may belong to a running process: everything after `used` is ignored, and counters may change between
 * one read and the next. */
#include "format/trace.h"
#include "profile/measure.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ID_MAX = 32, MODULES_MAX = 0x7ffe };

struct reader {
	struct pool *pool;
	const unsigned char *bytes;
	uint64_t page;           /* bytes */
	struct profile *p;
	VEC(uint32_t) module;    /* index in the file -> index in p->module */
	uint64_t region;         /* number of the wanted region, plus 1; 0: all */
	struct profile *sum;     /* of a file that keeps processes apart; then p is one of these parts: */
	VEC(struct profile *) part;
	const unsigned char *waiting; /* the extent with the activations of threads that waited at the end; NULL: none */
	const char *why;
};

struct profile *
profile_new(void)
{
	struct profile *p = xcalloc(1, sizeof *p);

	p->pool = pool_new();
	return p;
}

void
profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->module.at);
	free(p->number.at);
	free(p->exit.at);
	free(p->waits.at.at);
	measures_forget(p);
	free(p->text.at);
	free(p->unknown.at);
	free(p->unsummed.at);
	free(p->origin.at);
	for (size_t i = 0; i < p->flight.n; i++)
		profile_free(p->flight.at[i]);
	free(p->flight.at);
	profile_free(p->rest);
	pool_free(p->pool);
	free(p);
}

struct module *
profile_module(const struct profile *p, struct str id)
{
	for (size_t i = 0; i < p->module.n; i++) {
		struct module *m = &p->module.at[i];

		if (m->nid && m->nid == id.n && !memcmp(m->id, id.at, id.n))
			return m;
	}
	return NULL;
}

static const char *
check_head(struct pool *pool, const struct chord_profile_head *h, size_t size)
{
	if (!size)
		return "the file is empty";
	if (size >= sizeof h->magic && h->magic == CHORD_TRACE_MAGIC)
		return "a trace, no profile: name the profile that it belongs to, which is beside it, or read it with chord trace";
	if (size >= SELFMAG && !memcmp(h, ELFMAG, SELFMAG))
		return "not a profile but a program, a library or an object";
	if (size < sizeof h->magic || h->magic != CHORD_PROFILE_MAGIC)
		return "not a profile";
	if (size < CHORD_PAGE_LEAST)
		return "truncated: not even its first page is there";
	if (h->version != CHORD_FORMAT_VERSION)
		return pool_printf(pool, "a profile of format version %u; this is version %u", h->version, CHORD_FORMAT_VERSION);
	if (h->page < CHORD_PAGE_LEAST || h->page > CHORD_PAGE_MOST || h->page & (h->page - 1))
		return "damaged: pages of a size that cannot be";
	if (h->used > size)
		return pool_printf(pool, "truncated: %zu of %" PRIu64 " bytes are there", size, h->used);
	if (h->used < h->page || h->used % h->page || h->state > CHORD_STATE_THREADS)
		return "damaged: its header makes no sense";
	if (h->flags & ~(uint32_t)(CHORD_PROFILE_MERGED | CHORD_PROFILE_NOT_WATCHED | CHORD_PROFILE_SNAPSHOT |
	                           CHORD_PROFILE_PER_THREAD | CHORD_PROFILE_INTERRUPTED | CHORD_PROFILE_SINCE))
		return "damaged: flags without a meaning";
	return NULL;
}

static struct module *
same_module(struct profile *p, const struct module *m)
{
	for (size_t i = 0; m->nid && i < p->module.n; i++) {
		struct module *have = &p->module.at[i];

		if (have->nid == m->nid && !memcmp(have->id, m->id, m->nid))
			return have;
	}
	return NULL;
}

static void
read_module(struct reader *r, const struct chord_extent_head *h, const unsigned char *at)
{
	struct module m = {.nid = (uint32_t)h->c, .base = h->a, .ncount = h->b / 8}, *have;
	const char *path = (const char *)at + sizeof *h + ID_MAX;
	size_t room = h->size - sizeof *h - ID_MAX;

	if (h->module != r->module.n || h->c > ID_MAX || h->b % 8 || h->a % 8 || r->module.n == MODULES_MAX ||
	    h->a > UINT64_MAX - h->b || !memchr(path, 0, room)) {
		r->why = "damaged: a module that makes no sense";
		return;
	}
	memcpy(m.id, at + sizeof *h, ID_MAX);
	if ((have = same_module(r->p, &m))) {
		if (have->base != m.base || have->ncount != m.ncount)
			r->why = "damaged: two modules of one build differ";
		VEC_PUSH(r->module, (uint32_t)(have - r->p->module.at));
		return;
	}
	/* Counters are allocated with the first region. Before that, the size is a number that anybody can write. */
	m.path = pool_strdup(r->p->pool, path);
	VEC_PUSH(r->p->module, m);
	VEC_PUSH(r->module, (uint32_t)r->p->module.n - 1);
}

/* region: its number plus 1. */
static bool
is_wanted(const struct reader *r, uint64_t region)
{
	return !r->region || region == r->region;
}

static void
read_counts(struct reader *r, const struct chord_extent_head *h, const unsigned char *at)
{
	struct module *m;
	const unsigned char *count = at + r->page;

	if (h->module >= r->module.n) {
		r->why = "damaged: counters of a module that is not there";
		return;
	}
	m = &r->p->module.at[r->module.at[h->module]];
	if (m->ncount > (h->size - r->page) / 8) {
		r->why = "damaged: fewer counters than the module has";
		return;
	}
	if (h->a >= r->p->nregion)
		r->p->nregion = h->a < UINT32_MAX ? (uint32_t)h->a + 1 : UINT32_MAX;
	if (!is_wanted(r, h->a + 1))
		return;
	if (!m->count)
		m->count = pool_array(r->p->pool, m->ncount, 8);
	if (!profile_add_counters(r->p, m, h->module, count))
		r->why = "its counts do not fit 64 bits";
}

static void
read_exits(struct reader *r, const struct chord_extent_head *h, const unsigned char *at)
{
	if (h->a > (h->size - sizeof *h) / sizeof(struct chord_exit)) {
		r->why = "damaged: fewer exit records than announced";
		return;
	}
	for (uint64_t i = 0; i < h->a; i++) {
		struct chord_exit e;

		memcpy(&e, at + sizeof *h + i * sizeof e, sizeof e);
		if (e.key && e.count && is_wanted(r, h->b))
			VEC_PUSH(r->p->exit, (struct exits){CHORD_EXIT_MODULE(e.key), e.key & CHORD_EXIT_REENTRY,
			                                    e.key & CHORD_EXIT_HANDLER, CHORD_EXIT_ADDR(e.key), e.count,
			                                    {e.sum[0], e.sum[1], e.sum[2], e.sum[3]}});
	}
}

/* Begins the part of one process, or of all processes that ended. Each part has the same modules, and belongs to the sum, which has
 * their paths. */
static void
begin_part(struct reader *r, const struct chord_flight *f)
{
	struct profile *p = profile_new();

	p->flags = r->sum->flags;
	p->state = f ? f->state : CHORD_STATE_ENDED;
	p->standing = f ? f->standing : 0;
	p->stack = f ? f->stack : 0;
	p->nrunning = f && f->state == CHORD_STATE_RUNNING;
	p->nthreads = f && f->state == CHORD_STATE_THREADS;
	for (size_t i = 0; i < r->sum->module.n; i++) {
		struct module m = r->sum->module.at[i];

		measures_copy_module(p, &m);
		VEC_PUSH(p->module, m);
	}
	VEC_PUSH(r->part, p);
}

static void
read_flight(struct reader *r, const struct chord_extent_head *h, const unsigned char *at)
{
	bool counted = false;

	for (size_t i = 0; i < r->p->module.n; i++)
		counted |= r->p->module.at[i].count != NULL;
	if (h->a > (h->size - sizeof *h) / sizeof(struct chord_flight) || !(r->p->flags & CHORD_PROFILE_MERGED) || r->sum ||
	    counted) {
		r->why = "damaged: processes that make no sense";
		return;
	}
	r->sum = r->p;
	begin_part(r, NULL);
	for (uint64_t i = 0; i < h->a; i++) {
		struct chord_flight f;

		memcpy(&f, at + sizeof *h + i * sizeof f, sizeof f);
		if (f.region != i + 1 || !f.standing || f.state > CHORD_STATE_THREADS) {
			r->why = "damaged: a process that makes no sense";
			return;
		}
		begin_part(r, &f);
	}
}

/* Chooses the part to which an extent belongs. False: it belongs to none. */
static bool
choose_part(struct reader *r, const struct chord_extent_head *h)
{
	const struct profile_extent *x = measures_extent(h->type);
	bool counts = h->type == CHORD_EXTENT_COUNTS, module = h->type == CHORD_EXTENT_MODULE || (x && x->of_module);
	uint64_t of = counts ? h->a + 1 : h->b;

	if (!r->sum || !(counts || module || x || h->type == CHORD_EXTENT_EXITS || h->type == CHORD_EXTENT_FLIGHT)) {
		r->p = r->sum ? r->sum : r->p;
		return true;
	}
	if (module || !of || of > r->part.n) {
		r->why = "damaged: an extent of none of its processes";
		return false;
	}
	r->p = r->part.at[of - 1];
	return true;
}

/* Control characters could do harm on a terminal, so they become blanks. */
static void
read_text(struct reader *r, const struct chord_extent_head *h, const unsigned char *at)
{
	const char *text = (const char *)at + sizeof *h;
	char *copy;

	if (!memchr(text, 0, h->size - sizeof *h)) {
		r->why = "damaged: a text without an end";
		return;
	}
	copy = pool_strdup(r->p->pool, text);
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	VEC_PUSH(r->p->text, copy);
}

static void
read_origins(struct reader *r, const struct chord_extent_head *h, const unsigned char *at)
{
	if (h->a > (h->size - sizeof *h) / sizeof(struct chord_origin)) {
		r->why = "damaged: fewer origins than announced";
		return;
	}
	for (uint64_t i = 0; i < h->a; i++) {
		struct chord_origin o;

		memcpy(&o, at + sizeof *h + i * sizeof o, sizeof o);
		VEC_PUSH(r->p->origin, o);
	}
}

static void
read_unknown(struct reader *r, const struct chord_extent_head *h, const unsigned char *at)
{
	struct unknown u = {.type = h->type, .module = h->module < r->module.n ? r->module.at[h->module] : UINT32_MAX, .a = h->a,
	                    .b = h->b, .c = h->c, .n = h->size - sizeof *h};

	if (!CHORD_EXTENT_TAG(h->type)) {
		r->why = "damaged: an extent without a type";
		return;
	}
	u.at = pool_alloc(r->p->pool, u.n);
	memcpy(u.at, at + sizeof *h, u.n);
	VEC_PUSH(r->p->unknown, u);
}

static void
read_waiting(struct reader *r, const struct chord_extent_head *h, const unsigned char *at)
{
	if (h->a > (h->size - sizeof *h - 8) / sizeof(struct chord_waiting) || h->module > 1)
		r->why = "damaged: threads that waited make no sense";
	r->waiting = at; /* if there are several, the last one is used */
}

/* Data of a measure other than counters. */
static void
read_measured(struct reader *r, const struct profile_extent *x, const struct chord_extent_head *h, const unsigned char *at)
{
	bool there = x->of_module && h->module < r->module.n;

	if (x->of_module || is_wanted(r, h->b))
		r->why = x->read(r->p, there ? &r->p->module.at[r->module.at[h->module]] : NULL, h, at);
}

static void
read_extent(struct reader *r, const struct chord_extent_head *h, const unsigned char *at)
{
	const struct profile_extent *x = measures_extent(h->type);

	switch (h->type) {
	case CHORD_EXTENT_MODULE:
		read_module(r, h, at);
		break;
	case CHORD_EXTENT_COUNTS:
		read_counts(r, h, at);
		break;
	case CHORD_EXTENT_EXITS:
		read_exits(r, h, at);
		break;
	case CHORD_EXTENT_FLIGHT:
		read_flight(r, h, at);
		break;
	case CHORD_EXTENT_WAITING:
		read_waiting(r, h, at);
		break;
	case CHORD_EXTENT_TEXT:
		read_text(r, h, at);
		break;
	case CHORD_EXTENT_ORIGINS:
		read_origins(r, h, at);
		break;
	default:
		if (x)
			read_measured(r, x, h, at);
		else
			read_unknown(r, h, at);
	}
}

static void
read_extents(struct reader *r, uint64_t used)
{
	for (uint64_t offset = r->page; offset < used && !r->why;) {
		struct chord_extent_head h;

		memcpy(&h, r->bytes + offset, sizeof h);
		if (h.size < r->page || h.size % r->page || h.size > used - offset) {
			r->why = "damaged: an extent of a size that cannot be";
			return;
		}
		if (choose_part(r, &h))
			read_extent(r, &h, r->bytes + offset);
		offset += h.size;
	}
}

/* Exit records name modules by their numbers in the file. A module's extent may come after the record. */
static void
settle_exits(struct reader *r)
{
	for (size_t i = 0; i < r->p->exit.n && !r->why; i++) {
		struct exits *e = &r->p->exit.at[i];

		if (e->module >= r->module.n)
			r->why = "damaged: an exit from a module that is not there";
		else
			e->module = r->module.at[e->module];
	}
}

/* ---- threads that waited at the end ---- */

/* The sum over all records, and over all counters except those of region number `region` - 1. */
static uint64_t
sum_others(const struct reader *r, uint64_t used, uint64_t region)
{
	struct chord_extent_head h;
	uint64_t sum = 0, word;

	for (uint64_t offset = r->page; offset < used; offset += h.size) {
		uint64_t at = offset + sizeof h;

		memcpy(&h, r->bytes + offset, sizeof h);
		if (!CHORD_IS_WEIGHED(h.type) && (h.type != CHORD_EXTENT_COUNTS || h.a + 1 == region))
			continue;
		if (h.type == CHORD_EXTENT_COUNTS)
			at = offset + r->page;
		for (; at + 8 <= offset + h.size; at += 8) {
			memcpy(&word, r->bytes + at, 8);
			sum += CHORD_WEIGHT(word, at);
		}
	}
	return sum;
}

/* Keeps the activations of threads that waited, if the sum shows that no thread has gone on since. */
static void
take_waiting(struct reader *r, uint64_t used)
{
	struct waits *waits = &r->p->waits;
	struct chord_extent_head h;

	if (!r->waiting || r->why || r->p->state != CHORD_STATE_THREADS)
		return;
	memcpy(&h, r->waiting, sizeof h);
	if (sum_others(r, used, h.b) != h.c)
		return;
	for (uint64_t i = 0; i < h.a; i++) {
		struct chord_waiting w;

		memcpy(&w, r->waiting + sizeof h + i * sizeof w, sizeof w);
		if (w.key & (CHORD_EXIT_REENTRY | CHORD_EXIT_HANDLER) || CHORD_EXIT_MODULE(w.key) >= r->module.n)
			r->why = "damaged: threads that waited make no sense";
		else if (is_wanted(r, (uint64_t)w.region + 1))
			VEC_PUSH(waits->at, w);
	}
	waits->any = true;
	waits->traced = h.module == 1;
	waits->by = h.b;
	memcpy(&waits->sum, r->waiting + sizeof h + h.a * sizeof(struct chord_waiting), sizeof waits->sum);
}

void
profile_end_waiting(struct profile *p)
{
	for (size_t i = 0; i < p->waits.at.n; i++) {
		struct chord_waiting *w = &p->waits.at.at[i];
		struct exits e = {.module = p->number.at[CHORD_EXIT_MODULE(w->key)], .addr = CHORD_EXIT_ADDR(w->key), .count = 1};

		memcpy(e.sum, w->sum, sizeof e.sum);
		VEC_PUSH(p->exit, e);
		measures_waiting(p, e.module, w);
	}
	p->state = CHORD_STATE_ENDED;
	p->nrunning = p->nthreads = p->standing = 0;
}

/* A profile without an identity, or a sum without a list of its parts, is identified by its bytes, so a copy counts as the same. */
static void
settle_origin(struct reader *r, const struct chord_profile_head *h)
{
	struct str bytes = {(const char *)r->bytes, h->used};
	struct chord_origin o = {h->id, h->id2, h->of, h->of2, h->pid, h->flags & CHORD_PROFILE_SNAPSHOT};

	if (r->p->origin.n)
		return;
	if (!o.id && !o.id2) {
		o.id = str_hash(bytes);
		o.id2 = ~h->used;
	}
	VEC_PUSH(r->p->origin, o);
}

/* The number of threads in which activations may be under way. */
static uint64_t
standing(const struct reader *r)
{
	const struct profile *p = r->p;
	uint64_t n = p->flags & CHORD_PROFILE_MERGED ? p->threads : p->nregion;

	if (p->state == CHORD_STATE_ENDED)
		return 0;
	if (r->region)
		return 1;
	if (p->flags & CHORD_PROFILE_INTERRUPTED && p->flags & CHORD_PROFILE_SNAPSHOT)
		return n ? saturating_add(n - 1, p->lost) : 0;
	if (p->state == CHORD_STATE_THREADS && n > 1)
		n--;
	n = n ? n : 1;
	return p->lost < UINT32_MAX && n < UINT32_MAX ? n + p->lost : UINT32_MAX;
}

/* Of the thread that made a snapshot since an earlier one it is known where it was then. Any other thread may have been in a loop:
 * a counter then gets all that its register has counted, and the number of executions under way is one too low. */
static bool
begins_in_loops(const struct profile *p)
{
	return p->flags & CHORD_PROFILE_SINCE && (p->nregion != 1 || !(p->flags & CHORD_PROFILE_INTERRUPTED));
}

static void
take_head(struct profile *p, const struct chord_profile_head *h)
{
	p->nsummed = h->processes ? h->processes : 1;
	p->nrunning = h->state == CHORD_STATE_RUNNING;
	p->nthreads = h->state == CHORD_STATE_THREADS;
	p->flags = h->flags;
	p->pid = h->pid;
	p->state = h->state;
	p->threads = h->threads;
	p->lost = h->lost;
	p->in_flight = h->in_flight;
	p->orphans = h->orphans;
	p->orphan_error = h->orphan_error;
	p->stack = h->stack;
}

static void
settle(struct reader *r)
{
	settle_exits(r);
	if (!r->why)
		r->why = measures_settle(r->p, r->module.at, (uint32_t)r->module.n);
}

/* Joins the parts. */
static void
settle_parts(struct reader *r)
{
	struct profile *sum = r->sum;

	sum->nrunning = sum->nthreads = 0;
	for (size_t i = 0; i < r->part.n; i++) {
		r->p = r->part.at[i];
		if (!r->why)
			settle(r);
		if (!r->why)
			profile_join(sum, r->p, r->pool, &r->why);
		if (i)
			VEC_PUSH(sum->flight, r->p);
		else
			sum->rest = r->p;
	}
	r->p = sum;
}

static struct profile *
parse(struct pool *pool, struct str bytes, uint64_t region, const char **why)
{
	struct chord_profile_head h = {0};
	struct reader r = {.pool = pool, .bytes = (const unsigned char *)bytes.at, .region = region};

	if (bytes.n)
		memcpy(&h, bytes.at, bytes.n < sizeof h ? bytes.n : sizeof h);
	if ((*why = check_head(pool, &h, bytes.n)))
		return NULL;
	r.page = h.page;
	r.p = profile_new();
	take_head(r.p, &h);
	read_extents(&r, h.used);
	if (r.sum) {
		settle_parts(&r);
	} else {
		take_waiting(&r, h.used);
		settle(&r);
		r.p->standing = standing(&r);
		if (!begins_in_loops(r.p))
			r.p->flags &= ~(uint32_t)CHORD_PROFILE_SINCE;
		if (!r.p->standing)
			r.p->nrunning = 0;
	}
	settle_origin(&r, &h);
	VEC_JOIN(r.p->number, r.module);
	if (!r.why && r.p->waits.any && !r.p->waits.traced)
		profile_end_waiting(r.p);
	free(r.module.at);
	free(r.part.at);
	if ((*why = r.why)) {
		profile_free(r.p);
		return NULL;
	}
	return r.p;
}

struct profile *
profile_parse(struct pool *pool, struct str bytes, const char **why)
{
	return parse(pool, bytes, 0, why);
}

struct profile *
profile_parse_region(struct pool *pool, struct str bytes, uint32_t region, const char **why)
{
	return parse(pool, bytes, (uint64_t)region + 1, why);
}
