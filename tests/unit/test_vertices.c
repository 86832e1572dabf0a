/* SPDX-License-Identifier: MIT */
/* Profiles of vertices: all small graphs with all sets of counted edges, against linear algebra and against the paper's
 * theorem on simple cycles without pipes (Ball & Larus 1994, section 3.3); costs against the true optimum (Fig. 3); counts of
 * random walks. */
#include "graphs.h"

#include <math.h>

enum { MOST = 64, PRIME = 1000003 };

/* ---- the truth, by linear algebra modulo a prime ---- */

/* Rows of equations on edges; rank by elimination. */
struct equations {
	int64_t row[2 * SMALL + MOST][MOST];
	uint32_t n, width;
};

static int64_t
power(int64_t base, int64_t exponent)
{
	int64_t r = 1;

	for (; exponent; exponent >>= 1, base = base * base % PRIME)
		if (exponent & 1)
			r = r * base % PRIME;
	return r;
}

static void
eliminate(struct equations *q, uint32_t pivot, uint32_t column)
{
	int64_t inverse = power(q->row[pivot][column], PRIME - 2);

	for (uint32_t r = 0; r < q->n; r++) {
		int64_t factor = q->row[r][column] * inverse % PRIME;

		for (uint32_t c = 0; r != pivot && factor && c < q->width; c++)
			q->row[r][c] = ((q->row[r][c] - factor * q->row[pivot][c]) % PRIME + PRIME) % PRIME;
	}
}

static uint32_t
rank_of(struct equations *q)
{
	uint32_t rank = 0;

	for (uint32_t column = 0; column < q->width && rank < q->n; column++) {
		uint32_t r = rank;

		while (r < q->n && !q->row[r][column])
			r++;
		if (r == q->n)
			continue;
		for (uint32_t c = 0; c < q->width; c++) {
			int64_t t = q->row[r][c];

			q->row[r][c] = q->row[rank][c];
			q->row[rank][c] = t;
		}
		eliminate(q, rank++, column);
	}
	return rank;
}

/* Flow is conserved, and counted edges have no flow. */
static void
set_up(struct equations *q, const struct graph *g, uint32_t counted)
{
	memset(q, 0, sizeof *q);
	q->width = g->nedge;
	for (uint32_t v = 0; v < g->nvert; v++, q->n++)
		for (uint32_t e = 0; e < g->nedge; e++)
			q->row[q->n][e] = ((g->edge[e].to == v) - (g->edge[e].from == v) + PRIME) % PRIME;
	for (uint32_t e = 0; e < g->nedge; e++)
		if (counted >> e & 1)
			q->row[q->n++][e] = 1;
}

/* Does it follow that no vertex has any flow? Vertices in `vertices` are counted. */
static bool
determined(const struct graph *g, uint32_t counted, uint32_t vertices)
{
	struct equations q;
	uint32_t rank;

	for (uint32_t v = 0; v < g->nvert; v++) {
		set_up(&q, g, counted);
		for (uint32_t u = 0; u < g->nvert; u++)
			if (vertices >> u & 1) {
				for (uint32_t e = 0; e < g->nedge; e++)
					q.row[q.n][e] = g->edge[e].to == u;
				q.n++;
			}
		rank = rank_of(&q);
		for (uint32_t e = 0; e < g->nedge; e++)
			q.row[q.n][e] = g->edge[e].to == v;
		q.n++;
		if (rank_of(&q) != rank)
			return false;
	}
	return true;
}

/* ---- the theorem: simple cycles, each followed ---- */

/* Goes on from v, where it came by edge `last`, over edges of `set`, to `start`. True: a cycle with a pipe. */
static bool
piped_from(const struct graph *g, uint32_t set, uint32_t start, uint32_t first, uint32_t v, uint32_t last, uint32_t way, bool pipe)
{
	for (uint32_t e = 0; e < g->nedge; e++) {
		const struct edge *d = &g->edge[e];
		uint32_t to = d->from == v ? d->to : d->from;
		bool here;

		if (!(set >> e & 1) || e == last || (d->from != v && d->to != v))
			continue;
		here = pipe || (g->edge[last].to == v) != (d->to == v);
		if (to == start) {
			if (e != first && (here || (g->edge[first].to == start) != (d->to == start)))
				return true;
		} else if (!(way >> to & 1) && piped_from(g, set, start, first, to, e, way | 1u << to, here)) {
			return true;
		}
	}
	return false;
}

