/* SPDX-License-Identifier: MIT */
/* The sum of profiles of one build. */
#include "profile/measure.h"

#include <stdlib.h>
#include <string.h>

/* A run that is not known to have ended decides the state; otherwise one whose threads went on does. */
static uint64_t
worse_state(uint64_t a, uint64_t b)
{
	if (a == CHORD_STATE_RUNNING || b == CHORD_STATE_RUNNING)
		return CHORD_STATE_RUNNING;
	return a > b ? a : b;
}

static bool
add_head(struct profile *sum, const struct profile *p)
{
	sum->state = sum->nsummed ? worse_state(sum->state, p->state) : p->state;
	sum->flags |= p->flags & ~(uint32_t)(CHORD_PROFILE_PER_THREAD | CHORD_PROFILE_INTERRUPTED);
	sum->nregion = p->nregion > sum->nregion ? p->nregion : sum->nregion;
	sum->pid = 0;
	sum->nrunning += p->nrunning;
	sum->nthreads += p->nthreads;
	sum->nsummed += p->nsummed;
	VEC_JOIN(sum->origin, p->origin);
	sum->orphan_error = sum->orphan_error ? sum->orphan_error : p->orphan_error;
	return checked_add(&sum->orphans, p->orphans) && checked_add(&sum->threads, p->threads) &&
	       checked_add(&sum->lost, p->lost) && checked_add(&sum->in_flight, p->in_flight);
}

/* ---- what is in a sum already ---- */

struct identity {
	uint64_t id, id2;
};

/* Sorted. */
struct identities {
	struct identity *at;
	size_t n;
};

static int
by_id(const void *a, const void *b)
{
	const struct identity *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->id2 > y->id2) - (x->id2 < y->id2);
}

/* The identities of a profile's origins or, `of`, of what the snapshots among these were taken of (heap). */
static struct identities
identities_of(const struct profile *p, bool of)
{
	struct identities s = {xcalloc(p->origin.n + 1, sizeof *s.at), 0};

	for (size_t i = 0; i < p->origin.n; i++) {
		const struct chord_origin *o = &p->origin.at[i];

		if (!of)
			s.at[s.n++] = (struct identity){o->id, o->id2};
		else if (o->flags & CHORD_PROFILE_SNAPSHOT)
			s.at[s.n++] = (struct identity){o->of, o->of2};
	}
	if (s.n)
		qsort(s.at, s.n, sizeof *s.at, by_id);
	return s;
}

