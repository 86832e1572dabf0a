/* SPDX-License-Identifier: MIT */
/* The graph algorithms against their definitions: every small multigraph, many
 * random ones, a few very large ones. Slow and obvious is what this file is for. */
#include "graph/graph.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static uint64_t state = 88172645463325252u;

static uint32_t
rnd(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 20) % n);
}

/* Everything known about one graph. */
struct all {
	struct graph *g;
	struct order *o;
	struct loops *l;
	double *w;
	bool *tree;
	uint32_t nphantom;
};

/* What failed, with the graph, as a file for `chord graph`. */
static void
show(const struct graph *g)
{
	if (g->nedge > 100)
		return;
	fprintf(stderr, "root %u\nexit %u\n", g->root, g->exit);
	for (uint32_t e = 0; e < g->nedge; e++)
		fprintf(stderr, "%sedge %u %u%s%s\n", e == g->close ? "# " : "", g->edge[e].from, g->edge[e].to,
		        g->edge[e].fixed ? " fixed" : "", g->edge[e].phantom ? " # phantom" : "");
}

#define check(a, cond) \
	do { \
		if (!(cond)) { \
			show((a)->g); \
			fail_msg("%s:%d: %s", __FILE__, __LINE__, #cond); \
		} \
	} while (0)

static bool
close_to(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

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
		check(a, fwd[v] && bwd[v]);
	check(a, !graph_check(g));
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
	check(a, a->o->nreached == a->g->nvert);
	for (uint32_t v = 0; v < a->g->nvert; v++) {
		check(a, a->o->pre[v] == r.pre[v] && a->o->post[v] == r.post[v]);
		check(a, a->o->by_post[r.post[v]] == v);
	}
	for (uint32_t e = 0; e < a->g->nedge; e++)
		check(a, a->o->back[e] == r.back[e]);
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
		check(a, l->parent[k] == GRAPH_NONE || l->parent[k] < k);
		check(a, l->parent[k] == GRAPH_NONE || loops_contain(l, l->parent[k], l->head[k]));
	}
	for (uint32_t v = 0; v < a->g->nvert; v++) {
		uint32_t around = 0, inner = GRAPH_NONE;

		for (uint32_t k = 0; k < l->nloop; k++)
			if (loops_contain(l, k, v)) {
				around++;
				inner = k;
			}
		check(a, l->depth[v] == around && l->inner[v] == inner);
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
		check(a, k != GRAPH_NONE && a->l->head[k] == y);
		for (uint32_t v = 0; v < g->nvert; v++) {
			check(a, loops_contain(a->l, k, v) == body[v]);
			check(a, !red || body[v] == natural[v]);
		}
		check(a, a->l->irreducible[k] == entered_beside(g, y, body));
		check(a, !red || !a->l->irreducible[k]);
	}
	check(a, n == a->l->nloop);
	check_nesting(a);
}

/* ---- weights ---- */

static void
check_conserved(const struct all *a)
{
	const struct graph *g = a->g;

	check(a, a->w[g->close] == 1.0);
	for (uint32_t v = 0; v < g->nvert; v++) {
		double in = 0, out = 0;

		for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1]; i++)
			in += a->w[g->in[i]];
		for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
			out += a->w[g->out[i]];
		check(a, close_to(in, out));
	}
	for (uint32_t e = 0; e < g->nedge; e++)
		check(a, a->w[e] > 0 && isfinite(a->w[e]));
}

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
		check(a, close_to(in, out));
		check(a, a->l->depth[a->l->head[k]] > 12 || a->l->irreducible[k] || in < 1e-6 ||
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
				check(a, a->w[e] < 1e-11);
}

/* ---- spanning trees ---- */

/* What a tree is worth: fixed edges before all others, real ones before phantoms. */
struct worth {
	uint32_t fixed;
	double weight;
};

static struct worth
worth(const struct all *a, uint32_t e)
{
	const struct edge *d = &a->g->edge[e];

	return d->fixed ? (struct worth){d->phantom ? 1 : 1000, 0} : (struct worth){0, a->w[e] * d->cost};
}

static struct worth
plus(struct worth x, struct worth y)
{
	return (struct worth){x.fixed + y.fixed, x.weight + y.weight};
}

static bool
more(struct worth x, struct worth y)
{
	return x.fixed != y.fixed ? x.fixed > y.fixed : x.weight > y.weight;
}

