/* SPDX-License-Identifier: MIT */
/* Depth-first search from root, with a stack of its own. The closing edge is
 * left out: the search sees the procedure, not its next activation. */
#include "graph/graph.h"

#include <string.h>

struct walk {
	const struct graph *g;
	struct order *o;
	uint32_t *next, *stack;      /* by vertex: its next edge; the path */
	uint32_t depth, npre;
};

static void
enter(struct walk *w, uint32_t v, uint32_t by)
{
	w->o->pre[v] = w->npre++;
	w->o->parent[v] = by;
	w->next[v] = w->g->out_at[v];
	w->stack[w->depth++] = v;
}

static void
leave(struct walk *w)
{
	uint32_t v = w->stack[--w->depth];

	w->o->post[v] = w->o->nreached;
	w->o->by_post[w->o->nreached++] = v;
}

/* A vertex is on the path iff it was entered and not left. */
static void
step(struct walk *w)
{
	uint32_t v = w->stack[w->depth - 1], e, to;

	if (w->next[v] == w->g->out_at[v + 1]) {
		leave(w);
		return;
	}
	e = w->g->out[w->next[v]++];
	to = w->g->edge[e].to;
	if (e == w->g->close)
		return;
	if (w->o->pre[to] == GRAPH_NONE)
		enter(w, to, e);
	else
		w->o->back[e] = w->o->post[to] == GRAPH_NONE;
}

static uint32_t *
none(const struct graph *g)
{
	uint32_t *a = pool_array(g->pool, g->nvert, sizeof *a);

	memset(a, 0xff, g->nvert * sizeof *a);
	return a;
}

struct order *
order_dfs(const struct graph *g)
{
	struct pool *tmp = pool_new();
	struct order *o = pool_alloc(g->pool, sizeof *o);
	struct walk w = {.g = g, .o = o};

	o->pre = none(g);
	o->post = none(g);
	o->parent = none(g);
	o->by_post = none(g);
	o->back = pool_array(g->pool, g->nedge, sizeof *o->back);
	w.next = pool_array(tmp, g->nvert, sizeof *w.next);
	w.stack = pool_array(tmp, g->nvert, sizeof *w.stack);
	enter(&w, g->root, GRAPH_NONE);
	while (w.depth)
		step(&w);
	pool_free(tmp);
	return o;
}
