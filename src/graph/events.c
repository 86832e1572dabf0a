/* SPDX-License-Identifier: MIT */
/* Event counting with queries (Ball, Efficiently Counting Program Events with Support for On-Line Queries, 1994).
 *
 * The paper defines the increment of a chord as the signed sum of the events on its fundamental cycle. Here it comes from a
 * potential instead: phi(root) = 0, and phi(v) = phi(u) + Events(e) for every tree edge e = u -> v. The increment is
 *
 *     Increment(e) = Events(e) + phi(u) - phi(v)     for every edge e = u -> v.
 *
 * It is 0 on the tree. The increments on any walk from root to v sum to the events on it minus phi(v), because everything in
 * between telescopes. So QueryInc(v) = phi(v), and nothing has to be added at root, at EXIT and at vertices joined to root. This is
 * the paper's sum, since the tree paths from u and v to root share everything that is not on the cycle. But a self-loop needs no
 * case of its own: both its ends have the same potential, and it keeps its own events. */
#include "graph/graph.h"

#include <string.h>

/* ---- potentials ---- */

struct climb {
	const struct graph *g;
	const bool *tree;
	const int64_t *events;
	int64_t *phi;
	bool *seen;
	uint32_t *stack, depth;
	const char *why;
};

/* Gives the other end of a tree edge its potential. */
static void
climb_edge(struct climb *c, uint32_t v, uint32_t e)
{
	const struct edge *d = &c->g->edge[e];
	bool forward = d->from == v;
	uint32_t to = forward ? d->to : d->from;
	bool over;

	if (!c->tree[e] || c->seen[to] || c->why)
		return;
	over = forward ? __builtin_add_overflow(c->phi[v], c->events[e], &c->phi[to])
	               : __builtin_sub_overflow(c->phi[v], c->events[e], &c->phi[to]);
	if (over)
		c->why = pool_printf(c->g->pool, "the events on the way to vertex %s do not fit 64 bits",
		                     graph_name(c->g, to));
	c->seen[to] = true;
	c->stack[c->depth++] = to;
}

static bool
lonely(const struct graph *g, uint32_t v)
{
	return g->out_at[v] == g->out_at[v + 1] && g->in_at[v] == g->in_at[v + 1];
}

static const char *
climb(struct climb *c)
{
	const struct graph *g = c->g;

	c->seen[g->root] = true;
	c->stack[c->depth++] = g->root;
	while (c->depth && !c->why) {
		uint32_t v = c->stack[--c->depth];

		for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
			climb_edge(c, v, g->out[i]);
		for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1]; i++)
			climb_edge(c, v, g->in[i]);
	}
	for (uint32_t v = 0; v < g->nvert && !c->why; v++)
		if (!c->seen[v] && !lonely(g, v))
			c->why = pool_printf(g->pool, "the tree does not reach vertex %s", graph_name(g, v));
	return c->why;
}

static const char *
potentials(const struct graph *g, const bool *tree, const int64_t *events, int64_t *phi)
{
	struct pool *tmp = pool_new();
	struct climb c = {.g = g, .tree = tree, .events = events, .phi = phi};
	const char *why;

	c.seen = pool_array(tmp, g->nvert, sizeof *c.seen);
	c.stack = pool_array(tmp, g->nvert, sizeof *c.stack);
	why = climb(&c);
	pool_free(tmp);
	return why;
}

bool
events_increments(const struct graph *g, const int64_t *events, const int64_t *phi, int64_t *increment)
{
	for (uint32_t e = 0; e < g->nedge; e++) {
		const struct edge *d = &g->edge[e];
		__int128 n = (__int128)events[e] + phi[d->from] - phi[d->to];

		increment[e] = (int64_t)n;
		if (n != increment[e])
			return false;
	}
	return true;
}

static struct events *
events_new(const struct graph *g)
{
	struct events *ev = pool_alloc(g->pool, sizeof *ev);

	ev->increment = pool_array(g->pool, g->nedge, sizeof *ev->increment);
	ev->query = pool_array(g->pool, g->nvert, sizeof *ev->query);
	return ev;
}

struct events *
events_place(const struct graph *g, const bool *tree, const int64_t *events, const char **why)
{
	struct events *ev = events_new(g);
	const char *wrong = potentials(g, tree, events, ev->query);

	if (!wrong && !events_increments(g, events, ev->query, ev->increment))
		wrong = "an increment does not fit 64 bits";
	if (why)
		*why = wrong;
	return wrong ? NULL : ev;
}