static bool
is_tree(const struct graph *g, uint64_t edges)
{
	uint32_t set[64], joined = 0;

	for (uint32_t v = 0; v < g->nvert; v++)
		set[v] = v;
	for (uint32_t e = 0; e < g->nedge; e++) {
		uint32_t from = set[g->edge[e].from], to = set[g->edge[e].to];

		if (!(edges >> e & 1))
			continue;
		if (from == to)
			return false;
		for (uint32_t v = 0; v < g->nvert; v++)
			set[v] = set[v] == from ? to : set[v];
		joined++;
	}
	return joined == g->nvert - 1;
}

/* The best of all sets of nvert - 1 edges that are trees (Gosper's succession). */
static struct worth
best_tree(const struct all *a)
{
	uint64_t set = (1ull << (a->g->nvert - 1)) - 1, end = 1ull << a->g->nedge;
	struct worth best = {0, -1};

	while (set < end) {
		uint64_t low = set & -set, next = set + low;
		struct worth sum = {0, 0};

		if (is_tree(a->g, set)) {
			for (uint32_t e = 0; e < a->g->nedge; e++)
				if (set >> e & 1)
					sum = plus(sum, worth(a, e));
			best = more(sum, best) ? sum : best;
		}
		set = (((next ^ set) >> 2) / low) | next;
	}
	return best;
}

/* Prim's algorithm, for graphs too large to try all. */
static struct worth
prim(const struct all *a)
{
	const struct graph *g = a->g;
	struct worth sum = {0, 0};
	bool in[g->nvert];

	memset(in, 0, sizeof in);
	in[0] = true;
	for (uint32_t n = 1; n < g->nvert; n++) {
		uint32_t best = GRAPH_NONE;

		for (uint32_t e = 0; e < g->nedge; e++)
			if (in[g->edge[e].from] != in[g->edge[e].to] &&
			    (best == GRAPH_NONE || more(worth(a, e), worth(a, best))))
				best = e;
		check(a, best != GRAPH_NONE);
		sum = plus(sum, worth(a, best));
		in[g->edge[best].from] = in[g->edge[best].to] = true;
	}
	return sum;
}

static void
check_span(const struct all *a, bool small)
{
	struct worth sum = {0, 0}, best = small ? best_tree(a) : prim(a);
	uint64_t set = 0;
	uint32_t n = 0;

	for (uint32_t e = 0; e < a->g->nedge; e++) {
		check(a, a->tree[e] || !a->g->edge[e].fixed || a->g->edge[e].phantom);
		if (!a->tree[e])
			continue;
		sum = plus(sum, worth(a, e));
		set |= e < 64 ? 1ull << e : 0;
		n++;
	}
	check(a, a->tree[a->g->close]);
	check(a, n == a->g->nvert - 1);
	check(a, a->g->nedge > 64 || is_tree(a->g, set));
	check(a, sum.fixed == best.fixed && close_to(sum.weight, best.weight));
}

/* ---- counts ---- */

struct run {
	uint64_t count[512];
	int64_t source[64];
};

/* An activation leaves early at v: an edge v -> EXIT that is not in the graph. */
static void
leave_early(const struct graph *g, struct run *r, uint32_t v)
{
	r->source[v]--;
	r->source[g->exit]++;
}

/* Walks at random from v; at its end it is at EXIT, or leaves early where it is.
 * Returns where it left early, or GRAPH_NONE. */
static uint32_t
walk(const struct graph *g, struct run *r, uint32_t v)
{
	for (uint32_t steps = rnd(40); v != g->exit; steps--) {
		uint32_t n = g->out_at[v + 1] - g->out_at[v], e = n ? g->out[g->out_at[v] + rnd(n)] : GRAPH_NONE;

		if (!steps || !n || g->edge[e].phantom) {
			leave_early(g, r, v);
			return v;
		}
		r->count[e]++;
		v = g->edge[e].to;
	}
	return GRAPH_NONE;
}

/* Runs that leave early may come back somewhere else, as longjmp does. */
static void
execute(const struct graph *g, struct run *r)
{
	memset(r, 0, sizeof *r);
	for (uint32_t n = rnd(6); n; n--) {
		uint32_t left;

		r->count[g->close]++;
		left = walk(g, r, g->root);
		while (left != GRAPH_NONE && !rnd(3)) {
			uint32_t v = rnd(g->nvert);

			if (v == g->exit)
				continue;
			r->source[v]++;
			r->source[g->exit]--;
			left = walk(g, r, v);
		}
	}
}

