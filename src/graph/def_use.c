/* SPDX-License-Identifier: MIT */
/* Definitions and the uses that they reach, in the graph and along paths.
 *
 * Within a path, a use gets the last definition before it: these pairs are counted exactly. A use with no definition before it in
 * its path gets what came to the beginning of the path. Let v be a vertex where paths were cut, and let N paths have begun there.
 * What comes to v is what the paths that ended with cuts into v left in the variable. Each of these paths has a definition of its
 * own, or passes on what came to its own beginning. That gives all definitions that can have come to v. It also gives the most
 * times that a definition came: the count of the paths that leave it and of those that may pass it on. If others came to v at most
 * o times, and c of the N paths have the use, then the definition came to the use at least c - min(o, N) times. It came there at
 * most c times, and at most as often as it came to v.
 *
 * This holds if as many paths ended into v as began there. Otherwise, or if other paths may have run, all definitions that reach v
 * in the graph can have come; if there is only one, it came each time. */
#include "graph/graph.h"

#include <stdlib.h>

#define OPEN UINT32_MAX /* what came to the beginning of the path */

/* What paths left in the variable when they ended with a cut into vertex `to`. */
struct left {
	uint32_t to, what;       /* what: a definition, or OPEN: what came to `begin` */
	uint32_t begin;
	uint64_t count;
};

/* Uses of what came to the vertex. */
struct exposed {
	uint32_t vertex, use;
	uint64_t count;
};

/* Definitions are numbered from 0. The next number is what was in the variable at root, the one after that what nobody knows. */
struct reaching {
	struct pool *pool;
	const struct def_use_problem *q;
	uint32_t *first;         /* by vertex: its first site */
	uint32_t *number;        /* by site: the number of its definition */
	uint32_t *site;          /* by definition */
	uint32_t ndef, entered, unknown;
	size_t words;
	uint64_t *in;            /* by vertex: the set of what reaches it */
	uint32_t *last;          /* by vertex: what it leaves; OPEN: what came there */
	uint32_t *out_at, *out;  /* edges by source */
	VEC(struct def_use_pair) pair;
	size_t *of;              /* by site: the first pair of its use */
	size_t lost;
	VEC(struct left) left;
	VEC(struct exposed) exposed;
	uint64_t *begun, *ended; /* by vertex: number of paths */
	bool resumed;            /* some began where others ran them */
	uint64_t **came;         /* by vertex: the set of what came there along paths; NULL: none did */
};

static bool
has(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> i % 64 & 1;
}

/* Adds a member. True: the set has grown. */
static bool
add(uint64_t *set, uint32_t i)
{
	bool grows = !has(set, i);

	set[i / 64] |= UINT64_C(1) << i % 64;
	return grows;
}

static bool
join(uint64_t *set, const uint64_t *with, size_t words)
{
	bool grows = false;

	for (size_t i = 0; i < words; i++) {
		grows |= with[i] & ~set[i];
		set[i] |= with[i];
	}
	return grows;
}

/* ---- in the graph ---- */

static void
number_sites(struct reaching *r)
{
	const struct def_use_problem *q = r->q;

	r->first = pool_array(r->pool, (size_t)q->nvert + 1, sizeof *r->first);
	r->number = pool_array(r->pool, (size_t)q->nsite + 1, sizeof *r->number);
	r->site = pool_array(r->pool, (size_t)q->nsite + 1, sizeof *r->site);
	for (uint32_t i = 0; i < q->nsite; i++) {
		r->first[q->site[i].vertex + 1]++;
		r->number[i] = r->ndef;
		if (q->site[i].what & SITE_DEFINES)
			r->site[r->ndef++] = i;
	}
	for (uint32_t v = 0; v < q->nvert; v++)
		r->first[v + 1] += r->first[v];
	r->entered = r->ndef;
	r->unknown = r->ndef + 1;
	r->words = (r->ndef + 2) / 64 + 1;
}