/* ---- accurate vertices ---- */

struct graph *
events_join(const struct graph *g, const bool *accurate)
{
	struct graph *joined = graph_new(g->pool, g->nvert, g->root, g->exit);

	for (uint32_t e = 0; e < g->nedge; e++) {
		struct edge d = g->edge[e];

		if (accurate[d.from] && d.from != g->exit)
			d.from = g->root;
		if (accurate[d.to] && d.to != g->exit)
			d.to = g->root;
		graph_edge(joined, d.from, d.to);
		joined->edge[e] = d;
	}
	joined->close = g->close;
	joined->name = g->name;
	graph_index(joined);
	return joined;
}

/* ---- Fig. 4, as printed ---- */

/* A call DFS(events, v, e) that was put off. The order of such calls does not matter, since all that they do is to add. */
struct call {
	int64_t events;
	uint32_t v, e;
};

struct printed {
	const struct graph *g;
	const bool *tree;
	const int64_t *events;
	int64_t *increment;
	struct call *stack;
	uint32_t depth;
	bool over;
};

static int
dir(const struct graph *g, uint32_t e, uint32_t f)
{
	if (e == GRAPH_NONE)
		return 1;
	return g->edge[e].from == g->edge[f].to || g->edge[e].to == g->edge[f].from ? 1 : -1;
}

static void
printed_edge(struct printed *p, struct call c, uint32_t f)
{
	const struct edge *d = &p->g->edge[f];
	int64_t n;

	if (f == c.e)
		return;
	p->over |= __builtin_mul_overflow(c.events, dir(p->g, c.e, f), &n);
	if (!p->tree[f]) {
		p->over |= __builtin_add_overflow(p->increment[f], n, &p->increment[f]);
		return;
	}
	p->over |= __builtin_add_overflow(n, p->events[f], &n);
	p->stack[p->depth++] = (struct call){n, d->from == c.v ? d->to : d->from, f};
}

/* An edge with both ends at v is visited once: `v = src(f) or v = tgt(f)`. */
static void
printed_call(struct printed *p, struct call c)
{
	const struct graph *g = p->g;

	for (uint32_t i = g->in_at[c.v]; i < g->in_at[c.v + 1]; i++)
		printed_edge(p, c, g->in[i]);
	for (uint32_t i = g->out_at[c.v]; i < g->out_at[c.v + 1]; i++)
		if (g->edge[g->out[i]].to != c.v)
			printed_edge(p, c, g->out[i]);
}

static bool
printed_increments(struct printed *p)
{
	struct pool *tmp = pool_new();

	p->stack = pool_array(tmp, (size_t)p->g->nvert + 1, sizeof *p->stack);
	p->stack[p->depth++] = (struct call){0, p->g->root, GRAPH_NONE};
	while (p->depth)
		printed_call(p, p->stack[--p->depth]);
	for (uint32_t e = 0; e < p->g->nedge; e++)
		if (!p->tree[e])
			p->over |= __builtin_add_overflow(p->increment[e], p->events[e], &p->increment[e]);
	pool_free(tmp);
	return !p->over;
}

/* Section 3.3: a chord v -> root without events for every vertex. */
static struct graph *
with_queries(const struct graph *g, struct pool *tmp)
{
	struct graph *q = graph_new(tmp, g->nvert, g->root, g->exit);

	for (uint32_t e = 0; e < g->nedge; e++)
		graph_edge(q, g->edge[e].from, g->edge[e].to);
	for (uint32_t v = 0; v < g->nvert; v++)
		graph_edge(q, v, g->root);
	graph_index(q);
	return q;
}

struct events *
events_printed(const struct graph *g, const bool *tree, const int64_t *events)
{
	struct pool *tmp = pool_new();
	struct graph *q = with_queries(g, tmp);
	bool *in = pool_array(tmp, q->nedge, sizeof *in);
	int64_t *n = pool_array(tmp, q->nedge, sizeof *n), *increment = pool_array(tmp, q->nedge, sizeof *increment);
	struct printed p = {.g = q, .tree = in, .events = n, .increment = increment};
	struct events *ev = NULL;

	memcpy(in, tree, g->nedge * sizeof *in);
	memcpy(n, events, g->nedge * sizeof *n);
	if (printed_increments(&p)) {
		ev = events_new(g);
		memcpy(ev->increment, increment, g->nedge * sizeof *increment);
		memcpy(ev->query, increment + g->nedge, g->nvert * sizeof *increment);
	}
	pool_free(tmp);
	return ev;
}
