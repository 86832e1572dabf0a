/* SPDX-License-Identifier: MIT */
/* Witnesses: which edges write one, so that the order of witnesses tells the whole execution (Ball & Larus 1994, section 4). */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

bool
witness_is_real(const struct graph *g, uint32_t e)
{
	return e != g->close && !g->edge[e].phantom;
}

bool
witness_is_predicate(const struct graph *g, uint32_t v)
{
	uint32_t n = 0;

	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
		n += witness_is_real(g, g->out[i]);
	return n > 1;
}

static bool
stops(const struct graph *g, const bool *call, uint32_t v)
{
	return v == g->exit || call[v];
}

/* ---- blockers (section 4.2) ---- */

/* A search backward. */
struct back {
	const struct graph *g;
	bool *seen;
	uint32_t *stack, n;      /* vertices still to be left, each seen */
};

static void
push(struct back *b, uint32_t v)
{
	if (b->seen[v])
		return;
	b->seen[v] = true;
	b->stack[b->n++] = v;
}

/* Marks the edges out of predicates from which a path without further predicates leads to a vertex on the stack. */
static void
mark_blockers(struct back *b, bool *mark)
{
	const struct graph *g = b->g;

	while (b->n) {
		uint32_t v = b->stack[--b->n];

		for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1]; i++) {
			uint32_t e = g->in[i];

			if (!witness_is_real(g, e))
				continue;
			if (witness_is_predicate(g, g->edge[e].from))
				mark[e] = true;
			else
				push(b, g->edge[e].from);
		}
	}
}

bool *
witness_blockers(const struct graph *g, const bool *call)
{
	struct pool *tmp = pool_new();
	struct back b = {
		.g = g,
		.seen = pool_array(tmp, g->nvert, sizeof(bool)),
		.stack = pool_array(tmp, g->nvert, sizeof(uint32_t)),
	};
	bool *mark = pool_array(g->pool, g->nedge, sizeof *mark);

	for (uint32_t v = 0; v < g->nvert; v++)
		if (stops(g, call, v))
			push(&b, v);
	mark_blockers(&b, mark);
	pool_free(tmp);
	return mark;
}

/* ---- placement ---- */

const char *
witness_place(const struct graph *g, const double *w, const bool *call, bool *written)
{
	bool *blocker = call ? witness_blockers(g, call) : pool_array(g->pool, g->nedge, sizeof *blocker);
	bool *left_out = pool_array(g->pool, g->nedge, sizeof *left_out), *forest;
	uint32_t bad;

	for (uint32_t e = 0; e < g->nedge; e++) {
		left_out[e] = blocker[e] || !witness_is_real(g, e);
		if (blocker[e] && g->edge[e].fixed)
			return pool_printf(g->pool, "no witness can be put on the edge from %s to %s, but it has to block a call "
			                   "or the end", graph_name(g, g->edge[e].from), graph_name(g, g->edge[e].to));
	}
	forest = span_forest(g, w, left_out, &bad);
	if (!forest)
		return pool_printf(g->pool, "the edge from %s to %s closes a cycle of edges without a place for a witness",
		                   graph_name(g, g->edge[bad].from), graph_name(g, g->edge[bad].to));
	for (uint32_t e = 0; e < g->nedge; e++)
		written[e] = witness_is_real(g, e) && !forest[e];
	return NULL;
}

/* Sorted: heavier first; of two that weigh the same, the one with the lower number. */
struct weighed {
	double weight;
	uint32_t edge;
};

static int
heavier(const void *pa, const void *pb)
{
	const struct weighed *a = pa, *b = pb;

	if (a->weight > b->weight || a->weight < b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->edge > b->edge) - (a->edge < b->edge);
}

