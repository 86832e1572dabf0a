/* SPDX-License-Identifier: MIT */
/* Loops joined by entry (Ball & Larus 1994, section 5).
 *
 * The paper's natural loops nest only in reducible graphs. Here the loop of an entry y is y with all vertices of y's search tree
 * that lead to a back edge into y without leaving that tree. In reducible graphs these are the natural loops; in all others they
 * still nest (Tarjan 1974, Havlak 1997).
 *
 * Inner entries are visited first, and each loop that is found is merged into its entry. An edge that is neither a tree edge nor a
 * back edge waits until the lowest common ancestor of its two ends is visited: no loop with an entry below that can hold both ends
 * (Ramalingam 1999). So each edge is looked at once, and the time is near-linear. */
#include "graph/graph.h"

#include <string.h>

struct finder {
	const struct graph *g;
	const struct order *o;
	uint32_t *set;               /* union-find, by vertex */
	uint32_t *wait, *wait_next;  /* by vertex, by edge: edges that wait for it */
	uint32_t *into, *into_next;  /* by representative, by edge: edges into it */
	uint32_t *holder;            /* by representative: the entry it was merged into */
	bool *head;                  /* by vertex: entry of a loop? */
	uint32_t *work, nwork;
};

static uint32_t *
none(struct pool *p, size_t n)
{
	uint32_t *a = pool_array(p, n, sizeof *a);

	memset(a, 0xff, n * sizeof *a);
	return a;
}

static void
singletons(uint32_t *set, uint32_t n)
{
	for (uint32_t v = 0; v < n; v++)
		set[v] = v;
}

/* Files each edge under the vertex that it waits for, by Tarjan's lowest common ancestors. When v is left, a vertex that was left
 * before and is not below v has been merged up to its lowest ancestor on the path to v. */
static void
file_edges(struct finder *f)
{
	const struct graph *g = f->g;

	for (uint32_t i = 0; i < f->o->nreached; i++) {
		uint32_t v = f->o->by_post[i], by = f->o->parent[v];

		for (uint32_t k = g->out_at[v]; k < g->out_at[v + 1]; k++) {
			uint32_t e = g->out[k], to = g->edge[e].to, top;

			if (e == g->close || f->o->back[e] || f->o->parent[to] == e)
				continue;
			top = graph_root(f->set, to);
			f->wait_next[e] = f->wait[top];
			f->wait[top] = e;
		}
		if (by != GRAPH_NONE) {
			f->set[v] = g->edge[by].from;
			f->into[v] = by;
		}
	}
	singletons(f->set, g->nvert);
}

static void
add_body(struct finder *f, uint32_t head, uint32_t v)
{
	uint32_t r = graph_root(f->set, v);

	if (r == head || f->holder[r] != GRAPH_NONE)
		return;
	f->holder[r] = head;
	f->work[f->nwork++] = r;
}

static void
release(struct finder *f, uint32_t v)
{
	for (uint32_t e = f->wait[v], next; e != GRAPH_NONE; e = next) {
		uint32_t r = graph_root(f->set, f->g->edge[e].to);

		next = f->wait_next[e];
		f->into_next[e] = f->into[r];
		f->into[r] = e;
	}
}

/* Walks backwards from the back edges into v, then merges all that it finds into v. */
static void
visit(struct finder *f, uint32_t v)
{
	const struct graph *g = f->g;

	release(f, v);
	f->nwork = 0;
	for (uint32_t k = g->in_at[v]; k < g->in_at[v + 1]; k++)
		if (f->o->back[g->in[k]]) {
			f->head[v] = true;
			add_body(f, v, g->edge[g->in[k]].from);
		}
	for (uint32_t i = 0; i < f->nwork; i++)
		for (uint32_t e = f->into[f->work[i]]; e != GRAPH_NONE; e = f->into_next[e])
			add_body(f, v, g->edge[e].from);
	for (uint32_t i = 0; i < f->nwork; i++)
		f->set[f->work[i]] = v;
}

/* Numbers loops so that the inner loops of each loop follow it at once: l contains k iff l <= k < end[l]. heads: entries, outer
 * ones first. number[v] gets the number of v's own loop. */
static void
number_loops(struct finder *f, struct loops *l, const uint32_t *heads, uint32_t *number, uint32_t *next)
{
	uint32_t top = 0, *size = next;

	for (uint32_t i = l->nloop; i-- > 0;) {
		uint32_t h = heads[i], up = f->holder[h];

		size[h]++;
		if (up != GRAPH_NONE)
			size[up] += size[h];
	}
	for (uint32_t i = 0; i < l->nloop; i++) {
		uint32_t h = heads[i], up = f->holder[h], n = size[h];
		uint32_t *at = up == GRAPH_NONE ? &top : &next[up];

		number[h] = *at;
		*at += n;
		next[h] = number[h] + 1;
		l->head[number[h]] = h;
		l->parent[number[h]] = up == GRAPH_NONE ? GRAPH_NONE : number[up];
		l->end[number[h]] = number[h] + n;
	}
}