/* Has E - Ecnt a simple cycle with a pipe? */
static bool
has_piped(const struct graph *g, uint32_t counted)
{
	uint32_t set = ((1u << g->nedge) - 1) & ~counted;

	for (uint32_t e = 0; e < g->nedge; e++) {
		const struct edge *d = &g->edge[e];

		if (!(set >> e & 1))
			continue;
		if (d->from == d->to || piped_from(g, set, d->from, e, d->to, e, 1u << d->from | 1u << d->to, false))
			return true;
	}
	return false;
}

/* ---- all sets of counted edges of small graphs ---- */

static uint64_t compared, graphs, printed_better;

static void
as_array(uint32_t n, uint32_t set, bool *array)
{
	for (uint32_t i = 0; i < n; i++)
		array[i] = set >> i & 1;
}

static uint32_t
as_set(uint32_t n, const bool *array)
{
	uint32_t set = 0;

	for (uint32_t i = 0; i < n; i++)
		set |= array[i] ? 1u << i : 0;
	return set;
}

static double
edges_cost(const struct all *a, uint32_t set)
{
	double sum = 0;

	for (uint32_t e = 0; e < a->g->nedge; e++)
		sum += set >> e & 1 ? a->w[e] * a->g->edge[e].cost : 0;
	return sum;
}

static double
vertices_cost(const struct all *a, uint32_t set)
{
	double sum = 0;

	for (uint32_t e = 0; e < a->g->nedge; e++)
		sum += set >> a->g->edge[e].to & 1 ? a->w[e] : 0;
	return sum;
}

static void
check_all_sets(const struct all *a, bool small)
{
	const struct graph *g = a->g;
	bool counted[MOST];
	uint32_t all;

	(void)small;
	if (a->nphantom || g->nedge > 7)
		return;
	all = (1u << g->nedge) - 1 - (1u << g->close);
	for (uint32_t set = all;; set = (set - 1) & all) {
		bool sound;

		as_array(g->nedge, set, counted);
		sound = vertices_check(g, counted, NULL) == GRAPH_NONE;
		check(g, sound == determined(g, set, 0));
		check(g, sound == !has_piped(g, set));
		compared++;
		if (!set)
			break;
	}
}

static void
characterizations_agree(void **unused)
{
	(void)unused;
	try_all(3, check_all_sets);
	try_all(4, check_all_sets);
	assert_true(compared > 20000);
}

/* ---- optima ---- */

static double
least_of_edges(const struct all *a)
{
	const struct graph *g = a->g;
	uint32_t all = (1u << g->nedge) - 1 - (1u << g->close);
	double least = INFINITY;
	bool counted[MOST];

	for (uint32_t set = all;; set = (set - 1) & all) {
		as_array(g->nedge, set, counted);
		if (edges_cost(a, set) < least && vertices_check(g, counted, NULL) == GRAPH_NONE)
			least = edges_cost(a, set);
		if (!set)
			return least;
	}
}

static double
least_of_vertices(const struct all *a)
{
	const struct graph *g = a->g;
	uint32_t all = (1u << g->nvert) - 1;
	double least = INFINITY;
	bool none[MOST] = {0}, counted[MOST];

	for (uint32_t set = all;; set = (set - 1) & all) {
		as_array(g->nvert, set, counted);
		if (vertices_cost(a, set) < least && vertices_check(g, none, counted) == GRAPH_NONE) {
			check(g, determined(g, 0, set));
			least = vertices_cost(a, set);
		}
		if (!set)
			return least;
	}
}

static bool
at_most(double a, double b)
{
	return a <= b || close_to(a, b) || fabs(a - b) < 1e-9;
}

/* Fig. 3a: Vprof(Ecnt) costs no more than either of the others. What the algorithms find is sound; for Vprof(Vcnt) an optimum. */
static void
check_optima(const struct all *a, bool small)
{
	const struct graph *g = a->g;
	bool counted[MOST] = {0}, printed[MOST] = {0}, vertex[MOST] = {0}, none[MOST] = {0};
	double edges, vertices, chords;

	(void)small;
	if (a->nphantom || g->nedge > 8)
		return;
	for (uint32_t e = 0; e < g->nedge; e++)
		counted[e] = printed[e] = !a->tree[e];
	chords = edges_cost(a, as_set(g->nedge, counted));
	vertices_place(g, a->w, vertex);
	edges = least_of_edges(a);
	vertices = least_of_vertices(a);
	check(g, at_most(edges, chords) && at_most(edges, vertices));
	check(g, close_to(1 + vertices_cost(a, as_set(g->nvert, vertex)), 1 + vertices));
	check(g, vertices_check(g, none, vertex) == GRAPH_NONE);
	vertices_thin(g, a->w, counted);
	vertices_thin_printed(g, a->w, a->tree, printed);
	check(g, vertices_check(g, counted, NULL) == GRAPH_NONE && vertices_check(g, printed, NULL) == GRAPH_NONE);
	check(g, at_most(edges, edges_cost(a, as_set(g->nedge, counted))));
	check(g, at_most(edges, edges_cost(a, as_set(g->nedge, printed))));
	printed_better += !at_most(edges_cost(a, as_set(g->nedge, counted)), edges_cost(a, as_set(g->nedge, printed)));
	graphs++;
}

