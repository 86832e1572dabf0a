/* SPDX-License-Identifier: MIT */
/* The cheapest edges whose removal leaves no directed cycle (a feedback edge set), for the software instruction counter
 * (Mellor-Crummey & LeBlanc 1989, which counts all backward branches).
 *
 * Loops are taken apart from the outermost to the innermost. A strongly connected component is a loop; the vertex by which it is
 * entered is its head; the components of what is left without the edges into the head are the loops in it. Then, from the innermost
 * loop to the outermost, a cheapest cut breaks the paths from a loop's head back to it that no chosen edge breaks yet. Edges that
 * the outer cuts have made needless are removed again, the dearest first.
 *
 * If the graph is reducible, prices are executions and all edges can be chosen, no set is cheaper. A simple cycle of such a graph
 * has one back edge, and the executions are a sum of simple cycles, so each set costs at least what all back edges cost; and in no
 * cut do the chosen edges cost more than the back edges. With other prices, and in irreducible graphs, a cheaper set may exist; the
 * unit test has how often and by how much. */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

/* The search for needless edges takes so many steps at most. */
enum { STEPS_MOST = 10000000 };

struct nest {
	uint32_t head;
	uint32_t first, n;       /* its vertices: breaker.member[first .. first + n) */
};

struct breaker {
	const struct graph *g;
	const double *price;
	struct pool *pool;       /* for this search only */
	bool *chosen;            /* by edge */
	uint32_t *pre;           /* by vertex: order in which a search from root finds it */
	uint32_t *level;         /* by vertex: its component that is being taken apart; 0: none any more */
	VEC(struct nest) nests;  /* outer ones before those in them */
	VEC(uint32_t) member;
	/* Tarjan's search */
	uint32_t *index, *low, *next, *stack, *path, nindex;
	uint32_t *node;          /* by vertex: its node in the network of a cut */
};

static bool
is_real(const struct breaker *b, uint32_t e)
{
	return !b->g->edge[e].phantom && b->price[e] >= 0;
}

/* ---- loops ---- */

/* Is it an edge between two vertices of the component with that level? */
static bool
stays(const struct breaker *b, uint32_t e, uint32_t level)
{
	const struct edge *d = &b->g->edge[e];

	return is_real(b, e) && b->level[d->from] == level && b->level[d->to] == level;
}

static bool
loops_itself(const struct breaker *b, uint32_t v)
{
	for (uint32_t i = b->g->out_at[v]; i < b->g->out_at[v + 1]; i++)
		if (is_real(b, b->g->out[i]) && b->g->edge[b->g->out[i]].to == v)
			return true;
	return false;
}

/* Of the vertices by which the component can be entered, the one that a search from root finds first. */
static uint32_t
head_of(const struct breaker *b, const uint32_t *v, uint32_t n, uint32_t level)
{
	uint32_t head = GRAPH_NONE, first = v[0];

	for (uint32_t i = 0; i < n; i++) {
		bool entered = v[i] == b->g->root;

		for (uint32_t k = b->g->in_at[v[i]]; k < b->g->in_at[v[i] + 1]; k++)
			entered |= is_real(b, b->g->in[k]) && b->level[b->g->edge[b->g->in[k]].from] != level;
		if (entered && (head == GRAPH_NONE || b->pre[v[i]] < b->pre[head]))
			head = v[i];
		if (b->pre[v[i]] < b->pre[first])
			first = v[i];
	}
	return head == GRAPH_NONE ? first : head;
}

/* Takes a component that has been found. If it has a cycle, it becomes a nest with a level of its own. */
static void
take_component(struct breaker *b, const uint32_t *v, uint32_t n)
{
	struct nest nest = {.first = (uint32_t)b->member.n, .n = n};
	uint32_t level;

	for (uint32_t i = 0; i < n; i++)
		b->level[v[i]] = 0;
	if (n == 1 && !loops_itself(b, v[0]))
		return;
	for (uint32_t i = 0; i < n; i++)
		VEC_PUSH(b->member, v[i]);
	VEC_PUSH(b->nests, nest);
	level = (uint32_t)b->nests.n + 1; /* 1: the whole graph */
	for (uint32_t i = 0; i < n; i++)
		b->level[v[i]] = level;
	b->nests.at[level - 2].head = head_of(b, v, n, level);
}