static void
check_flow(const struct all *a)
{
	struct run r;
	uint64_t count[512];
	bool known[512];
	const char *why = "";

	execute(a->g, &r);
	for (uint32_t e = 0; e < a->g->nedge; e++) {
		known[e] = !a->tree[e];
		count[e] = known[e] ? r.count[e] : 12345;
	}
	if (!flow_propagate(a->g, known, count, r.source, &why))
		print_error("%s\n", why);
	for (uint32_t e = 0; e < a->g->nedge; e++)
		check(a, count[e] == r.count[e]);
	check(a, !flow_check(a->g, count, r.source));
	for (uint32_t v = 0; v < a->g->nvert; v++) {
		uint64_t n = 0;

		for (uint32_t e = 0; e < a->g->nedge; e++)
			n += a->g->edge[e].to == v ? r.count[e] : 0;
		check(a, flow_vertex(a->g, count, v) == n);
	}
}

/* ---- everything on one graph ---- */

static struct all
solve(struct graph *g)
{
	struct all a = {.g = g};

	graph_close(g);
	a.nphantom = graph_complete(g);
	a.o = order_dfs(g);
	a.l = loops_find(g, a.o);
	a.w = weight_heuristic(g, a.o, a.l);
	a.tree = span_max(g, a.w, NULL);
	return a;
}

static void
check_all(struct graph *g, bool small)
{
	struct all a = solve(g);
	bool red = reducible(&a);

	check(&a, a.tree);
	check_complete(&a);
	check_order(&a);
	check_loops(&a, red);
	check_conserved(&a);
	check_rounds(&a);
	check_phantoms(&a);
	check_span(&a, small);
	for (int i = 0; i < 3; i++)
		check_flow(&a);
}

/* ---- all small graphs ---- */

enum { SMALL = 7 };

/* Edges by number: source * n + target; EXIT, the last vertex, has none. */
static void
try_edges(uint32_t n, const uint32_t *kind, uint32_t nkind)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, n, 0, n - 1);
	uint32_t shuffled[SMALL];

	memcpy(shuffled, kind, nkind * sizeof *kind);
	for (uint32_t i = nkind; i > 1; i--) {
		uint32_t k = rnd(i), t = shuffled[k];

		shuffled[k] = shuffled[i - 1];
		shuffled[i - 1] = t;
	}
	for (uint32_t i = 0; i < nkind; i++)
		graph_edge(g, shuffled[i] / n, shuffled[i] % n);
	check_all(g, true);
	pool_free(p);
}

/* All multisets of up to SMALL kinds: rising sequences. */
static void
try_all(uint32_t n)
{
	uint32_t kind[SMALL] = {0}, kinds = (n - 1) * n;

	for (uint32_t len = 0; len <= SMALL; len++) {
		memset(kind, 0, sizeof kind);
		for (;;) {
			uint32_t i = len;

			try_edges(n, kind, len);
			while (i > 0 && kind[i - 1] == kinds - 1)
				i--;
			if (!i)
				break;
			kind[i - 1]++;
			for (; i < len; i++)
				kind[i] = kind[i - 1];
		}
	}
}

static void
test_small(void **unused)
{
	(void)unused;
	for (uint32_t n = 2; n <= 4; n++)
		try_all(n);
}

/* ---- random graphs ---- */

static void
test_random(void **unused)
{
	(void)unused;
	for (int i = 0; i < 6000; i++) {
		struct pool *p = pool_new();
		uint32_t n = 2 + rnd(i % 10 ? 12 : 40), m = rnd(3 * n);
		struct graph *g = graph_new(p, n, rnd(2) ? 0 : n - 2, n - 1);

		for (uint32_t k = 0; k < m; k++) {
			uint32_t v = rnd(n - 1), e = graph_edge(g, v, rnd(3) ? v + rnd(n - v) : rnd(n));

			g->edge[e].cost = rnd(4) ? 1 : 1 + rnd(8);
		}
		check_all(g, false);
		pool_free(p);
	}
}

/* ---- fixed edges ---- */

static void
test_fixed(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 3, 0, 2);
	uint32_t a = graph_edge(g, 0, 1), b = graph_edge(g, 0, 1), bad = 99;
	double w[] = {1, 2, 3, 4, 5};
	bool *tree;

	(void)unused;
	graph_edge(g, 1, 2);
	graph_close(g);
	graph_complete(g);
	g->edge[a].fixed = true;
	tree = span_max(g, w, &bad);
	assert_non_null(tree);
	assert_true(tree[a] && !tree[b]);
	g->edge[b].fixed = true;
	assert_null(span_max(g, w, &bad));
	assert_int_equal(bad, b);
	assert_null(span_max(g, w, NULL));
	g->edge[a].fixed = g->edge[b].fixed = false;
	g->edge[a].cost = 3;
	tree = span_max(g, w, NULL);
	assert_true(tree[a] && !tree[b]);
	pool_free(p);
}