/* The first one that is not before that one. */
static size_t
first_identity(const struct identities *s, struct identity wanted)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (by_id(&s->at[mid], &wanted) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool
has_identity(const struct identities *s, uint64_t id, uint64_t id2)
{
	const struct identity wanted = {id, id2};
	size_t i = first_identity(s, wanted);

	return i < s->n && !by_id(&s->at[i], &wanted);
}

enum profile_overlap
profile_overlap(const struct profile *sum, const struct profile *p)
{
	struct identities own = identities_of(p, false);
	bool *there = xcalloc(own.n + 1, sizeof *there);
	size_t n = 0;

	for (size_t i = 0; i < sum->origin.n; i++) {
		const struct identity s = {sum->origin.at[i].id, sum->origin.at[i].id2};

		for (size_t k = first_identity(&own, s); k < own.n && !there[k] && !by_id(&own.at[k], &s); k++) {
			there[k] = true;
			n++;
		}
	}
	free(there);
	free(own.at);
	return !n ? PROFILE_PER_THREAD : n == p->origin.n ? PROFILE_INSIDE : PROFILE_OVERLAPS;
}

const struct chord_origin *
profile_snapshot_of(const struct profile *sum, const struct profile *p)
{
	struct identities own = identities_of(p, false), of = identities_of(p, true);
	const struct chord_origin *found = NULL;

	for (size_t i = 0; i < sum->origin.n && !found; i++) {
		const struct chord_origin *s = &sum->origin.at[i];

		if (has_identity(&of, s->id, s->id2) ||
		    (s->flags & CHORD_PROFILE_SNAPSHOT && has_identity(&own, s->of, s->of2)))
			found = s;
	}
	free(of.at);
	free(own.at);
	return found;
}

/* ---- adding ---- */

/* The module of the sum that corresponds to m; added if it is new. Modules without a build id are never the same. NULL: a module of
 * the same build has other counters. */
static struct module *
counterpart(struct profile *sum, const struct module *m)
{
	struct module *have = profile_module(sum, (struct str){(const char *)m->id, m->nid}), fresh = *m;

	if (have)
		return have->base == m->base && have->ncount == m->ncount && measures_add_up(have, m) ? have : NULL;
	fresh.path = pool_strdup(sum->pool, m->path);
	fresh.count = NULL;
	measures_copy_module(sum, &fresh);
	VEC_PUSH(sum->module, fresh);
	return &sum->module.at[sum->module.n - 1];
}

static bool
add_counts(struct profile *sum, struct module *to, const struct module *from)
{
	bool fits = true;

	if (!from->count)
		return true;
	if (!to->count)
		to->count = pool_array(sum->pool, to->ncount, 8);
	for (uint64_t i = 0; i < to->ncount; i++)
		fits &= count_add(&to->count[i], from->count[i]);
	return fits;
}

static int
exits_by_place(const void *a, const void *b)
{
	const struct exits *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->reentry != y->reentry)
		return x->reentry ? 1 : -1;
	if (x->handler != y->handler)
		return x->handler ? 1 : -1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Sorts exits and joins equal ones. */
static bool
join_exits(struct profile *p)
{
	size_t n = 0;
	bool fits = true;

	if (p->exit.n)
		qsort(p->exit.at, p->exit.n, sizeof *p->exit.at, exits_by_place);
	for (size_t i = 0; i < p->exit.n; i++) {
		if (!n || exits_by_place(&p->exit.at[n - 1], &p->exit.at[i])) {
			p->exit.at[n++] = p->exit.at[i];
			continue;
		}
		fits &= checked_add(&p->exit.at[n - 1].count, p->exit.at[i].count);
		for (uint32_t k = 0; k < CHORD_SUMS; k++) /* the differences of sums are what counts */
			p->exit.at[n - 1].sum[k] += p->exit.at[i].sum[k];
	}
	p->exit.n = n;
	return fits;
}

static void
add_text(struct profile *sum, const char *text)
{
	for (size_t i = 0; i < sum->text.n; i++)
		if (!strcmp(sum->text.at[i], text))
			return;
	VEC_PUSH(sum->text, pool_strdup(sum->pool, text));
}

/* to: by module of p, its number in the sum. */
static bool
add_exits(struct profile *sum, const struct profile *p, const uint32_t *to)
{
	for (size_t i = 0; i < p->exit.n; i++) {
		struct exits e = p->exit.at[i];

		e.module = to[e.module];
		VEC_PUSH(sum->exit, e);
	}
	return join_exits(sum);
}

bool
profile_join(struct profile *sum, const struct profile *p, struct pool *pool, const char **why)
{
	uint32_t *to = pool_array(pool, p->module.n, sizeof *to);
	bool first = !sum->nsummed || !p->nsummed, fits = add_head(sum, p);

	*why = NULL;
	for (size_t i = 0; i < p->module.n; i++) {
		struct module *m = counterpart(sum, &p->module.at[i]);

		if (!m) {
			*why = pool_printf(pool, "%s has the same build id as in other profiles, but other counters",
			                   p->module.at[i].path);
			return false;
		}
		fits &= add_counts(sum, m, &p->module.at[i]);
		m->filled &= p->module.at[i].filled;
		m->followed &= p->module.at[i].followed;
		to[i] = (uint32_t)(m - sum->module.at);
	}
	fits &= add_exits(sum, p, to);
	fits &= measures_merge(sum, p, to);
	fits &= unknown_join(sum, p, to, first);
	for (size_t i = 0; i < p->text.n; i++)
		add_text(sum, p->text.at[i]);
	if (!fits)
		*why = "the sum of the counts does not fit 64 bits";
	return fits;
}

/* ---- profiles in flight stay apart ---- */

static struct profile *
copy(const struct profile *p, struct pool *pool)
{
	struct profile *c = profile_new();
	const char *why;

	profile_join(c, p, pool, &why);
	c->standing = p->standing;
	c->stack = p->stack;
	c->state = p->state;
	c->nregion = p->nregion;
	return c;
}

static void
keep_in_flight(struct profile *sum, const struct profile *p, struct pool *pool)
{
	for (size_t i = 0; i < p->flight.n; i++)
		VEC_PUSH(sum->flight, copy(p->flight.at[i], pool));
	if (p->standing)
		VEC_PUSH(sum->flight, copy(p, pool));
}

bool
profile_add(struct profile *sum, const struct profile *p, struct pool *pool, const char **why)
{
	const struct profile *rest = p->flight.n ? p->rest : p->standing ? NULL : p;

	if (rest != p && !sum->rest)
		sum->rest = copy(sum, pool);
	if (!profile_join(sum, p, pool, why))
		return false;
	keep_in_flight(sum, p, pool);
	return !sum->rest || !rest || profile_join(sum->rest, rest, pool, why);
}

/* ---- writing ---- */

static void
pad(struct buf *out, size_t n)
{
	buf_reserve(out, n);
	memset(out->at + out->n, 0, n);
	out->n += n;
}

/* No runtime maps this file, so any page size will do. */
enum { PAGE = CHORD_PAGE_LEAST };

/* Begins an extent with n bytes after its head or, with `page`, after its first page. */
void
profile_extent(struct buf *out, struct chord_extent_head h, size_t n, bool page)
{
	size_t head = page ? PAGE : sizeof h;

	h.size = (head + n + PAGE - 1) / PAGE * PAGE;
	buf_add(out, &h, sizeof h);
	pad(out, head - sizeof h);
}

void
profile_fill_page(struct buf *out)
{
	pad(out, (PAGE - out->n % PAGE) % PAGE);
}

static void
write_module(const struct profile *p, uint32_t i, struct buf *out)
{
	const struct module *m = &p->module.at[i];
	size_t n = strlen(m->path) + 1;

	profile_extent(out, (struct chord_extent_head){.type = CHORD_EXTENT_MODULE, .module = i, .a = m->base,
	                                       .b = m->ncount * 8, .c = m->nid}, sizeof m->id + n, false);
	buf_add(out, m->id, sizeof m->id);
	buf_add(out, m->path, n);
	profile_fill_page(out);
	measures_write_module(m, i, out);
}

static void
write_counts(const struct module *m, uint32_t i, uint32_t region, struct buf *out)
{
	if (!m->count)
		return;
	profile_extent(out, (struct chord_extent_head){.type = CHORD_EXTENT_COUNTS, .module = i, .a = region}, m->ncount * 8, true);
	buf_add(out, m->count, m->ncount * 8);
	profile_fill_page(out);
}

static void
write_exits(const struct profile *p, uint64_t of, struct buf *out)
{
	if (!p->exit.n)
		return;
	profile_extent(out, (struct chord_extent_head){.type = CHORD_EXTENT_EXITS, .a = p->exit.n, .b = of},
	       p->exit.n * sizeof(struct chord_exit), false);
	for (size_t i = 0; i < p->exit.n; i++) {
		const struct exits *e = &p->exit.at[i];
		struct chord_exit x = {(uint64_t)(e->module + 1) << 48 | e->addr | (e->reentry ? CHORD_EXIT_REENTRY : 0) |
		                       (e->handler ? CHORD_EXIT_HANDLER : 0), e->count,
		                       {e->sum[0], e->sum[1], e->sum[2], e->sum[3]}};

		buf_add(out, &x, sizeof x);
	}
	profile_fill_page(out);
}

static int
by_identity(const void *a, const void *b)
{
	const struct chord_origin *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->id2 > y->id2) - (x->id2 < y->id2);
}

