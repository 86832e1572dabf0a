/* SPDX-License-Identifier: MIT */
/* Heuristic weights (Ball & Larus 1994, section 5, corrected).
 *
 * The paper fixes the weight of a loop's exits when it meets the loop's entry, and later subtracts them from what a vertex has
 * left; under enough nested conditionals the result is negative. Here nothing is subtracted. The weighting is a sum of flows, each
 * positive and each conserved at every vertex:
 *
 *   - one unit from root to EXIT;
 *   - for each loop that W enters: 10 W around the loop, from its head to its back edges, never out of it.
 *
 * A level is a loop, or the whole procedure, with each loop directly inside it taken as one node. All cycles of its edges go
 * through its head, and every edge belongs to one level: the innermost that holds both its ends. Levels are weighed from the
 * outside in, each in two sweeps:
 *
 *   around  From the head to the back edges (in the procedure: from root to EXIT). What comes to a
 *           node is split by share over its edges of this level; if the node is an inner loop, these
 *           are the loop's exits. So each of N exits weighs W/N, as in the paper, and an edge that
 *           leaves several loops at once is weighed as an exit of the outermost.
 *   out     The level's own exits were weighed in the levels around it. Their flow is drawn back to
 *           the head, over the edges into each node in proportion to what the first sweep gave them.
 *
 * In Fig. 1 of the paper this gives the figure's own weights (a loop entered once runs 10 times around its back edge, its head 11
 * times).
 *
 * Irreducible loops: flow that enters elsewhere than at the head joins the sweep around, so it comes to the head once before it
 * leaves. Flow is conserved there as well.
 *
 * A phantom gets nothing in a split unless there is nothing else.
 *
 * Weights shrink without limit under nested conditionals. So at the end a trace of size TRACE is mixed in: for each edge, a walk
 * from root down the search tree, over the edge, and by a shortest path to EXIT. That makes every weight positive, even of
 * phantoms. From the 13th level of loops on, loops run fewer times, so that a million of them still fit a double. Irreducible loops
 * may double the flow at each level; a graph with hundreds of these inside each other gets the trace alone. */
#include "graph/graph.h"

#include <string.h>

#define TRACE 1e-15
#define LIMIT 1e100
enum { ROUNDS = 10, DEEP = 12 };

/* Sums over ranges of levels, with additions only: differences of prefix sums would lose small weights next to large ones. */
struct sums {
	double *at;
	uint32_t n;
};

struct weigher {
	const struct graph *g;
	const struct order *o;
	const struct loops *l;
	struct pool *tmp;
	double *w;                   /* by edge: the result */

	/* Level 0 is the procedure, level k + 1 is loop k. */
	uint32_t nlevel, nlift;
	uint32_t *lift;              /* nlift rows by level: the level 2^row around it */
	struct sums out, in;         /* by level: flow over the edges, weighed so far, that leave it or enter it */

	/* Nodes: those of one level are neighbours, in topological order, its
	 * head first. */
	uint32_t *first;             /* by level: its first node */
	uint32_t *of_vertex, *of_level;  /* the node that stands for it */
	uint32_t *vertex, *inside;   /* by node: its vertex or GRAPH_NONE, else its level */
	double *flow, *due;          /* by node: what comes to it in the sweep around; what leaves the level after it */

	uint32_t *level, *src, *dst; /* by edge: its level, and the nodes it joins there */
	uint32_t *from_at, *from, *to_at, *to;  /* by node: edges of its level that leave it, enter it */
};

/* ---- sums ---- */

static struct sums
sums_new(struct pool *p, uint32_t n)
{
	return (struct sums){pool_array(p, (size_t)n * 2, sizeof(double)), n};
}

static void
sums_add(struct sums *s, uint32_t i, double x)
{
	for (size_t k = (size_t)i + s->n; k; k /= 2)
		s->at[k] += x;
}

/* The sum over [from, to). */
static double
sums_range(const struct sums *s, uint32_t from, uint32_t to)
{
	size_t a = (size_t)from + s->n, b = (size_t)to + s->n;
	double x = 0;

	for (; a < b; a /= 2, b /= 2) {
		if (a & 1)
			x += s->at[a++];
		if (b & 1)
			x += s->at[--b];
	}
	return x;
}

/* ---- levels ---- */

static uint32_t
level_of(const struct weigher *w, uint32_t v)
{
	return w->l->inner[v] == GRAPH_NONE ? 0 : w->l->inner[v] + 1;
}