/* ---- completion ---- */

static void
test_complete(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 6, 0, 5);
	bool *tree;

	(void)unused;
	/* 0 runs 1 <-> 2 for ever; 3 <-> 4 is not reached and does not end either. */
	graph_edge(g, 0, 1);
	graph_edge(g, 1, 2);
	graph_edge(g, 2, 1);
	graph_edge(g, 3, 4);
	graph_edge(g, 4, 3);
	graph_close(g);
	assert_int_equal(graph_complete(g), 3);
	assert_int_equal(graph_complete(g), 0);
	tree = span_max(g, weight_heuristic(g, order_dfs(g), loops_find(g, order_dfs(g))), NULL);
	assert_non_null(tree);
	pool_free(p);
}

/* A vertex with no edges needs two phantoms, which with the closing edge are a
 * cycle: one of them is a chord, and needs no counter. */
static void
test_lonely(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 3, 0, 1);
	struct all a;
	uint32_t left = 0;

	(void)unused;
	graph_edge(g, 0, 1);
	a = solve(g);
	assert_int_equal(a.nphantom, 2);
	assert_non_null(a.tree);
	for (uint32_t e = 0; e < g->nedge; e++)
		left += !a.tree[e] && g->edge[e].phantom;
	assert_int_equal(left, 1);
	pool_free(p);
}

static void
test_check(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 2, 0, 1);
	uint32_t e = graph_edge(g, 0, 1), v;

	(void)unused;
	assert_null(graph_check(g));
	graph_index(g);
	assert_null(graph_check(g));
	g->edge[e].to = 0;
	assert_non_null(graph_check(g));
	g->edge[e].to = 2;
	assert_non_null(graph_check(g));
	g->edge[e].to = 1;
	v = graph_vertex(g);
	assert_int_equal(v, 2);
	assert_null(g->out_at);
	graph_edge(g, g->exit, v);
	assert_non_null(graph_check(g));
	g->edge[1].from = 0;
	assert_null(graph_check(g));
	g->edge[1].cost = 0;
	assert_non_null(graph_check(g));
	g->edge[1].cost = NAN;
	assert_non_null(graph_check(g));
	assert_non_null(graph_check(graph_new(p, 1, 0, 0)));
	assert_non_null(graph_check(graph_new(p, 1, 0, 1)));
	pool_free(p);
}

/* ---- counts that cannot be ---- */

/* 0 -> 1 twice, 1 -> 2; edge 3 closes. Known: the edges given. */
static bool
propagate(uint64_t a, uint64_t b, uint32_t unknown, const int64_t *source, uint64_t *count, const char **why)
{
	static struct pool *p;
	struct graph *g;
	bool known[4];

	pool_free(p);
	p = pool_new();
	g = graph_new(p, 3, 0, 2);
	graph_edge(g, 0, 1);
	graph_edge(g, 0, 1);
	graph_edge(g, 1, 2);
	graph_close(g);
	graph_complete(g);
	count[0] = a;
	count[1] = b;
	count[2] = count[3] = a;
	for (uint32_t e = 0; e < 4; e++)
		known[e] = !(unknown >> e & 1);
	return flow_propagate(g, known, count, source, why);
}

