/* SPDX-License-Identifier: MIT */
/* Numbers of witnesses, and the edge out of a predicate that each of them tells (Ball & Larus 1994, sections 4.1 and 6.2). A number
 * is used again where it cannot be mistaken.
 *
 * Edges that write nothing form no directed cycle. So the witnesses that may come next at a vertex are found in one pass from the
 * ends: the sets of the vertices after it are joined. */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

/* Sets of witnesses as bits; the last member is the end of the trace. */
struct sets {
	const struct graph *g;
	const bool *written;
	struct pool *pool;
	uint32_t n, words;       /* witnesses; words of a set */
	uint32_t *edge, *index;  /* by witness: its edge; by edge: its witness */
	uint64_t *at;            /* by vertex: what may be written next */
};

static uint64_t *
set_of(const struct sets *s, uint32_t v)
{
	return s->at + (size_t)v * s->words;
}

static void
put(uint64_t *set, uint32_t i)
{
	set[i / 64] |= (uint64_t)1 << i % 64;
}

static bool
has(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> i % 64 & 1;
}

/* Adds what may be written next on an edge or after it. */
static void
join_edge(const struct sets *s, uint64_t *set, uint32_t e)
{
	const uint64_t *to = set_of(s, s->g->edge[e].to);

	if (s->written[e]) {
		put(set, s->index[e]);
		return;
	}
	for (uint32_t i = 0; i < s->words; i++)
		set[i] |= to[i];
}

static void
join_edges(const struct sets *s, uint32_t v)
{
	const struct graph *g = s->g;

	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
		if (witness_is_real(g, g->out[i]))
			join_edge(s, set_of(s, v), g->out[i]);
}

/* Fills all sets, beginning at vertices after which every edge writes, or the end comes. */
static void
fill_sets(struct sets *s)
{
	const struct graph *g = s->g;
	uint32_t *left = pool_array(s->pool, g->nvert, sizeof *left), *ready = pool_array(s->pool, g->nvert, sizeof *ready);
	uint32_t n = 0;

	put(set_of(s, g->exit), s->n);
	for (uint32_t e = 0; e < g->nedge; e++)
		left[g->edge[e].from] += witness_is_real(g, e) && !s->written[e];
	for (uint32_t v = 0; v < g->nvert; v++)
		if (!left[v])
			ready[n++] = v;
	while (n) {
		uint32_t v = ready[--n];

		join_edges(s, v);
		for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1]; i++)
			if (witness_is_real(g, g->in[i]) && !s->written[g->in[i]] && !--left[g->edge[g->in[i]].from])
				ready[n++] = g->edge[g->in[i]].from;
	}
}

static struct sets
sets_new(struct pool *pool, const struct graph *g, const bool *written)
{
	struct sets s = {.g = g, .written = written, .pool = pool};

	s.edge = pool_array(pool, g->nedge, sizeof *s.edge);
	s.index = pool_array(pool, g->nedge, sizeof *s.index);
	for (uint32_t e = 0; e < g->nedge; e++)
		if (written[e]) {
			s.index[e] = s.n;
			s.edge[s.n++] = e;
		}
	s.words = s.n / 64 + 1;
	s.at = pool_array(pool, (size_t)g->nvert, s.words * sizeof *s.at);
	fill_sets(&s);
	return s;
}

/* ---- conflicts, and numbers that respect them ---- */

/* The witnesses that may come on an edge, and those that may come on the edges before it out of the same vertex, exclude one
 * another. */
static void
exclude(const struct sets *s, uint64_t *conflict, const uint64_t *before, const uint64_t *behind)
{
	for (uint32_t a = 0; a <= s->n; a++)
		for (uint32_t i = 0; has(behind, a) && i < s->words; i++)
			conflict[(size_t)a * s->words + i] |= before[i];
}

static void
find_conflicts(const struct sets *s, uint64_t *conflict, uint32_t v)
{
	const struct graph *g = s->g;
	uint64_t *before = pool_array(s->pool, s->words, sizeof *before), *behind = pool_array(s->pool, s->words, sizeof *behind);

	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++) {
		if (!witness_is_real(g, g->out[i]))
			continue;
		memset(behind, 0, s->words * sizeof *behind);
		join_edge(s, behind, g->out[i]);
		exclude(s, conflict, before, behind);
		exclude(s, conflict, behind, before);
		for (uint32_t k = 0; k < s->words; k++)
			before[k] |= behind[k];
	}
}