static uint32_t
level_end(const struct weigher *w, uint32_t k)
{
	return k ? w->l->end[k - 1] + 1 : w->nlevel;
}

static bool
holds(const struct weigher *w, uint32_t outer, uint32_t k)
{
	return outer <= k && k < level_end(w, outer);
}

static uint32_t
up(const struct weigher *w, uint32_t row, uint32_t k)
{
	return w->lift[(size_t)row * w->nlevel + k];
}

static uint32_t
level_around_both(const struct weigher *w, uint32_t a, uint32_t b)
{
	if (holds(w, a, b))
		return a;
	for (uint32_t row = w->nlift; row-- > 0;)
		if (!holds(w, up(w, row, a), b))
			a = up(w, row, a);
	return up(w, 0, a);
}

/* The level directly inside `outer` that is or holds k. */
static uint32_t
level_below(const struct weigher *w, uint32_t outer, uint32_t k)
{
	for (uint32_t row = w->nlift; row-- > 0;)
		if (up(w, row, k) > outer)
			k = up(w, row, k);
	return k;
}

static void
make_levels(struct weigher *w)
{
	const struct loops *l = w->l;
	uint32_t deepest = 1;

	w->nlevel = l->nloop + 1;
	for (uint32_t v = 0; v < w->g->nvert; v++)
		deepest = l->depth[v] > deepest ? l->depth[v] : deepest;
	while (deepest >> w->nlift)
		w->nlift++;
	w->lift = pool_array(w->tmp, (size_t)w->nlift * w->nlevel, sizeof *w->lift);
	for (uint32_t k = 1; k < w->nlevel; k++)
		w->lift[k] = l->parent[k - 1] == GRAPH_NONE ? 0 : l->parent[k - 1] + 1;
	for (uint32_t row = 1; row < w->nlift; row++)
		for (uint32_t k = 0; k < w->nlevel; k++)
			w->lift[(size_t)row * w->nlevel + k] = up(w, row - 1, up(w, row - 1, k));
	w->out = sums_new(w->tmp, w->nlevel);
	w->in = sums_new(w->tmp, w->nlevel);
}

/* ---- nodes ---- */

static bool
is_head(const struct weigher *w, uint32_t v)
{
	uint32_t k = level_of(w, v);

	return k && w->l->head[k - 1] == v;
}

static void
count_nodes(struct weigher *w)
{
	w->first = pool_array(w->tmp, (size_t)w->nlevel + 1, sizeof *w->first);
	for (uint32_t v = 0; v < w->g->nvert; v++)
		w->first[level_of(w, v) + 1]++;
	for (uint32_t k = 1; k < w->nlevel; k++)
		w->first[up(w, 0, k) + 1]++;
	for (uint32_t k = 0; k < w->nlevel; k++)
		w->first[k + 1] += w->first[k];
}

/* Falling postorder is topological if back edges are left out, and a loop takes its head's place in it: a vertex that comes between
 * the loop's head and its last vertex, and is not in the loop, cannot come back to it. */
static void
make_nodes(struct weigher *w)
{
	uint32_t n = w->g->nvert + w->nlevel, *next = pool_array(w->tmp, w->nlevel, sizeof *next);

	count_nodes(w);
	memcpy(next, w->first, w->nlevel * sizeof *next);
	w->of_vertex = pool_array(w->tmp, w->g->nvert, sizeof *w->of_vertex);
	w->of_level = pool_array(w->tmp, w->nlevel, sizeof *w->of_level);
	w->vertex = pool_array(w->tmp, n, sizeof *w->vertex);
	w->inside = pool_array(w->tmp, n, sizeof *w->inside);
	for (uint32_t i = w->o->nreached; i-- > 0;) {
		uint32_t v = w->o->by_post[i], k = level_of(w, v);

		if (is_head(w, v)) {
			w->of_level[k] = next[up(w, 0, k)]++;
			w->vertex[w->of_level[k]] = GRAPH_NONE;
			w->inside[w->of_level[k]] = k;
		}
		w->of_vertex[v] = next[k]++;
		w->vertex[w->of_vertex[v]] = v;
	}
	w->flow = pool_array(w->tmp, n, sizeof *w->flow);
	w->due = pool_array(w->tmp, n, sizeof *w->due);
}

/* ---- edges ---- */