uint32_t
witness_thin(const struct graph *g, const double *w, const bool *call, bool *written)
{
	struct pool *tmp = pool_new();
	struct weighed *order = pool_array(tmp, g->nedge, sizeof *order);
	uint32_t n = 0, removed = 0;

	for (uint32_t e = 0; e < g->nedge; e++)
		if (written[e])
			order[n++] = (struct weighed){w[e] * g->edge[e].cost, e};
	qsort(order, n, sizeof *order, heavier);
	for (uint32_t i = 0; i < n; i++) {
		written[order[i].edge] = false;
		if (witness_check(g, written, call))
			written[order[i].edge] = true;
		else
			removed++;
	}
	pool_free(tmp);
	return removed;
}

/* ---- do they solve the tracing problem? ---- */

struct search {
	const struct graph *g;
	const bool *written;
	uint32_t *seen;          /* by vertex: the last search that came here, counted from 1 */
	uint32_t *stack, *at;    /* vertices on the path of the search; how many of their edges were followed */
};

/* The next edge out of v that writes nothing, from its edge number *i on; GRAPH_NONE: no more. */
static uint32_t
silent(const struct search *s, uint32_t v, uint32_t *i)
{
	const struct graph *g = s->g;

	for (; g->out_at[v] + *i < g->out_at[v + 1]; ++*i) {
		uint32_t e = g->out[g->out_at[v] + *i];

		if (witness_is_real(g, e) && !s->written[e]) {
			++*i;
			return e;
		}
	}
	return GRAPH_NONE;
}

/* Visits all vertices that v reaches without a witness. Returns a vertex that is reached twice, or GRAPH_NONE. */
static uint32_t
reached_twice(struct search *s, uint32_t v, uint32_t round)
{
	uint32_t n = 0;

	s->seen[v] = round;
	s->stack[n] = v;
	s->at[n++] = 0;
	while (n) {
		uint32_t e = silent(s, s->stack[n - 1], &s->at[n - 1]), to;

		if (e == GRAPH_NONE) {
			n--;
			continue;
		}
		to = s->g->edge[e].to;
		if (s->seen[to] == round)
			return to;
		s->seen[to] = round;
		s->stack[n] = to;
		s->at[n++] = 0;
	}
	return GRAPH_NONE;
}

/* E - Ewit has neither diamonds nor directed cycles if each vertex reaches each other vertex at most once. */
static const char *
check_single(struct search *s)
{
	const struct graph *g = s->g;

	for (uint32_t v = 0; v < g->nvert; v++) {
		uint32_t twice = reached_twice(s, v, v + 1);

		if (twice == v)
			return pool_printf(g->pool, "a cycle through %s without a witness", graph_name(g, v));
		if (twice != GRAPH_NONE)
			return pool_printf(g->pool, "two ways without a witness from %s to %s", graph_name(g, v),
			                   graph_name(g, twice));
	}
	return NULL;
}

/* The blocking property: no path without a witness leads from a predicate to a call or EXIT. */
static const char *
check_blocked(const struct graph *g, const bool *written, const bool *call, struct back *b)
{
	for (uint32_t v = 0; v < g->nvert; v++)
		if (stops(g, call, v))
			push(b, v);
	while (b->n) {
		uint32_t v = b->stack[--b->n];

		for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1]; i++) {
			uint32_t e = g->in[i], from = g->edge[e].from;

			if (!witness_is_real(g, e) || written[e])
				continue;
			if (witness_is_predicate(g, from))
				return pool_printf(g->pool, "a way without a witness from %s to a call or the end",
				                   graph_name(g, from));
			push(b, from);
		}
	}
	return NULL;
}

const char *
witness_check(const struct graph *g, const bool *written, const bool *call)
{
	struct pool *tmp = pool_new();
	struct search s = {
		.g = g,
		.written = written,
		.seen = pool_array(tmp, g->nvert, sizeof(uint32_t)),
		.stack = pool_array(tmp, g->nvert, sizeof(uint32_t)),
		.at = pool_array(tmp, g->nvert, sizeof(uint32_t)),
	};
	struct back b = {.g = g, .seen = pool_array(tmp, g->nvert, sizeof(bool)), .stack = s.stack};
	const char *why = check_single(&s);

	if (!why && call)
		why = check_blocked(g, written, call, &b);
	pool_free(tmp);
	return why;
}