/* The order does not depend on the order of summing. */
static void
write_origins(const struct profile *p, struct buf *out)
{
	size_t n = p->origin.n * sizeof *p->origin.at;

	if (!n)
		return;
	profile_extent(out, (struct chord_extent_head){.type = CHORD_EXTENT_ORIGINS, .a = p->origin.n}, n, false);
	buf_add(out, p->origin.at, n);
	qsort(out->at + out->n - n, p->origin.n, sizeof *p->origin.at, by_identity);
	profile_fill_page(out);
}

/* Writes counts and records. of: their region plus 1, or 0 if there is only one. */
static void
write_part(const struct profile *p, uint32_t nmodule, uint64_t of, struct buf *out)
{
	for (uint32_t i = 0; i < nmodule; i++)
		write_counts(&p->module.at[i], i, of ? (uint32_t)of - 1 : 0, out);
	write_exits(p, of, out);
	measures_write(p, of, out);
}

/* Writes a part with the modules of the sum, in their order. Modules without a build id cannot be identified. */
static void
write_in_flight(const struct profile *sum, const struct profile *part, uint64_t of, struct buf *out)
{
	struct profile *p = profile_new();
	uint32_t n = (uint32_t)sum->module.n;
	const char *why;

	for (uint32_t i = 0; i < n; i++)
		counterpart(p, &sum->module.at[i]);
	profile_join(p, part, p->pool, &why);
	KEEP_BELOW(p->exit, n);
	measures_keep_below(p, n);
	write_part(p, n, of, out);
	profile_free(p);
}