/* Has each vertex but root an edge in, and each but EXIT one out? */
static bool
is_whole(uint32_t n, const uint32_t *kind, uint32_t nkind)
{
	uint32_t in = 1, out = 1u << (n - 1);

	for (uint32_t i = 0; i < nkind; i++) {
		in |= 1u << kind[i] % n;
		out |= 1u << kind[i] / n;
	}
	return in == out && in == (1u << n) - 1;
}

/* All sets of so many edges, no two of one kind. */
static void
try_sets(uint32_t n, uint32_t nkind, check_fn *fn)
{
	uint32_t kind[SMALL], kinds = (n - 1) * n, i;

	for (i = 0; i < nkind; i++)
		kind[i] = i;
	for (;;) {
		if (is_whole(n, kind, nkind))
			try_edges(n, kind, nkind, fn);
		for (i = nkind; i > 0 && kind[i - 1] == kinds - nkind + i - 1;)
			i--;
		if (!i)
			return;
		for (kind[i - 1]++; i < nkind; i++)
			kind[i] = kind[i - 1] + 1;
	}
}

/* The least and the most of all spanning trees' chords. */
static void
check_trees(const struct all *a, bool small)
{
	const struct graph *g = a->g;
	bool *least = span_min(g, a->w, NULL);
	double low = INFINITY, high = 0, found_low = 0, found_high = 0;

	(void)small;
	if (a->nphantom || g->nedge > 8)
		return;
	for (uint32_t e = 0; e < g->nedge; e++) {
		found_low += a->tree[e] ? 0 : a->w[e] * g->edge[e].cost;
		found_high += least[e] ? 0 : a->w[e] * g->edge[e].cost;
	}
	for (uint32_t set = 0; set < 1u << g->nedge; set++) {
		uint32_t root[SMALL + 1], n = g->nvert;
		double cost = 0;

		if (!(set >> g->close & 1) || (uint32_t)__builtin_popcount(set) != g->nvert - 1)
			continue;
		for (uint32_t v = 0; v < g->nvert; v++)
			root[v] = v;
		for (uint32_t e = 0; e < g->nedge; e++) {
			uint32_t x = graph_root(root, g->edge[e].from), y = graph_root(root, g->edge[e].to);

			if (set >> e & 1)
				n -= x != y, root[x] = y;
			else
				cost += a->w[e] * g->edge[e].cost;
		}
		low = n == 1 && cost < low ? cost : low;
		high = n == 1 && cost > high ? cost : high;
	}
	check(g, close_to(1 + found_low, 1 + low) && close_to(1 + found_high, 1 + high));
	graphs++;
}

static void
trees_are_extreme(void **unused)
{
	(void)unused;
	graphs = 0;
	try_all(3, check_trees);
	try_all(4, check_trees);
	assert_true(graphs > 500);
}

static void
hierarchy_holds(void **unused)
{
	(void)unused;
	try_all(3, check_optima);
	try_all(4, check_optima);
	assert_true(graphs > 500);
	/* Five and six vertices, with as many edges as can be tried. */
	for (uint32_t n = 4; n <= size_of(SMALL, SMALL - 1); n++)
		try_sets(5, n, check_optima);
	for (uint32_t n = 5; n <= size_of(SMALL, SMALL - 2); n++)
		try_sets(6, n, check_optima);
	/* Measured on these: taking away the dearest counter that is not needed never costs more than the printed heuristic. */
	assert_int_equal(printed_better, 0);
}

/* ---- counts ---- */

/* Counts of random walks from root to EXIT. */
static void
walk(const struct graph *g, uint64_t *edge, uint64_t *vertex)
{
	uint32_t v = g->root;

	while (v != g->exit) {
		uint32_t e = g->out[g->out_at[v] + rnd(g->out_at[v + 1] - g->out_at[v])];

		if (g->edge[e].phantom)
			continue;
		vertex[v]++;
		edge[e]++;
		v = g->edge[e].to;
	}
	vertex[v]++;
	edge[g->close]++;
}

