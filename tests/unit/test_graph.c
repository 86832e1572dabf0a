/* SPDX-License-Identifier: MIT */
/* Completed graphs, depth-first search, loops and weights against their definitions: every small multigraph, many random ones.
 * This file is slow and obvious on purpose. */
#include "tests/unit/graphs.h"

/* ---- reachability, by plain marking ---- */

static void
mark(const struct graph *g, uint32_t v, bool forward, const bool *allowed, bool *seen)
{
	bool grown = true;

	if (!allowed || allowed[v])
		seen[v] = true;
	while (grown) {
		grown = false;
		for (uint32_t e = 0; e < g->nedge; e++) {
			uint32_t a = forward ? g->edge[e].from : g->edge[e].to;
			uint32_t b = forward ? g->edge[e].to : g->edge[e].from;

			if (e == g->close || !seen[a] || seen[b] || (allowed && !allowed[b]))
				continue;
			seen[b] = grown = true;
		}
	}
}

static void
check_complete(const struct all *a)
{
	const struct graph *g = a->g;
	bool fwd[g->nvert], bwd[g->nvert];

	memset(fwd, 0, sizeof fwd);
	memset(bwd, 0, sizeof bwd);
	mark(g, g->root, true, NULL, fwd);
	mark(g, g->exit, false, NULL, bwd);
	for (uint32_t v = 0; v < g->nvert; v++)
		check(a->g, fwd[v] && bwd[v]);
	check(a->g, !graph_check(g));
}

/* ---- depth-first search, by recursion ---- */

struct reference {
	const struct graph *g;
	uint32_t pre[64], post[64], npre, npost;
	bool back[512];
};

static void
dfs(struct reference *r, uint32_t v)
{
	r->pre[v] = r->npre++;
	for (uint32_t e = 0; e < r->g->nedge; e++) {
		uint32_t to = r->g->edge[e].to;

		if (r->g->edge[e].from != v || e == r->g->close)
			continue;
		if (r->pre[to] == GRAPH_NONE)
			dfs(r, to);
		else if (r->post[to] == GRAPH_NONE)
			r->back[e] = true;
	}
	r->post[v] = r->npost++;
}

static void
check_order(const struct all *a)
{
	struct reference r = {.g = a->g};

	memset(r.pre, 0xff, sizeof r.pre);
	memset(r.post, 0xff, sizeof r.post);
	dfs(&r, a->g->root);
	check(a->g, a->o->nreached == a->g->nvert);
	for (uint32_t v = 0; v < a->g->nvert; v++) {
		check(a->g, a->o->pre[v] == r.pre[v] && a->o->post[v] == r.post[v]);
		check(a->g, a->o->by_post[r.post[v]] == v);
	}
	for (uint32_t e = 0; e < a->g->nedge; e++)
		check(a->g, a->o->back[e] == r.back[e]);
}

/* ---- loops, by definition ---- */

static bool
descends(const struct order *o, uint32_t v, uint32_t from)
{
	return o->pre[from] <= o->pre[v] && o->post[v] <= o->post[from];
}

/* The paper's definition with `tree` false: paths to a back edge's source that
 * avoid y. With `tree`, paths inside y's search tree only. False if y heads no loop. */
static bool
loop_of(const struct all *a, uint32_t y, bool tree, bool *body)
{
	const struct graph *g = a->g;
	bool allowed[g->nvert], found = false;

	for (uint32_t v = 0; v < g->nvert; v++) {
		allowed[v] = v != y && (!tree || descends(a->o, v, y));
		body[v] = false;
	}
	for (uint32_t e = 0; e < g->nedge; e++)
		if (a->o->back[e] && g->edge[e].to == y) {
			found = true;
			mark(g, g->edge[e].from, false, allowed, body);
		}
	body[y] = found;
	return found;
}

/* Every back edge's target dominates its source. */
static bool
reducible(const struct all *a)
{
	const struct graph *g = a->g;

	for (uint32_t e = 0; e < g->nedge; e++) {
		bool allowed[g->nvert], seen[g->nvert];

		if (!a->o->back[e])
			continue;
		memset(seen, 0, sizeof seen);
		for (uint32_t v = 0; v < g->nvert; v++)
			allowed[v] = v != g->edge[e].to;
		mark(g, g->root, true, allowed, seen);
		if (seen[g->edge[e].from])
			return false;
	}
	return true;
}