static uint32_t
node_of(const struct weigher *w, uint32_t level, uint32_t v)
{
	uint32_t k = level_of(w, v);

	return k == level ? w->of_vertex[v] : w->of_level[level_below(w, level, k)];
}

static void
list_by_node(struct weigher *w, const uint32_t *node, uint32_t **at, uint32_t **list)
{
	uint32_t n = w->g->nvert + w->nlevel;
	uint32_t *start = pool_array(w->tmp, (size_t)n + 2, sizeof *start);

	*list = pool_array(w->tmp, w->g->nedge, sizeof **list);
	for (uint32_t e = 0; e < w->g->nedge; e++)
		if (e != w->g->close)
			start[node[e] + 2]++;
	for (uint32_t i = 0; i < n; i++)
		start[i + 2] += start[i + 1];
	for (uint32_t e = 0; e < w->g->nedge; e++)
		if (e != w->g->close)
			(*list)[start[node[e] + 1]++] = e;
	*at = start;
}

static void
make_edges(struct weigher *w)
{
	const struct graph *g = w->g;

	w->level = pool_array(w->tmp, g->nedge, sizeof *w->level);
	w->src = pool_array(w->tmp, g->nedge, sizeof *w->src);
	w->dst = pool_array(w->tmp, g->nedge, sizeof *w->dst);
	for (uint32_t e = 0; e < g->nedge; e++) {
		uint32_t from = g->edge[e].from, to = g->edge[e].to;

		if (e == g->close)
			continue;
		w->level[e] = level_around_both(w, level_of(w, from), level_of(w, to));
		w->src[e] = node_of(w, w->level[e], from);
		w->dst[e] = node_of(w, w->level[e], to);
	}
	list_by_node(w, w->src, &w->from_at, &w->from);
	list_by_node(w, w->dst, &w->to_at, &w->to);
}

/* ---- sweep around ---- */

static void
split(struct weigher *w, uint32_t node, uint32_t head, double x)
{
	const uint32_t *edge = w->from + w->from_at[node];
	uint32_t n = w->from_at[node + 1] - w->from_at[node];
	double shares = 0;

	for (uint32_t i = 0; i < n; i++)
		shares += w->g->edge[edge[i]].phantom ? 0 : w->g->edge[edge[i]].share;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t e = edge[i];

		w->w[e] = shares <= 0 ? x / n : w->g->edge[e].phantom ? 0 : x * (w->g->edge[e].share / shares);
		if (w->dst[e] != head)
			w->flow[w->dst[e]] += w->w[e];
	}
}

/* Flow over edges of outer levels into (or out of) a node of this level. */
static double
across(const struct weigher *w, uint32_t level, uint32_t node, bool in)
{
	const struct graph *g = w->g;
	uint32_t v = w->vertex[node], k = w->inside[node];
	double x = 0;

	if (!level)
		return 0;
	if (v == GRAPH_NONE)
		return sums_range(in ? &w->in : &w->out, k, level_end(w, k));
	for (uint32_t i = in ? g->in_at[v] : g->out_at[v]; i < (in ? g->in_at[v + 1] : g->out_at[v + 1]); i++) {
		uint32_t e = in ? g->in[i] : g->out[i];

		if (e != g->close && w->level[e] < level)
			x += w->w[e];
	}
	return x;
}

static void
sweep_around(struct weigher *w, uint32_t level, double x)
{
	uint32_t head = w->first[level];

	w->flow[head] = x;
	for (uint32_t i = head; i < w->first[level + 1]; i++) {
		if (i != head)
			w->flow[i] += across(w, level, i, true);
		split(w, i, head, w->flow[i]);
	}
}

/* ---- sweep out ---- */

static void
draw(struct weigher *w, uint32_t node, double x)
{
	uint32_t n = w->to_at[node + 1] - w->to_at[node];
	const uint32_t *edge = w->to + w->to_at[node];
	double all = 0;

	for (uint32_t i = 0; i < n; i++)
		all += w->w[edge[i]];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t e = edge[i];
		double part = all > 0 ? x * (w->w[e] / all) : x / n;

		w->w[e] += part;
		w->due[w->src[e]] += part;
	}
}

static void
sweep_out(struct weigher *w, uint32_t level)
{
	uint32_t head = w->first[level];

	for (uint32_t i = w->first[level + 1]; --i > head;)
		draw(w, i, w->due[i] + across(w, level, i, false));
}

/* ---- all levels ---- */