static void
visit(struct breaker *b, uint32_t v, uint32_t *depth, uint32_t *n)
{
	b->index[v] = b->low[v] = b->nindex++;
	b->next[v] = b->g->out_at[v];
	b->path[(*depth)++] = v;
	b->stack[(*n)++] = v;
}

static uint32_t
least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The components reached from v within a level (Tarjan 1972). */
static void
find_from(struct breaker *b, uint32_t v, uint32_t level)
{
	uint32_t depth = 0, n = 0, from;

	visit(b, v, &depth, &n);
	while (depth) {
		v = b->path[depth - 1];
		if (b->next[v] < b->g->out_at[v + 1]) {
			uint32_t e = b->g->out[b->next[v]++], to = b->g->edge[e].to;

			if (!stays(b, e, level))
				continue;
			if (b->index[to] == GRAPH_NONE)
				visit(b, to, &depth, &n);
			else
				b->low[v] = least(b->low[v], b->index[to]);
			continue;
		}
		depth--;
		if (depth)
			b->low[b->path[depth - 1]] = least(b->low[b->path[depth - 1]], b->low[v]);
		if (b->low[v] != b->index[v])
			continue;
		for (from = n; b->stack[from - 1] != v;)
			from--;
		from--;
		take_component(b, b->stack + from, n - from);
		n = from;
	}
}

/* Finds the components of a level, from these vertices on. Those that have been found have other levels. */
static void
find_components(struct breaker *b, const uint32_t *v, uint32_t n, uint32_t level)
{
	for (uint32_t i = 0; i < n; i++)
		b->index[v[i]] = GRAPH_NONE;
	for (uint32_t i = 0; i < n; i++)
		if (b->index[v[i]] == GRAPH_NONE && b->level[v[i]] == level)
			find_from(b, v[i], level);
}

/* Finds the loops in each loop: the components of the loop without its head. */
static void
find_nests(struct breaker *b)
{
	uint32_t *all = pool_array(b->pool, b->g->nvert, sizeof *all);

	for (uint32_t v = 0; v < b->g->nvert; v++) {
		all[v] = v;
		b->level[v] = 1;
	}
	find_components(b, all, b->g->nvert, 1);
	for (size_t i = 0; i < b->nests.n; i++) {
		struct nest nest = b->nests.at[i];

		b->level[nest.head] = 0;
		memcpy(all, b->member.at + nest.first, nest.n * sizeof *all);
		find_components(b, all, nest.n, (uint32_t)i + 2);
	}
}

/* ---- cuts ---- */

/* Cuts all paths from a loop's head to itself. False: one of them cannot be cut. */
static bool
cut_nest(struct breaker *b, const struct nest *nest)
{
	const uint32_t *v = b->member.at + nest->first;
	struct pool *tmp = pool_new();
	VEC(struct cut_arc) arc = {0};
	VEC(uint32_t) edge = {0};
	double price = 0;
	bool *in;

	for (uint32_t i = 0; i < nest->n; i++)
		b->node[v[i]] = i;
	for (uint32_t i = 0; i < nest->n; i++)
		for (uint32_t k = b->g->out_at[v[i]]; k < b->g->out_at[v[i] + 1]; k++) {
			uint32_t e = b->g->out[k], to = b->g->edge[e].to;

			if (!is_real(b, e) || b->node[to] == GRAPH_NONE || b->chosen[e])
				continue;
			VEC_PUSH(arc, (struct cut_arc){i, to == nest->head ? nest->n : b->node[to], b->price[e]});
			VEC_PUSH(edge, e);
		}
	in = graph_cut(tmp, nest->n + 1, arc.at, (uint32_t)arc.n, b->node[nest->head], nest->n, NULL, &price);
	for (size_t i = 0; i < arc.n; i++)
		b->chosen[edge.at[i]] |= in[arc.at[i].from] && !in[arc.at[i].to];
	for (uint32_t i = 0; i < nest->n; i++)
		b->node[v[i]] = GRAPH_NONE;
	free(arc.at);
	free(edge.at);
	pool_free(tmp);
	return price < GRAPH_NEVER;
}