static bool
entered_beside(const struct graph *g, uint32_t y, const bool *body)
{
	for (uint32_t e = 0; e < g->nedge; e++)
		if (e != g->close && !body[g->edge[e].from] && body[g->edge[e].to] && g->edge[e].to != y)
			return true;
	return false;
}

static void
check_nesting(const struct all *a)
{
	const struct loops *l = a->l;

	for (uint32_t k = 0; k < l->nloop; k++) {
		check(a->g, l->parent[k] == GRAPH_NONE || l->parent[k] < k);
		check(a->g, l->parent[k] == GRAPH_NONE || loops_contain(l, l->parent[k], l->head[k]));
	}
	for (uint32_t v = 0; v < a->g->nvert; v++) {
		uint32_t around = 0, inner = GRAPH_NONE;

		for (uint32_t k = 0; k < l->nloop; k++)
			if (loops_contain(l, k, v)) {
				around++;
				inner = k;
			}
		check(a->g, l->depth[v] == around && l->inner[v] == inner);
	}
}

static void
check_loops(const struct all *a, bool red)
{
	const struct graph *g = a->g;
	uint32_t n = 0;

	for (uint32_t y = 0; y < g->nvert; y++) {
		bool body[g->nvert], natural[g->nvert];
		uint32_t k = a->l->inner[y];

		if (!loop_of(a, y, true, body))
			continue;
		loop_of(a, y, false, natural);
		n++;
		check(a->g, k != GRAPH_NONE && a->l->head[k] == y);
		for (uint32_t v = 0; v < g->nvert; v++) {
			check(a->g, loops_contain(a->l, k, v) == body[v]);
			check(a->g, !red || body[v] == natural[v]);
		}
		check(a->g, a->l->irreducible[k] == entered_beside(g, y, body));
		check(a->g, !red || !a->l->irreducible[k]);
	}
	check(a->g, n == a->l->nloop);
	check_nesting(a);
}

/* ---- weights ---- */

/* Loops run ten times around per entry, and leave as often as they are entered. */
static void
check_rounds(const struct all *a)
{
	const struct graph *g = a->g;

	for (uint32_t k = 0; k < a->l->nloop; k++) {
		double in = 0, out = 0, back = 0;

		for (uint32_t e = 0; e < g->nedge; e++) {
			bool from = loops_contain(a->l, k, g->edge[e].from), to = loops_contain(a->l, k, g->edge[e].to);

			in += !from && to ? a->w[e] : 0;
			out += from && !to ? a->w[e] : 0;
			back += from && a->o->back[e] && g->edge[e].to == a->l->head[k] ? a->w[e] : 0;
		}
		check(a->g, close_to(in, out));
		check(a->g, a->l->depth[a->l->head[k]] > 12 || a->l->irreducible[k] || in < 1e-6 ||
		         fabs(back - 10 * in) < 1e-4 * in);
	}
}

/* A phantom weighs next to nothing beside an edge that is none. */
static void
check_phantoms(const struct all *a)
{
	const struct graph *g = a->g;

	for (uint32_t e = 0; e < g->nedge; e++)
		for (uint32_t i = g->out_at[g->edge[e].from]; i < g->out_at[g->edge[e].from + 1]; i++)
			if (g->edge[e].phantom && !g->edge[g->out[i]].phantom && !a->l->depth[g->edge[e].from])
				check(a->g, a->w[e] < 1e-11);
}

/* ---- all of it ---- */

static void
check_all(const struct all *a, bool small)
{
	(void)small;
	check_complete(a);
	check_order(a);
	check_loops(a, reducible(a));
	check_conserved(a);
	check_rounds(a);
	check_phantoms(a);
}

static void
test_small(void **unused)
{
	(void)unused;
	for (uint32_t n = 2; n <= 4; n++)
		try_all(n, check_all);
}

static void
test_random(void **unused)
{
	(void)unused;
	try_random(check_all);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