static void
index_edges(struct reaching *r)
{
	const struct def_use_problem *q = r->q;
	uint32_t *next = pool_array(r->pool, (size_t)q->nvert + 1, sizeof *next);

	r->out_at = pool_array(r->pool, (size_t)q->nvert + 1, sizeof *r->out_at);
	r->out = pool_array(r->pool, (size_t)q->nedge + 1, sizeof *r->out);
	for (uint32_t e = 0; e < q->nedge; e++)
		r->out_at[q->edge[e].from + 1]++;
	for (uint32_t v = 0; v < q->nvert; v++)
		next[v + 1] = r->out_at[v + 1] += r->out_at[v];
	for (uint32_t e = 0; e < q->nedge; e++)
		r->out[next[q->edge[e].from]++] = e;
}

/* What a site leaves in the variable, if `before` was there before it. */
static uint32_t
behind(const struct reaching *r, uint32_t site, uint32_t before)
{
	uint8_t what = r->q->site[site].what;

	if (what & SITE_DEFINES)
		return r->number[site];
	return what & SITE_LOSES ? r->unknown : before;
}

static uint64_t *
in_of(const struct reaching *r, uint32_t v)
{
	return r->in + v * r->words;
}

static bool
flow(struct reaching *r, const struct def_use_edge *e)
{
	uint32_t left = r->last[e->from];

	if (e->loses)
		return add(in_of(r, e->to), r->unknown);
	return left == OPEN ? join(in_of(r, e->to), in_of(r, e->from), r->words) : add(in_of(r, e->to), left);
}

static void
solve(struct reaching *r)
{
	uint32_t n = r->q->nvert, top = 0, *list = pool_array(r->pool, (size_t)n + 1, sizeof *list);
	bool *listed = pool_array(r->pool, (size_t)n + 1, sizeof *listed);

	r->in = pool_array(r->pool, n, r->words * sizeof *r->in);
	r->last = pool_array(r->pool, n, sizeof *r->last);
	add(in_of(r, r->q->root), r->entered);
	for (uint32_t v = 0; v < n; v++) {
		r->last[v] = OPEN;
		for (uint32_t i = r->first[v]; i < r->first[v + 1]; i++)
			r->last[v] = behind(r, i, r->last[v]);
	}
	/* Each vertex is visited at least once: those that nothing leads to have definitions, too. */
	for (uint32_t v = n; v-- > 0;) {
		list[top++] = v;
		listed[v] = true;
	}
	while (top) {
		uint32_t v = list[--top];

		listed[v] = false;
		for (uint32_t i = r->out_at[v]; i < r->out_at[v + 1]; i++) {
			const struct def_use_edge *e = &r->q->edge[r->out[i]];

			if (!flow(r, e) || listed[e->to])
				continue;
			listed[e->to] = true;
			list[top++] = e->to;
		}
	}
}

static void
pair_use(struct reaching *r, uint32_t site, const uint64_t *in, uint32_t before)
{
	r->of[site] = r->pair.n;
	if (before < r->ndef)
		VEC_PUSH(r->pair, (struct def_use_pair){.def = r->site[before], .use = site});
	for (uint32_t d = 0; d < r->ndef && before == OPEN; d++)
		if (has(in, d))
			VEC_PUSH(r->pair, (struct def_use_pair){.def = r->site[d], .use = site});
	r->lost += before == r->unknown || (before == OPEN && has(in, r->unknown));
}

static void
find_pairs(struct reaching *r)
{
	r->of = pool_array(r->pool, (size_t)r->q->nsite + 1, sizeof *r->of);
	for (uint32_t v = 0; v < r->q->nvert; v++) {
		uint32_t before = OPEN;

		for (uint32_t i = r->first[v]; i < r->first[v + 1]; i++) {
			if (r->q->site[i].what & SITE_USES)
				pair_use(r, i, in_of(r, v), before);
			else
				r->of[i] = r->pair.n;
			before = behind(r, i, before);
		}
	}
	r->of[r->q->nsite] = r->pair.n;
}

