/* SPDX-License-Identifier: MIT */
/* The graph itself: built edge by edge, indexed, completed, checked. */
#include "graph/graph.h"

#include <math.h>
#include <string.h>

struct graph *
graph_new(struct pool *pool, uint32_t nvert, uint32_t root, uint32_t exit)
{
	struct graph *g = pool_alloc(pool, sizeof *g);

	g->pool = pool;
	g->nvert = nvert;
	g->root = root;
	g->exit = exit;
	g->close = GRAPH_NONE;
	return g;
}

/* A stale index is taken away, so that its use fails at once instead of giving an old answer. */
static void
unindex(struct graph *g)
{
	g->out_at = g->out = g->in_at = g->in = NULL;
}

uint32_t
graph_vertex(struct graph *g)
{
	if (g->nvert == GRAPH_NONE - 1)
		die("graph", "more than %u vertices", g->nvert);
	unindex(g);
	return g->nvert++;
}

/* Doubling wastes no more of the pool than it uses. */
static void
grow(struct graph *g)
{
	uint32_t cap = g->cap ? g->cap * 2 : 16;
	struct edge *edge;

	if (g->cap > GRAPH_NONE / 2)
		die("graph", "more than %u edges", g->cap);
	edge = pool_array(g->pool, cap, sizeof *edge);
	if (g->nedge)
		memcpy(edge, g->edge, g->nedge * sizeof *edge);
	g->edge = edge;
	g->cap = cap;
}

uint32_t
graph_edge(struct graph *g, uint32_t from, uint32_t to)
{
	if (g->nedge == g->cap)
		grow(g);
	unindex(g);
	g->edge[g->nedge] = (struct edge){.from = from, .to = to, .share = 1, .cost = 1};
	return g->nedge++;
}

uint32_t
graph_close(struct graph *g)
{
	if (g->close != GRAPH_NONE)
		bug("a graph closed twice");
	g->close = graph_edge(g, g->exit, g->root);
	g->edge[g->close].fixed = true;
	return g->close;
}

/* One direction of the index: a counting sort, which keeps edges ascending. */
static void
index_by(const struct graph *g, bool source, uint32_t **at, uint32_t **list)
{
	uint32_t *start = pool_array(g->pool, (size_t)g->nvert + 2, sizeof *start);

	*list = pool_array(g->pool, g->nedge, sizeof **list);
	for (uint32_t e = 0; e < g->nedge; e++)
		start[(source ? g->edge[e].from : g->edge[e].to) + 2]++;
	for (uint32_t v = 0; v < g->nvert; v++)
		start[v + 2] += start[v + 1];
	for (uint32_t e = 0; e < g->nedge; e++)
		(*list)[start[(source ? g->edge[e].from : g->edge[e].to) + 1]++] = e;
	*at = start;
}

void
graph_index(struct graph *g)
{
	index_by(g, true, &g->out_at, &g->out);
	index_by(g, false, &g->in_at, &g->in);
}

/* A search in one direction, from any number of vertices. */
struct search {
	const uint32_t *at, *list;
	const struct edge *edge;
	bool forward;
	uint32_t skip;               /* the closing edge */
	bool *seen;
	uint32_t *next, *stack;      /* by vertex: its next edge; the path */
	uint32_t *finished, nfinished;
};

static struct search
search_new(const struct graph *g, struct pool *tmp, bool forward)
{
	return (struct search){
		.at = forward ? g->out_at : g->in_at,
		.list = forward ? g->out : g->in,
		.edge = g->edge,
		.forward = forward,
		.skip = g->close,
		.seen = pool_array(tmp, g->nvert, sizeof(bool)),
		.next = pool_array(tmp, g->nvert, sizeof(uint32_t)),
		.stack = pool_array(tmp, g->nvert, sizeof(uint32_t)),
		.finished = pool_array(tmp, g->nvert, sizeof(uint32_t)),
	};
}

/* The next vertex that v leads to and that was not seen, or GRAPH_NONE. */
static uint32_t
search_step(struct search *s, uint32_t v)
{
	while (s->next[v] < s->at[v + 1]) {
		uint32_t e = s->list[s->next[v]++];
		uint32_t to = s->forward ? s->edge[e].to : s->edge[e].from;

		if (e != s->skip && !s->seen[to])
			return to;
	}
	return GRAPH_NONE;
}