static void
test_flow_errors(void **unused)
{
	uint64_t count[4];
	const char *why = NULL;
	int64_t early[] = {0, -1, 1}, torn[] = {0, -1, 0}, huge[] = {0, INT64_MAX, -INT64_MAX};

	(void)unused;
	assert_true(propagate(5, 7, 0xc, NULL, count, &why));
	assert_int_equal(count[2], 12);
	assert_int_equal(count[3], 12);
	/* edge 1 = edge 3 - edge 0 = 5 - 5 */
	assert_true(propagate(5, 0, 0x6, NULL, count, &why));
	assert_int_equal(count[1], 0);
	/* 64 bits are just enough, and then they are not */
	assert_true(propagate(UINT64_MAX - 1, 1, 0xc, NULL, count, &why));
	assert_true(count[3] == UINT64_MAX);
	assert_false(propagate(UINT64_MAX, 1, 0xc, NULL, count, &why));
	assert_non_null(strstr(why, "64 bits"));
	assert_false(propagate(UINT64_MAX, UINT64_MAX, 0xc, NULL, count, NULL));
	/* sources */
	assert_true(propagate(5, 7, 0xc, early, count, &why));
	assert_int_equal(count[2], 11);
	assert_int_equal(count[3], 12);
	assert_false(propagate(0, 0, 0xc, early, count, &why));
	assert_non_null(strstr(why, "negative"));
	assert_false(propagate(5, 7, 0xc, torn, count, &why));
	assert_non_null(strstr(why, "not conserved"));
	assert_true(propagate(5, 7, 0xc, huge, count, &why));
	assert_true(count[2] == (uint64_t)INT64_MAX + 12 && count[3] == 12);
	/* not a forest; not conserved although all is known */
	assert_false(propagate(5, 7, 0x3, NULL, count, &why));
	assert_non_null(strstr(why, "not determined"));
	assert_false(propagate(5, 7, 0, NULL, count, &why));
	assert_non_null(strstr(why, "not conserved"));
	assert_true(propagate(5, 0, 0, NULL, count, &why));
}

static void
test_phantom_ran(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 3, 0, 2);
	uint32_t seen = graph_edge(g, 0, 2), dead = graph_edge(g, 1, 2);
	uint64_t count[4] = {0};
	bool known[4] = {false};
	const char *why = "";

	(void)unused;
	graph_close(g);
	assert_int_equal(graph_complete(g), 1);
	known[seen] = known[dead] = true;
	count[seen] = 4;
	assert_true(flow_propagate(g, known, count, NULL, &why));
	count[dead] = 1;
	assert_false(flow_propagate(g, known, count, NULL, &why));
	assert_non_null(strstr(why, "never runs"));
	pool_free(p);
}

/* ---- very large graphs ---- */

enum { LARGE = 1000000 };

static void
check_large(struct graph *g)
{
	struct all a = solve(g);
	uint64_t *count = calloc(g->nedge, sizeof *count);
	bool *known = calloc(g->nedge, sizeof *known);
	const char *why = "";

	assert_null(graph_check(g));
	assert_non_null(a.tree);
	check_conserved(&a);
	for (uint32_t e = 0; e < g->nedge; e++)
		known[e] = !a.tree[e];
	if (!flow_propagate(g, known, count, NULL, &why))
		fail_msg("%s", why);
	assert_null(flow_check(g, count, NULL));
	free(count);
	free(known);
}

static void
test_chain(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, LARGE, 0, LARGE - 1);

	(void)unused;
	for (uint32_t v = 0; v + 1 < LARGE; v++)
		graph_edge(g, v, v + 1);
	check_large(g);
	pool_free(p);
}

/* A ladder of returns: weights would fall below the smallest double. */
static void
test_returns(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, LARGE, 0, LARGE - 1);

	(void)unused;
	for (uint32_t v = 0; v + 1 < LARGE; v++) {
		graph_edge(g, v, LARGE - 1);
		if (v + 2 < LARGE)
			graph_edge(g, v, v + 1);
	}
	check_large(g);
	pool_free(p);
}

/* Half a million loops, each inside the one before, each with a return. */
static void
test_nest(void **unused)
{
	enum { N = LARGE / 4 };
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, 2 * N + 1, 0, 2 * N);

	(void)unused;
	for (uint32_t v = 0; v < N; v++) {
		if (v + 1 < N)
			graph_edge(g, v, v + 1);
		graph_edge(g, v, 2 * N - 1 - v);
		graph_edge(g, v, 2 * N);
		graph_edge(g, 2 * N - 1 - v, v);
		if (v)
			graph_edge(g, 2 * N - 1 - v, 2 * N - v);
	}
	check_large(g);
	pool_free(p);
}

/* Random jumps back and forth: a few huge irreducible loops. */
static void
test_tangle(void **unused)
{
	struct pool *p = pool_new();
	struct graph *g = graph_new(p, LARGE / 2, 0, LARGE / 2 - 1);

	(void)unused;
	for (uint32_t v = 0; v + 1 < LARGE / 2; v++) {
		graph_edge(g, v, v + 1);
		if (!rnd(2))
			graph_edge(g, v, rnd(LARGE / 2));
	}
	check_large(g);
	pool_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_lonely),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_flow_errors),
		cmocka_unit_test(test_phantom_ran),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_returns),
		cmocka_unit_test(test_nest),
		cmocka_unit_test(test_tangle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
