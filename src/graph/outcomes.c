/* SPDX-License-Identifier: MIT */
/* Bit tracing: each predicate gives the number of the edge that was taken out of it, in as few bits as tell its edges apart (Ball &
 * Larus 1994, section 4, before witnesses). Bits are collected in a word, and the word is written at the end of a way.
 *
 * The graph is cut as for paths, at the ends of ways and once in each cycle. All that an activation does between two writes is a
 * word: a 1, the number of the place where the way begins, and outcomes. A way passes soft cut edges as long as the word has room,
 * so it may consist of several paths. Here a way is what control passes between two writes. */
#include "graph/graph.h"

#include <string.h>

static uint8_t
bits_for(uint64_t n)
{
	uint8_t bits = 0;

	while ((uint64_t)1 << bits < n)
		bits++;
	return bits;
}

uint32_t
outcomes_ways(const struct graph *g, uint32_t v)
{
	uint32_t n = 0;

	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
		n += witness_is_real(g, g->out[i]);
	return n;
}

/* The bits that tell the edges out of v apart. For root there are none: the place where a way begins tells them apart. */
static uint8_t
bits_of(const struct graph *g, uint32_t v)
{
	return v == g->root ? 0 : bits_for(outcomes_ways(g, v));
}

/* ---- cuts ---- */

void
outcomes_cut(const struct graph *g, bool *cut, uint32_t most)
{
	const struct order *o = dag_order(g, cut);
	uint32_t *bits = pool_array(g->pool, g->nvert, sizeof *bits);

	for (uint32_t i = o->nreached; i--;) {
		uint32_t v = o->by_post[i];

		for (uint32_t k = g->out_at[v]; k < g->out_at[v + 1]; k++) {
			uint32_t e = g->out[k], to = g->edge[e].to, n = bits[v] + bits_of(g, v);

			if (!witness_is_real(g, e) || cut[e] || to == g->exit)
				continue;
			if (n > most && !g->edge[e].fixed)
				cut[e] = true;
			else if (n > bits[to])
				bits[to] = n;
		}
	}
}

/* ---- what edges add ---- */

/* Numbers the edges out of each vertex. */
static void
number_ways(struct outcomes *o)
{
	const struct graph *g = o->dag->g;
	uint32_t n = 0;

	for (uint32_t v = 0; v < g->nvert; v++) {
		uint8_t bits = bits_of(g, v);

		o->way_at[v] = n;
		for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
			if (witness_is_real(g, g->out[i])) {
				o->bits[g->out[i]] = bits;
				o->code[g->out[i]] = n - o->way_at[v];
				o->way[n++] = g->out[i];
			}
	}
	o->way_at[g->nvert] = n;
}

/* Numbers the places where ways begin: first the edges out of root, then the vertices after cut edges. */
static void
number_begins(struct outcomes *o)
{
	const struct graph *g = o->dag->g;
	uint32_t n = outcomes_ways(g, g->root);

	for (uint32_t v = 0; v < g->nvert; v++) {
		if (o->dag->begin[v] != GRAPH_NONE)
			o->begins_at[n] = v;
		o->begin[v] = o->dag->begin[v] == GRAPH_NONE ? GRAPH_NONE : n;
		n += o->begin[v] != GRAPH_NONE;
	}
	o->begin_bits = bits_for(n);
	for (uint32_t i = g->out_at[g->root]; i < g->out_at[g->root + 1]; i++)
		o->bits[g->out[i]] = witness_is_real(g, g->out[i]) ? o->begin_bits : 0;
	o->nbegin = n;
}

uint64_t
outcomes_begin(const struct outcomes *o, uint32_t v)
{
	return v == o->dag->g->root ? 1 : (uint64_t)1 << o->begin_bits | o->begin[v];
}

/* ---- where the word is known ---- */

struct meeting {
	struct outcomes *o;
	bool *seen;
};

static void
meet(struct meeting *m, uint32_t v, bool known, uint64_t word, int64_t sum)
{
	struct outcomes *o = m->o;

	o->known[v] = known && (!m->seen[v] || (o->known[v] && o->word[v] == word && o->sum[v] == sum));
	o->word[v] = word;
	o->sum[v] = sum; /* the sum of at least one of the ways to v */
	m->seen[v] = true;
}