static void
fill_vertices(struct finder *f, struct loops *l, const uint32_t *number)
{
	uint32_t *depth = f->work;

	for (uint32_t k = 0; k < l->nloop; k++)
		depth[k] = l->parent[k] == GRAPH_NONE ? 1 : depth[l->parent[k]] + 1;
	for (uint32_t v = 0; v < f->g->nvert; v++) {
		uint32_t h = f->head[v] ? v : f->holder[v];

		l->inner[v] = h == GRAPH_NONE ? GRAPH_NONE : number[h];
		l->depth[v] = h == GRAPH_NONE ? 0 : depth[number[h]];
	}
}

/* An edge from outside makes every loop that it enters irreducible, except the loop whose head it leads to. Loops that are marked
 * are skipped from then on: set leads from a marked loop to the one around it. */
static void
mark_irreducible(const struct graph *g, const struct order *o, struct loops *l, uint32_t *set)
{
	singletons(set, l->nloop + 1);
	for (uint32_t e = 0; e < g->nedge; e++) {
		uint32_t from = g->edge[e].from, to = g->edge[e].to, k = l->inner[to];

		if (e == g->close || o->pre[from] == GRAPH_NONE)
			continue;
		if (k != GRAPH_NONE && l->head[k] == to)
			k = l->parent[k];
		for (k = k == GRAPH_NONE ? l->nloop : graph_root(set, k);
		     k != l->nloop && !loops_contain(l, k, from); k = graph_root(set, k)) {
			l->irreducible[k] = true;
			set[k] = l->parent[k] == GRAPH_NONE ? l->nloop : l->parent[k];
		}
	}
}

static struct loops *
loops_new(const struct graph *g, uint32_t nloop)
{
	struct loops *l = pool_alloc(g->pool, sizeof *l);

	l->nloop = nloop;
	l->head = pool_array(g->pool, nloop, sizeof *l->head);
	l->parent = pool_array(g->pool, nloop, sizeof *l->parent);
	l->end = pool_array(g->pool, nloop, sizeof *l->end);
	l->irreducible = pool_array(g->pool, nloop, sizeof *l->irreducible);
	l->depth = pool_array(g->pool, g->nvert, sizeof *l->depth);
	l->inner = pool_array(g->pool, g->nvert, sizeof *l->inner);
	return l;
}

static struct finder
finder_new(const struct graph *g, const struct order *o, struct pool *tmp)
{
	struct finder f = {
		.g = g,
		.o = o,
		.set = pool_array(tmp, (size_t)g->nvert + 1, sizeof(uint32_t)),
		.wait = none(tmp, g->nvert),
		.wait_next = none(tmp, g->nedge),
		.into = none(tmp, g->nvert),
		.into_next = none(tmp, g->nedge),
		.holder = none(tmp, g->nvert),
		.head = pool_array(tmp, g->nvert, sizeof(bool)),
		.work = pool_array(tmp, g->nvert, sizeof(uint32_t)),
	};

	singletons(f.set, g->nvert);
	return f;
}

struct loops *
loops_find(const struct graph *g, const struct order *o)
{
	struct pool *tmp = pool_new();
	struct finder f = finder_new(g, o, tmp);
	uint32_t *by_pre = none(tmp, g->nvert), *number = none(tmp, g->nvert), nloop = 0;
	struct loops *l;

	for (uint32_t i = 0; i < o->nreached; i++)
		by_pre[o->pre[o->by_post[i]]] = o->by_post[i];
	file_edges(&f);
	for (uint32_t i = o->nreached; i-- > 0;)
		visit(&f, by_pre[i]);
	for (uint32_t i = 0; i < o->nreached; i++)
		if (f.head[by_pre[i]])
			by_pre[nloop++] = by_pre[i];
	l = loops_new(g, nloop);
	number_loops(&f, l, by_pre, number, pool_array(tmp, g->nvert, sizeof(uint32_t)));
	fill_vertices(&f, l, number);
	mark_irreducible(g, o, l, f.set);
	pool_free(tmp);
	return l;
}

bool
loops_contain(const struct loops *l, uint32_t loop, uint32_t v)
{
	uint32_t k = l->inner[v];

	return k != GRAPH_NONE && loop <= k && k < l->end[loop];
}