static void
search_from(struct search *s, uint32_t v)
{
	uint32_t n = 0;

	for (;;) {
		if (v != GRAPH_NONE) {
			s->seen[v] = true;
			s->next[v] = s->at[v];
			s->stack[n++] = v;
		} else {
			s->finished[s->nfinished++] = s->stack[--n];
		}
		if (!n)
			break;
		v = search_step(s, s->stack[n - 1]);
	}
}

/* Vertices that root does not reach (backward: that do not reach EXIT), one for each part that no other such part leads to. Falling
 * finishing times visit these parts first (Kosaraju), so no smaller set would do. Returns their number. */
static uint32_t
unreached(const struct graph *g, struct pool *tmp, bool forward, uint32_t *part)
{
	struct search all = search_new(g, tmp, forward);
	struct search some = search_new(g, tmp, forward);
	uint32_t n = 0;

	for (uint32_t v = 0; v < g->nvert; v++)
		if (!all.seen[v])
			search_from(&all, v);
	search_from(&some, forward ? g->root : g->exit);
	for (uint32_t i = g->nvert; i-- > 0;)
		if (!some.seen[all.finished[i]]) {
			part[n++] = all.finished[i];
			search_from(&some, part[n - 1]);
		}
	return n;
}

static void
phantom(struct graph *g, uint32_t from, uint32_t to)
{
	uint32_t e = graph_edge(g, from, to);

	g->edge[e].fixed = true;
	g->edge[e].phantom = true;
}

/* Edges to EXIT are added first: with them root reaches EXIT itself. */
uint32_t
graph_complete(struct graph *g)
{
	struct pool *tmp = pool_new();
	uint32_t *part = pool_array(tmp, g->nvert, sizeof *part);
	uint32_t added = 0;

	for (int forward = 0; forward < 2; forward++) {
		graph_index(g);
		for (uint32_t i = unreached(g, tmp, forward, part); i-- > 0; added++)
			phantom(g, forward ? g->root : part[i], forward ? part[i] : g->exit);
	}
	graph_index(g);
	pool_free(tmp);
	return added;
}

const char *
graph_name(const struct graph *g, uint32_t v)
{
	return g->name ? g->name[v] : pool_printf(g->pool, "%u", v);
}

static const char *
check_edge(const struct graph *g, uint32_t e)
{
	const struct edge *d = &g->edge[e];

	if (d->from >= g->nvert || d->to >= g->nvert)
		return pool_printf(g->pool, "edge %u leads from %u to %u, of %u vertices", e, d->from, d->to, g->nvert);
	if (d->from == g->exit && e != g->close)
		return pool_printf(g->pool, "edge %u leaves the exit vertex", e);
	if (!(d->cost > 0) || !isfinite(d->cost))
		return pool_printf(g->pool, "edge %u costs %g", e, d->cost);
	if (d->phantom && !d->fixed)
		return pool_printf(g->pool, "edge %u is a phantom, but not fixed", e);
	return NULL;
}

static const char *
check_index(const struct graph *g, bool source)
{
	const uint32_t *at = source ? g->out_at : g->in_at, *list = source ? g->out : g->in;

	if (at[0] || at[g->nvert] != g->nedge)
		return "the index is stale";
	for (uint32_t v = 0; v < g->nvert; v++)
		for (uint32_t i = at[v]; i < at[v + 1]; i++) {
			uint32_t e = list[i];

			if (e >= g->nedge || (source ? g->edge[e].from : g->edge[e].to) != v ||
			    (i > at[v] && list[i - 1] >= e))
				return pool_printf(g->pool, "the index is wrong at vertex %u", v);
		}
	return NULL;
}

const char *
graph_check(const struct graph *g)
{
	const char *why = NULL;

	if (g->root >= g->nvert || g->exit >= g->nvert)
		return pool_printf(g->pool, "root %u and exit %u, of %u vertices", g->root, g->exit, g->nvert);
	if (g->root == g->exit)
		return "root and exit are one vertex";
	for (uint32_t e = 0; e < g->nedge && !why; e++)
		why = check_edge(g, e);
	if (why)
		return why;
	if (g->close != GRAPH_NONE &&
	    (g->close >= g->nedge || g->edge[g->close].from != g->exit ||
	     g->edge[g->close].to != g->root || !g->edge[g->close].fixed))
		return "the closing edge does not lead from exit to root, fixed";
	if (g->out_at)
		why = check_index(g, true);
	return why || !g->in_at ? why : check_index(g, false);
}