/* ---- needless edges ---- */

struct dear {
	double price;
	uint32_t edge;
};

static int
by_price(const void *x, const void *y)
{
	const struct dear *a = x, *b = y;

	if (a->price > b->price || a->price < b->price)
		return a->price > b->price ? -1 : 1;
	return a->edge < b->edge ? -1 : 1;
}

/* Does a path without chosen edges lead from one vertex to another? */
static bool
leads(struct breaker *b, uint32_t from, uint32_t to, uint32_t round, uint64_t *steps)
{
	uint32_t n = 0;

	b->stack[n++] = from;
	b->index[from] = round;
	while (n) {
		uint32_t v = b->stack[--n];

		if (v == to)
			return true;
		for (uint32_t i = b->g->out_at[v]; i < b->g->out_at[v + 1]; i++) {
			uint32_t e = b->g->out[i], next = b->g->edge[e].to;

			++*steps;
			if (!is_real(b, e) || b->chosen[e] || b->index[next] == round)
				continue;
			b->index[next] = round;
			b->stack[n++] = next;
		}
	}
	return false;
}

static void
drop_needless(struct breaker *b)
{
	struct dear *list = pool_array(b->pool, b->g->nedge, sizeof *list);
	uint32_t n = 0;
	uint64_t steps = 0;

	for (uint32_t e = 0; e < b->g->nedge; e++)
		if (b->chosen[e])
			list[n++] = (struct dear){b->price[e], e};
	if (n)
		qsort(list, n, sizeof *list, by_price);
	memset(b->index, 0xff, b->g->nvert * sizeof *b->index);
	for (uint32_t i = 0; i < n && steps < STEPS_MOST; i++) {
		const struct edge *d = &b->g->edge[list[i].edge];

		b->chosen[list[i].edge] = leads(b, d->to, d->from, i, &steps);
	}
}

/* ---- */

static uint32_t *
numbers(struct breaker *b)
{
	uint32_t *a = pool_array(b->pool, b->g->nvert, sizeof *a);

	memset(a, 0xff, b->g->nvert * sizeof *a);
	return a;
}

bool *
feedback_place(const struct graph *g, const double *price, uint32_t *bad)
{
	struct breaker b = {.g = g, .price = price, .pool = pool_new()};
	bool done = true;

	b.chosen = pool_array(g->pool, g->nedge, sizeof *b.chosen);
	b.pre = order_dfs(g)->pre;
	b.level = numbers(&b);
	b.index = numbers(&b);
	b.low = numbers(&b);
	b.next = numbers(&b);
	b.stack = numbers(&b);
	b.path = numbers(&b);
	b.node = numbers(&b);
	find_nests(&b);
	for (size_t i = b.nests.n; i-- > 0 && done;) {
		done = cut_nest(&b, &b.nests.at[i]);
		if (!done && bad)
			*bad = b.nests.at[i].head;
	}
	if (done)
		drop_needless(&b);
	free(b.nests.at);
	free(b.member.at);
	pool_free(b.pool);
	return done ? b.chosen : NULL;
}

bool
feedback_check(const struct graph *g, const double *price, const bool *chosen)
{
	struct pool *tmp = pool_new();
	uint32_t *left = pool_array(tmp, g->nvert, sizeof *left), *ready = pool_array(tmp, g->nvert, sizeof *ready), n = 0;

	/* Kahn 1962: what can be put in order has no cycle. */
	for (uint32_t e = 0; e < g->nedge; e++)
		left[g->edge[e].to] += !chosen[e] && !g->edge[e].phantom && price[e] >= 0;
	for (uint32_t v = 0; v < g->nvert; v++)
		if (!left[v])
			ready[n++] = v;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = g->out_at[ready[i]]; k < g->out_at[ready[i] + 1]; k++) {
			uint32_t e = g->out[k], to = g->edge[e].to;

			if (!chosen[e] && !g->edge[e].phantom && price[e] >= 0 && !--left[to])
				ready[n++] = to;
		}
	pool_free(tmp);
	return n == g->nvert;
}