static struct def_use_pair *
pair_of(struct reaching *r, uint32_t def, uint32_t use)
{
	size_t lo = r->of[use], hi = r->of[use + 1];

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->pair.at[mid].def < r->site[def])
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == r->of[use + 1] || r->pair.at[lo].def != r->site[def])
		bug("a definition came where no way leads");
	return &r->pair.at[lo];
}

/* ---- along paths ---- */

/* Goes over the sites of a vertex whose numbers are below `upto`. Returns what is in the variable then. */
static uint32_t
pass(struct reaching *r, const struct def_use_path *p, uint64_t count, uint32_t v, uint32_t upto, uint32_t what)
{
	for (uint32_t i = r->first[v]; i < r->first[v + 1] && r->q->site[i].number < upto; i++) {
		if (r->q->site[i].what & SITE_USES) {
			if (what == OPEN) {
				VEC_PUSH(r->exposed, (struct exposed){p->begin, i, count});
			} else if (what < r->ndef) {
				struct def_use_pair *pair = pair_of(r, what, i);

				pair->least += count;
				pair->most += count;
			}
		}
		what = behind(r, i, what);
	}
	return what;
}

static void
follow(struct reaching *r, const struct def_use_path *p)
{
	uint32_t what = p->begin == r->q->root ? r->entered : OPEN;
	uint64_t count = p->resumed ? -p->count : p->count;
	const struct def_use_edge *e = NULL;

	r->begun[p->begin] += count;
	r->resumed |= p->resumed;
	for (uint32_t i = 0; i < p->n; i++) {
		e = &r->q->edge[p->edge[i]];
		what = pass(r, p, count, e->from, UINT32_MAX, what);
		what = e->loses ? r->unknown : what;
	}
	if (p->stopped || p->resumed) {
		pass(r, p, count, p->at, p->upto, what);
	} else if (p->cut && e) {
		r->ended[e->to] += count;
		VEC_PUSH(r->left, (struct left){e->to, what, what == OPEN ? p->begin : 0, count});
	}
}