struct degree {
	uint32_t witness, n;
};

static int
more(const void *pa, const void *pb)
{
	const struct degree *a = pa, *b = pb;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return (a->witness > b->witness) - (a->witness < b->witness);
}

static struct degree *
by_degree(const struct sets *s, const uint64_t *conflict)
{
	struct degree *d = pool_array(s->pool, s->n, sizeof *d);

	for (uint32_t a = 0; a < s->n; a++) {
		d[a].witness = a;
		for (uint32_t b = 0; b < s->n; b++)
			d[a].n += has(conflict + (size_t)a * s->words, b);
	}
	qsort(d, s->n, sizeof *d, more);
	return d;
}

/* The least number that no witness in conflict has. */
static uint32_t
least_free(const struct sets *s, const uint64_t *conflict, const uint32_t *number, bool *taken)
{
	uint32_t least = 0;

	memset(taken, 0, s->n + 1);
	for (uint32_t b = 0; b < s->n; b++)
		if (has(conflict, b) && number[b] != GRAPH_NONE)
			taken[number[b]] = true;
	while (taken[least])
		least++;
	return least;
}

/* Numbers the witnesses. Returns how many numbers there are. */
static uint32_t
number_witnesses(const struct sets *s, bool reuse, uint32_t *number)
{
	uint64_t *conflict = pool_array(s->pool, (size_t)s->n + 1, s->words * sizeof *conflict);
	bool *taken = pool_array(s->pool, s->n + 1, sizeof *taken);
	struct degree *d;
	uint32_t n = 0;

	for (uint32_t a = 0; a < s->n; a++)
		number[a] = reuse ? GRAPH_NONE : a;
	if (!reuse)
		return s->n;
	for (uint32_t v = 0; v < s->g->nvert; v++)
		if (witness_is_predicate(s->g, v))
			find_conflicts(s, conflict, v);
	d = by_degree(s, conflict);
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t a = d[i].witness;

		number[a] = least_free(s, conflict + (size_t)a * s->words, number, taken);
		n = number[a] >= n ? number[a] + 1 : n;
	}
	return n;
}

/* ---- the edges that they tell ---- */

static void
fill_ways(const struct sets *s, struct witness_values *r, const uint32_t *number, uint32_t v)
{
	const struct graph *g = s->g;
	uint64_t *behind = pool_array(s->pool, s->words, sizeof *behind);

	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++) {
		if (!witness_is_real(g, g->out[i]))
			continue;
		memset(behind, 0, s->words * sizeof *behind);
		join_edge(s, behind, g->out[i]);
		for (uint32_t a = 0; a <= s->n; a++)
			if (has(behind, a))
				r->way[(size_t)v * (r->n + 1) + (a == s->n ? r->n : number[a])] = g->out[i];
	}
}

struct witness_values *
witness_values(const struct graph *g, const bool *written, bool reuse)
{
	struct pool *tmp = pool_new();
	struct sets s = sets_new(tmp, g, written);
	uint32_t *number = pool_array(tmp, s.n, sizeof *number);
	struct witness_values *r = pool_array(g->pool, 1, sizeof *r);

	r->n = number_witnesses(&s, reuse, number);
	r->value = pool_array(g->pool, g->nedge, sizeof *r->value);
	r->way = pool_array(g->pool, (size_t)g->nvert, ((size_t)r->n + 1) * sizeof *r->way);
	for (uint32_t e = 0; e < g->nedge; e++)
		r->value[e] = written[e] ? number[s.index[e]] : GRAPH_NONE;
	memset(r->way, 0xff, (size_t)g->nvert * (r->n + 1) * sizeof *r->way);
	for (uint32_t v = 0; v < g->nvert; v++)
		if (witness_is_predicate(g, v))
			fill_ways(&s, r, number, v);
	pool_free(tmp);
	return r;
}