static void
check_counts(const struct all *a, bool small)
{
	const struct graph *g = a->g;
	bool *counted = pool_array(g->pool, g->nedge, sizeof *counted), *vertex = pool_array(g->pool, g->nvert, sizeof *vertex);
	bool *none = pool_array(g->pool, g->nedge, sizeof *none);
	uint64_t *edge = pool_array(g->pool, g->nedge, sizeof *edge), *truth = pool_array(g->pool, g->nvert, sizeof *truth);
	uint64_t *found = pool_array(g->pool, g->nvert, sizeof *found);
	const char *why;

	(void)small;
	if (a->nphantom)
		return;
	for (int i = 0; i < 20; i++)
		walk(g, edge, truth);
	for (uint32_t e = 0; e < g->nedge; e++)
		counted[e] = !a->tree[e];
	vertices_thin(g, a->w, counted);
	check(g, vertices_propagate(g, counted, edge, NULL, found, &why));
	check(g, !memcmp(found, truth, g->nvert * sizeof *found));
	vertices_place(g, a->w, vertex);
	for (uint32_t v = 0; v < g->nvert; v++)
		found[v] = vertex[v] ? truth[v] : 77;
	check(g, vertices_propagate(g, none, edge, vertex, found, &why));
	check(g, !memcmp(found, truth, g->nvert * sizeof *found));
	graphs++;
}

static void
counts_are_found(void **unused)
{
	(void)unused;
	graphs = 0;
	try_all(3, check_counts);
	try_random(check_counts);
	assert_true(graphs > size_of(1000, 200));
}

/* ---- vertices as edges of their own (bridge.c, wanted.c) ---- */

/* Vertex v is the edge nedge + v; *wanted: these. */
static struct graph *
split(const struct all *a, bool *wanted, double *w)
{
	const struct graph *g = a->g;
	struct graph *s = graph_new(g->pool, 2 * g->nvert, g->root, g->nvert + g->exit);

	for (uint32_t e = 0; e < g->nedge; e++) {
		if (e == g->close)
			graph_close(s);
		else
			graph_edge(s, g->nvert + g->edge[e].from, g->edge[e].to);
		s->edge[e].cost = g->edge[e].cost;
		w[e] = a->w[e];
	}
	for (uint32_t v = 0; v < g->nvert; v++) {
		uint32_t e = graph_edge(s, v, g->nvert + v);

		wanted[e] = true;
		for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1]; i++)
			w[e] += a->w[g->in[i]];
	}
	graph_index(s);
	return s;
}

/* Does it follow from flow in none of the counted edges that there is none in e? */
static bool
follows(const struct graph *g, uint32_t counted, uint32_t e)
{
	struct equations q;
	uint32_t rank;

	set_up(&q, g, counted);
	rank = rank_of(&q);
	q.row[q.n++][e] = 1;
	return rank_of(&q) == rank;
}

static void
check_bridges(const struct all *a, bool small)
{
	const struct graph *g = a->g;
	bool counted[MOST] = {0}, wanted[MOST] = {0};
	double w[MOST] = {0};
	struct graph *s;
	uint32_t all = (1u << g->nedge) - 1 - (1u << g->close);

	(void)small;
	if (a->nphantom || g->nedge > 6)
		return;
	s = split(a, wanted, w);
	for (uint32_t set = all;; set = (set - 1) & all) {
		uint32_t n, *class;

		as_array(g->nedge, set, counted);
		class = bridge_classes(g, counted, &n);
		for (uint32_t e = 0; e < g->nedge; e++)
			if (!counted[e])
				check(g, (class[g->edge[e].from] != class[g->edge[e].to]) == follows(g, set, e));
		check(g, (bridge_check(s, counted, wanted) == GRAPH_NONE) == determined(g, set, 0));
		compared++;
		if (!set)
			break;
	}
}

static void
bridges_are_what_follows(void **unused)
{
	(void)unused;
	compared = 0;
	try_all(3, check_bridges);
	try_all(4, check_bridges);
	assert_true(compared > 10000);
}

static double
cost_of(const struct graph *g, const double *w, const bool *counted)
{
	double sum = 0;

	for (uint32_t e = 0; e < g->nedge; e++)
		sum += counted[e] ? w[e] * g->edge[e].cost : 0;
	return sum;
}