static void
meet_along(struct meeting *m, uint32_t e)
{
	struct outcomes *o = m->o;
	const struct edge *d = &o->dag->g->edge[e];
	bool known = o->known[d->from] && o->word[d->from] < (uint64_t)1 << OUTCOMES_ROOM;

	if (!m->seen[d->from] || o->dag->cut[e] || d->to == o->dag->g->exit)
		return;
	meet(m, d->to, known, known ? o->word[d->from] << o->bits[e] | o->code[e] : 0, o->sum[d->from] + o->val[e]);
	if (d->from != o->dag->g->root && o->most[d->from] + o->bits[e] > o->most[d->to])
		o->most[d->to] = o->most[d->from] + o->bits[e];
}

static void
find_known(struct outcomes *o)
{
	const struct dag *d = o->dag;
	const struct graph *g = d->g;
	struct meeting m = {o, pool_array(g->pool, g->nvert, sizeof *m.seen)};

	for (uint32_t v = 0; v < g->nvert; v++)
		if (d->begin[v] != GRAPH_NONE)
			meet(&m, v, true, outcomes_begin(o, v), o->val[d->begin[v]]);
	for (uint32_t e = 0; e < g->nedge; e++)
		if (o->soft[e])
			meet(&m, g->edge[e].to, false, 0, o->sum[g->edge[e].to]);
	meet(&m, g->root, true, 1, 0);
	for (uint32_t i = g->nvert; i--;)
		for (uint32_t k = g->out_at[d->up[i]]; k < g->out_at[d->up[i] + 1]; k++)
			if (witness_is_real(g, g->out[k]))
				meet_along(&m, g->out[k]);
}

/* The most bits that may come between two places where the word can be written. The bits for the place where the way begins are not
 * counted. */
static uint32_t
most_bits(const struct outcomes *o)
{
	const struct graph *g = o->dag->g;
	uint32_t most = 0;

	for (uint32_t e = 0; e < g->nedge; e++) {
		uint32_t from = g->edge[e].from;

		if (witness_is_real(g, e) && from != g->root && o->most[from] + o->bits[e] > most)
			most = o->most[from] + o->bits[e];
	}
	return most;
}

struct outcomes *
outcomes_new(const struct dag *d, const bool *soft, const int64_t *val)
{
	const struct graph *g = d->g;
	struct outcomes *o = pool_alloc(g->pool, sizeof *o);
	uint32_t most;

	o->dag = d;
	o->val = val;
	o->soft = soft;
	o->bits = pool_array(g->pool, g->nedge, sizeof *o->bits);
	o->code = pool_array(g->pool, g->nedge, sizeof *o->code);
	o->way = pool_array(g->pool, g->nedge, sizeof *o->way);
	o->way_at = pool_array(g->pool, g->nvert + 1, sizeof *o->way_at);
	o->begin = pool_array(g->pool, g->nvert, sizeof *o->begin);
	o->begins_at = pool_array(g->pool, outcomes_ways(g, g->root) + g->nvert, sizeof *o->begins_at);
	o->known = pool_array(g->pool, g->nvert, sizeof *o->known);
	o->word = pool_array(g->pool, g->nvert, sizeof *o->word);
	o->sum = pool_array(g->pool, g->nvert, sizeof *o->sum);
	o->most = pool_array(g->pool, g->nvert, sizeof *o->most);
	number_ways(o);
	number_begins(o);
	find_known(o);
	most = most_bits(o);
	o->full = most < OUTCOMES_ROOM ? OUTCOMES_ROOM - most : 0;
	return most + o->begin_bits <= OUTCOMES_ROOM ? o : NULL;
}

/* ---- code ---- */

/* What an edge that ends a path writes. */
static void
set_write(const struct outcomes *o, uint32_t e, struct outcomes_act *a)
{
	uint32_t from = o->dag->g->edge[e].from;

	a->sum = o->sum[from] + o->val[e];
	a->write = o->known[from] ? OUTCOMES_WRITE_PATH : OUTCOMES_WRITE_WORD;
	a->bits = o->bits[e];
	a->code = o->code[e];
}

/* Sets what becomes of the word after a hard cut. */
static void
set_begin(const struct outcomes *o, uint32_t v, struct outcomes_act *a)
{
	if (v == o->dag->g->exit || o->known[v])
		return;
	a->next = OUTCOMES_SET;
	a->word = outcomes_begin(o, v);
}