/* Writes a region for each process in flight, after the region of all other processes. */
static void
write_flight(const struct profile *p, struct buf *out)
{
	size_t n = p->flight.n;

	if (!n) {
		write_part(p, (uint32_t)p->module.n, 0, out);
		return;
	}
	profile_extent(out, (struct chord_extent_head){.type = CHORD_EXTENT_FLIGHT, .a = n}, n * sizeof(struct chord_flight),
	               false);
	for (uint32_t i = 0; i < n; i++) {
		const struct profile *f = p->flight.at[i];
		struct chord_flight x = {i + 1, f->standing, f->state, f->stack};

		buf_add(out, &x, sizeof x);
	}
	profile_fill_page(out);
	write_in_flight(p, p->rest, 1, out);
	for (uint32_t i = 0; i < n; i++)
		write_in_flight(p, p->flight.at[i], i + 2, out);
}

void
profile_write(const struct profile *p, struct buf *out)
{
	struct chord_profile_head h = {
		.magic = CHORD_PROFILE_MAGIC, .version = CHORD_FORMAT_VERSION, .page = PAGE,
		.flags = p->flags | CHORD_PROFILE_MERGED,
		.state = p->state, .threads = p->threads, .lost = p->lost, .in_flight = p->in_flight,
		.processes = p->nsummed, .orphans = p->orphans, .orphan_error = p->orphan_error,
	};
	size_t start = out->n;

	buf_add(out, &h, sizeof h);
	pad(out, PAGE - sizeof h);
	for (uint32_t i = 0; i < p->module.n; i++)
		write_module(p, i, out);
	write_flight(p, out);
	write_origins(p, out);
	unknown_write(p, out);
	for (size_t i = 0; i < p->text.n; i++) {
		profile_extent(out, (struct chord_extent_head){.type = CHORD_EXTENT_TEXT}, strlen(p->text.at[i]) + 1, false);
		buf_add(out, p->text.at[i], strlen(p->text.at[i]) + 1);
		profile_fill_page(out);
	}
	h.used = out->n - start;
	memcpy(out->at + start, &h, sizeof h);
}