/* Fig. 3a, where vertices may have counters, too; the least for Vprof(Vcnt) is that of the other algorithm. */
static void
check_wanted(const struct all *a, bool small)
{
	const struct graph *g = a->g;
	uint32_t most = 2 * g->nedge + g->nvert, bad;
	bool *wanted = pool_array(g->pool, most, sizeof(bool)), *counted = pool_array(g->pool, most, sizeof(bool));
	bool *vertex = pool_array(g->pool, g->nvert, sizeof(bool)), *tree;
	double *w = pool_array(g->pool, most, sizeof(double)), chords, least = 0;
	struct graph *s;

	(void)small;
	if (a->nphantom)
		return;
	s = split(a, wanted, w);
	tree = span_max(s, w, NULL);
	for (uint32_t e = 0; e < s->nedge; e++)
		counted[e] = !tree[e];
	chords = cost_of(s, w, counted);
	check(g, bridge_check(s, counted, NULL) == GRAPH_NONE);
	wanted_thin(s, tree, wanted, counted);
	check(g, bridge_check(s, counted, wanted) == GRAPH_NONE);
	check(g, at_most(cost_of(s, w, counted), chords));
	for (uint32_t e = 0; e < s->nedge; e++)
		if (counted[e]) {
			counted[e] = false;
			check(g, bridge_check(s, counted, wanted) != GRAPH_NONE);
			counted[e] = true;
		}
	check(g, wanted_place(s, w, wanted, counted, &bad));
	check(g, bridge_check(s, counted, wanted) == GRAPH_NONE);
	vertices_place(g, a->w, vertex);
	for (uint32_t v = 0; v < g->nvert; v++)
		least += vertex[v] ? w[g->nedge + v] : 0;
	check(g, close_to(1 + cost_of(s, w, counted), 1 + least));
	graphs++;
}

static void
wanted_is_known(void **unused)
{
	(void)unused;
	graphs = 0;
	try_all(3, check_wanted);
	try_all(4, check_wanted);
	try_random(check_wanted);
	assert_true(graphs > size_of(1000, 200));
}

/* Walks that may end at any vertex, after that was counted. */
static void
walk_some(const struct graph *g, const struct graph *s, uint64_t *count, int64_t *source)
{
	uint32_t v = g->root;

	count[g->close]++;
	while (v != g->exit) {
		uint32_t e = g->out[g->out_at[v] + rnd(g->out_at[v + 1] - g->out_at[v])];

		if (g->edge[e].phantom)
			continue;
		count[g->nedge + v]++;
		if (!rnd(4)) {
			source[s->edge[g->nedge + v].to]--;
			source[s->edge[g->nedge + g->exit].from]++;
			break;
		}
		count[e]++;
		v = g->edge[e].to;
	}
	count[g->nedge + g->exit]++;
}

static void
check_ended(const struct all *a, bool small)
{
	const struct graph *g = a->g;
	uint32_t most = 2 * g->nedge + g->nvert, bad;
	bool *wanted = pool_array(g->pool, most, sizeof(bool)), *known = pool_array(g->pool, most, sizeof(bool)), *tree;
	uint64_t *truth = pool_array(g->pool, most, sizeof *truth), *count = pool_array(g->pool, most, sizeof *count);
	int64_t *source = pool_array(g->pool, 2 * g->nvert, sizeof *source);
	double *w = pool_array(g->pool, most, sizeof(double));
	const char *why;
	struct graph *s;

	(void)small;
	if (a->nphantom)
		return;
	s = split(a, wanted, w);
	tree = span_max(s, w, NULL);
	for (int i = 0; i < 20; i++)
		walk_some(g, s, truth, source);
	for (int vcnt = 0; vcnt < 2; vcnt++) {
		for (uint32_t e = 0; e < s->nedge; e++)
			known[e] = !tree[e];
		if (vcnt)
			check(g, wanted_place(s, w, wanted, known, &bad));
		else
			wanted_thin(s, tree, wanted, known);
		for (uint32_t e = 0; e < s->nedge; e++)
			count[e] = known[e] ? truth[e] : 77;
		check(g, bridge_propagate(s, known, count, source, &why));
		for (uint32_t e = 0; e < s->nedge; e++)
			check(g, (known[e] || !wanted[e]) && (!known[e] || count[e] == truth[e]));
	}
	graphs++;
}

static void
early_ends_change_nothing(void **unused)
{
	(void)unused;
	graphs = 0;
	try_all(3, check_ended);
	try_random(check_ended);
	assert_true(graphs > size_of(1000, 200));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characterizations_agree),
		cmocka_unit_test(hierarchy_holds),
		cmocka_unit_test(trees_are_extreme),
		cmocka_unit_test(counts_are_found),
		cmocka_unit_test(bridges_are_what_follows),
		cmocka_unit_test(wanted_is_known),
		cmocka_unit_test(early_ends_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