/* Sets what is done at a soft cut. After it the word is not known. */
static void
set_soft(const struct outcomes *o, uint32_t e, struct outcomes_act *a)
{
	const struct edge *d = &o->dag->g->edge[e];
	uint64_t word = o->word[d->from] << o->bits[e] | o->code[e];

	set_write(o, e, a);
	a->word = outcomes_begin(o, d->to);
	a->next = o->known[d->from] ? OUTCOMES_SET : OUTCOMES_SHIFT;
	if (!o->known[d->from]) {
		a->write = OUTCOMES_WRITE_FULL;
	} else if (word < (uint64_t)2 << o->full) {
		a->write = OUTCOMES_NO_WRITE;
		a->word = word;
	}
}

struct outcomes_act
outcomes_act(const struct outcomes *o, uint32_t e)
{
	const struct edge *d = &o->dag->g->edge[e];
	struct outcomes_act a = {0};

	if (o->soft[e]) {
		set_soft(o, e, &a);
	} else if (o->dag->cut[e] || d->to == o->dag->g->exit) {
		set_write(o, e, &a);
		set_begin(o, d->to, &a);
	} else if (!o->known[d->from]) {
		a = (struct outcomes_act){.next = OUTCOMES_SHIFT, .bits = o->bits[e], .code = o->code[e]};
	} else if (!o->known[d->to]) {
		a = (struct outcomes_act){.next = OUTCOMES_SET, .word = o->word[d->from] << o->bits[e] | o->code[e]};
	}
	return a;
}

/* ---- from words back to paths ---- */

/* A word that is being read, from its highest bit on. */
struct reading {
	const struct outcomes *o;
	uint32_t word;
	uint8_t left;
	uint32_t v;
	int64_t sum;
};

/* Takes the next n bits. */
static uint32_t
next_bits(struct reading *r, uint8_t n)
{
	r->left = (uint8_t)(r->left - n);
	return r->word >> r->left & ((1u << n) - 1);
}

/* Goes to the place where the way begins: to a vertex, or to root and the edge that is taken out of it. False: there is no such
 * place. */
static bool
go_to_begin(struct reading *r, uint32_t *edge)
{
	const struct outcomes *o = r->o;
	uint32_t n, root = o->dag->g->root, ways = o->way_at[root + 1] - o->way_at[root];

	if (r->left < o->begin_bits)
		return false;
	n = next_bits(r, o->begin_bits);
	if (n >= o->nbegin)
		return false;
	*edge = n < ways ? o->way[o->way_at[root] + n] : GRAPH_NONE;
	r->v = n < ways ? root : o->begins_at[n];
	r->sum = n < ways ? 0 : o->val[o->dag->begin[r->v]];
	return true;
}

/* The edge that was taken out of the vertex that has been reached; GRAPH_NONE: there is none. */
static uint32_t
next_edge(struct reading *r)
{
	const struct outcomes *o = r->o;
	uint32_t first = o->way_at[r->v], ways = o->way_at[r->v + 1] - first, n;
	uint8_t bits = ways ? o->bits[o->way[first]] : 0;

	if (!ways || r->left < bits)
		return GRAPH_NONE;
	n = next_bits(r, bits);
	return n < ways ? o->way[first + n] : GRAPH_NONE;
}

bool
outcomes_read(const struct outcomes *o, uint32_t word, uint32_t end, struct outcomes_sums *to)
{
	struct reading r = {.o = o, .word = word, .left = word ? (uint8_t)(31 - __builtin_clz(word)) : 0};
	const struct graph *g = o->dag->g;
	uint32_t e, begin, quiet = 0;

	to->n = 0;
	if (!word || !go_to_begin(&r, &begin))
		return false;
	while (quiet <= g->nvert) {
		uint8_t left = r.left;

		e = begin == GRAPH_NONE ? next_edge(&r) : begin;
		begin = GRAPH_NONE;
		if (e == GRAPH_NONE)
			return false;
		quiet = r.left == left ? quiet + 1 : 0;
		r.sum += o->val[e];
		if (o->dag->cut[e] || g->edge[e].to == g->exit)
			VEC_PUSH(*to, (uint64_t)r.sum);
		if (e == end && !r.left)
			return true;
		if (g->edge[e].to == g->exit || (o->dag->cut[e] && !o->soft[e]))
			return false;
		r.v = g->edge[e].to;
		if (o->dag->cut[e])
			r.sum = o->dag->begin[r.v] == GRAPH_NONE ? 0 : o->val[o->dag->begin[r.v]];
	}
	return false;
}