/* Tells the levels inside this one how much flow its edges carry out of them and into them. */
static void
publish(struct weigher *w, uint32_t level)
{
	for (uint32_t i = w->from_at[w->first[level]]; i < w->from_at[w->first[level + 1]]; i++) {
		uint32_t e = w->from[i];
		uint32_t a = level_of(w, w->g->edge[e].from), b = level_of(w, w->g->edge[e].to);

		if (a != level)
			sums_add(&w->out, a, w->w[e]);
		if (b != level)
			sums_add(&w->in, b, w->w[e]);
	}
}

static double
rounds(uint32_t depth)
{
	double beyond = depth > DEEP ? depth - DEEP + 1 : 1;

	return ROUNDS / (beyond * beyond);
}

static void
weigh_levels(struct weigher *w)
{
	sums_add(&w->in, level_of(w, w->g->root), 1);   /* the closing edge enters a loop around root */
	sweep_around(w, 0, 1);
	publish(w, 0);
	for (uint32_t k = 1; k < w->nlevel; k++) {
		double entered = sums_range(&w->in, k, level_end(w, k));

		sweep_around(w, k, entered * rounds(w->l->depth[w->l->head[k - 1]]));
		sweep_out(w, k);
		publish(w, k);
	}
}

/* ---- the trace ---- */

/* Breadth-first search from EXIT against the edges. way[v]: the first edge of a shortest path from v to EXIT. Returns the vertices
 * met, in order. */
static uint32_t *
ways_out(const struct weigher *w, uint32_t *way, uint32_t *nmet)
{
	const struct graph *g = w->g;
	uint32_t *met = pool_array(w->tmp, g->nvert, sizeof *met), n = 0;

	memset(way, 0xff, g->nvert * sizeof *way);
	met[n++] = g->exit;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = g->in_at[met[i]]; k < g->in_at[met[i] + 1]; k++) {
			uint32_t e = g->in[k], v = g->edge[e].from;

			if (v == g->exit || way[v] != GRAPH_NONE)
				continue;
			way[v] = e;
			met[n++] = v;
		}
	*nmet = n;
	return met;
}

/* walks[e]: how many of the walks, one for each edge, go over e. */
static double *
count_walks(const struct weigher *w)
{
	const struct graph *g = w->g;
	uint32_t *way = pool_array(w->tmp, g->nvert, sizeof *way), nmet, *met = ways_out(w, way, &nmet);
	double *walks = pool_array(w->tmp, g->nedge, sizeof *walks);
	double *before = pool_array(w->tmp, g->nvert, sizeof *before), *after = pool_array(w->tmp, g->nvert, sizeof *after);

	for (uint32_t e = 0; e < g->nedge; e++)
		if (e != g->close) {
			walks[e] = 1;
			before[g->edge[e].from]++;
			after[g->edge[e].to]++;
		}
	for (uint32_t i = 0; i + 1 < w->o->nreached; i++) {
		uint32_t v = w->o->by_post[i], e = w->o->parent[v];

		walks[e] += before[v];
		before[g->edge[e].from] += before[v];
	}
	for (uint32_t i = nmet; --i > 0;) {
		uint32_t e = way[met[i]];

		walks[e] += after[met[i]];
		after[g->edge[e].to] += after[met[i]];
	}
	return walks;
}

static bool
too_large(const struct weigher *w)
{
	for (uint32_t e = 0; e < w->g->nedge; e++)
		if (!(w->w[e] < LIMIT))
			return true;
	return false;
}

static void
add_trace(struct weigher *w)
{
	const struct graph *g = w->g;
	double *walks = count_walks(w), n = g->nedge - (g->close != GRAPH_NONE);
	bool trace_only = too_large(w);

	for (uint32_t e = 0; e < g->nedge; e++)
		w->w[e] = trace_only ? walks[e] / n : (1 - TRACE) * w->w[e] + TRACE * (walks[e] / n);
	if (g->close != GRAPH_NONE)
		w->w[g->close] = 1;
}

double *
weight_heuristic(const struct graph *g, const struct order *o, const struct loops *l)
{
	struct weigher w = {.g = g, .o = o, .l = l, .tmp = pool_new()};

	if (o->nreached != g->nvert)
		bug("a graph weighed before it was completed");
	w.w = pool_array(g->pool, g->nedge, sizeof *w.w);
	make_levels(&w);
	make_nodes(&w);
	make_edges(&w);
	weigh_levels(&w);
	add_trace(&w);
	pool_free(w.tmp);
	return w.w;
}