static int
by_place(const void *a, const void *b)
{
	const struct left *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

static int
by_vertex(const void *a, const void *b)
{
	const struct exposed *x = a, *y = b;

	if (x->vertex != y->vertex)
		return x->vertex < y->vertex ? -1 : 1;
	return (x->use > y->use) - (x->use < y->use);
}

/* Adds up the counts of equal entries. */
static void
sum_up(struct reaching *r)
{
	size_t n = 0;

	if (r->left.n)
		qsort(r->left.at, r->left.n, sizeof *r->left.at, by_place);
	for (size_t i = 0; i < r->left.n; i++) {
		if (n && !by_place(&r->left.at[n - 1], &r->left.at[i]))
			r->left.at[n - 1].count += r->left.at[i].count;
		else
			r->left.at[n++] = r->left.at[i];
	}
	r->left.n = n;
	n = 0;
	if (r->exposed.n)
		qsort(r->exposed.at, r->exposed.n, sizeof *r->exposed.at, by_vertex);
	for (size_t i = 0; i < r->exposed.n; i++) {
		if (n && !by_vertex(&r->exposed.at[n - 1], &r->exposed.at[i]))
			r->exposed.at[n - 1].count += r->exposed.at[i].count;
		else
			r->exposed.at[n++] = r->exposed.at[i];
	}
	r->exposed.n = n;
}

/* Do the paths that ended at the vertex tell what came there? */
static bool
is_told(const struct reaching *r, uint32_t v)
{
	return !r->q->some && !r->resumed && r->begun[v] == r->ended[v];
}

static uint64_t *
came_to(struct reaching *r, uint32_t v)
{
	if (!r->came[v]) {
		r->came[v] = pool_array(r->pool, r->words, sizeof **r->came);
		if (!is_told(r, v))
			join(r->came[v], in_of(r, v), r->words);
	}
	return r->came[v];
}

static void
find_came(struct reaching *r)
{
	bool grows = true;

	r->came = pool_array(r->pool, r->q->nvert, sizeof *r->came);
	for (size_t i = 0; i < r->exposed.n; i++)
		came_to(r, r->exposed.at[i].vertex);
	while (grows) {
		grows = false;
		for (size_t i = 0; i < r->left.n; i++) {
			const struct left *l = &r->left.at[i];

			grows |= l->what == OPEN ? join(came_to(r, l->to), came_to(r, l->begin), r->words)
			                         : add(came_to(r, l->to), l->what);
		}
	}
}

/* What came to a vertex, and how often at most. */
struct arrival {
	uint32_t what;
	uint64_t most;
};

static size_t
arrivals(struct reaching *r, uint32_t v, struct arrival *at)
{
	const struct left *l = r->left.at, *end = l + r->left.n;
	size_t n = 0;

	while (l < end && l->to < v)
		l++;
	for (uint32_t d = 0; d <= r->unknown; d++) {
		if (!has(r->came[v], d))
			continue;
		at[n] = (struct arrival){d, is_told(r, v) ? 0 : UINT64_MAX};
		for (const struct left *k = l; k < end && k->to == v && is_told(r, v); k++)
			at[n].most += k->what == d || (k->what == OPEN && has(r->came[k->begin], d)) ? k->count : 0;
		n++;
	}
	return n;
}

/* Of `begun` paths at most `others` had another arrival, and c have a use. How many, at least, have both the use and this
 * arrival? */
static uint64_t
both(uint64_t begun, uint64_t others, uint64_t c)
{
	uint64_t less = begun < others ? begun : others;

	return c > less ? c - less : 0;
}

static void
meet(struct reaching *r, const struct exposed *x, const struct arrival *at, size_t n)
{
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all = saturating_add(all, at[i].most);
	for (size_t i = 0; i < n; i++) {
		struct def_use_pair *pair = at[i].what < r->ndef ? pair_of(r, at[i].what, x->use) : NULL;

		if (!pair)
			continue;
		if (n == 1)
			pair->least += x->count;
		else if (all != UINT64_MAX)
			pair->least += both(r->begun[x->vertex], all - at[i].most, x->count);
		pair->most += n == 1 || x->count < at[i].most ? x->count : at[i].most;
	}
}

static void
meet_all(struct reaching *r)
{
	struct arrival *at = pool_array(r->pool, (size_t)r->ndef + 2, sizeof *at);
	size_t n = 0;

	for (size_t i = 0; i < r->exposed.n; i++) {
		const struct exposed *x = &r->exposed.at[i];

		if (!i || x->vertex != x[-1].vertex)
			n = arrivals(r, x->vertex, at);
		meet(r, x, at, n);
	}
}

struct def_use *
def_use_pairs(struct pool *pool, const struct def_use_problem *q)
{
	struct reaching r = {.pool = pool_new(), .q = q};
	struct def_use *d = pool_alloc(pool, sizeof *d);

	number_sites(&r);
	index_edges(&r);
	solve(&r);
	find_pairs(&r);
	r.begun = pool_array(r.pool, q->nvert, sizeof *r.begun);
	r.ended = pool_array(r.pool, q->nvert, sizeof *r.ended);
	for (uint32_t i = 0; i < q->npath; i++)
		follow(&r, &q->path[i]);
	sum_up(&r);
	find_came(&r);
	meet_all(&r);
	d->n = r.pair.n;
	d->unknown = r.lost;
	d->pair = pool_array(pool, d->n + 1, sizeof *d->pair);
	for (size_t i = 0; i < d->n; i++) {
		d->pair[i] = r.pair.at[i];
		if (q->some)
			d->pair[i].most = UINT64_MAX;
	}
	free(r.pair.at);
	free(r.left.at);
	free(r.exposed.at);
	pool_free(r.pool);
	return d;
}
