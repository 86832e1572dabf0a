/* SPDX-License-Identifier: MIT */
/* Pairs of definition and use against brute force: in random graphs, those found by simulating single definitions; in random
 * walks that carry the last definitions, cut into paths, some of which are stopped, and some continued by another process. */
#include "graph/graph.h"
#include "tests/unit/quick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VERTICES = 7, EDGES = 14, SITES = 14, WALKS = 12, LONG = 24, PATHS = WALKS * LONG, GRAPHS = 40000, ROOT = 0 };
enum { ENTERED = -1, UNKNOWN = -2 };

struct world {
	struct def_use_problem q;
	struct def_use_edge edge[EDGES];
	struct def_use_site site[SITES];
	struct def_use_path path[PATHS];
	uint32_t step[WALKS][LONG];
	bool cut[EDGES];
	uint64_t met[SITES][SITES];      /* by definition and use */
};

static uint32_t
below(uint32_t n)
{
	return (uint32_t)rand() % n;
}

/* Edges into vertices with lower numbers are cut, so that paths have no loop; others are at will. */
static void
make_graph(struct world *w)
{
	uint32_t n = 2 + below(VERTICES - 1);

	memset(w, 0, sizeof *w);
	w->q = (struct def_use_problem){.nvert = n, .root = ROOT, .edge = w->edge, .site = w->site, .path = w->path};
	w->q.nedge = 1 + below(EDGES);
	for (uint32_t e = 0; e < w->q.nedge; e++) {
		w->edge[e] = (struct def_use_edge){below(n), 1 + below(n - 1), !below(12)};
		w->cut[e] = w->edge[e].to <= w->edge[e].from || !below(5);
	}
	for (uint32_t v = 0; v < n; v++)
		for (uint32_t k = below(4); k > 0 && w->q.nsite < SITES && v != ROOT; k--)
			w->site[w->q.nsite++] = (struct def_use_site){v, 10 - k, (uint8_t)(1 + below(3))};
	for (uint32_t i = 0; i < w->q.nsite; i++)
		if (!(w->site[i].what & SITE_DEFINES) && !below(6))
			w->site[i].what |= SITE_LOSES;
}

/* ---- what can be reached ---- */

/* Goes over the sites of v from the i-th on with a definition in the variable; false: it is gone. */
static bool
carry(const struct world *w, uint32_t v, uint32_t from, uint32_t def, bool reached[SITES][SITES])
{
	for (uint32_t i = from; i < w->q.nsite; i++) {
		if (w->site[i].vertex != v)
			continue;
		if (w->site[i].what & SITE_USES)
			reached[def][i] = true;
		if (w->site[i].what & (SITE_DEFINES | SITE_LOSES))
			return false;
	}
	return true;
}

static void
spread(const struct world *w, uint32_t v, uint32_t def, bool *seen, bool reached[SITES][SITES])
{
	for (uint32_t e = 0; e < w->q.nedge; e++) {
		uint32_t to = w->edge[e].to;

		if (w->edge[e].from != v || w->edge[e].loses || seen[to])
			continue;
		seen[to] = true;
		if (carry(w, to, 0, def, reached))
			spread(w, to, def, seen, reached);
	}
}

static void
check_reached(const struct world *w, const struct def_use *d)
{
	bool reached[SITES][SITES] = {{false}};
	size_t n = 0;

	for (uint32_t i = 0; i < w->q.nsite; i++) {
		bool seen[VERTICES] = {false};

		if (w->site[i].what & SITE_DEFINES && carry(w, w->site[i].vertex, i + 1, i, reached))
			spread(w, w->site[i].vertex, i, seen, reached);
	}
	for (uint32_t i = 0; i < SITES; i++)
		for (uint32_t k = 0; k < SITES; k++)
			n += reached[i][k];
	assert_int_equal(n, d->n);
	for (size_t i = 0; i < d->n; i++)
		assert_true(reached[d->pair[i].def][d->pair[i].use]);
}

/* ---- what ran ---- */

/* Uses before number `upto` of v meet what is in the variable. counts: here, not in another process. */
static int
run_vertex(struct world *w, uint32_t v, uint32_t from, uint32_t upto, int what, uint64_t times, bool counts)
{
	for (uint32_t i = 0; i < w->q.nsite; i++) {
		if (w->site[i].vertex != v || w->site[i].number < from || w->site[i].number >= upto)
			continue;
		if (w->site[i].what & SITE_USES && what >= 0 && counts)
			w->met[what][i] += times;
		what = w->site[i].what & SITE_DEFINES ? (int)i : w->site[i].what & SITE_LOSES ? UNKNOWN : what;
	}
	return what;
}

static void
add_path(struct world *w, struct def_use_path p)
{
	w->path[w->q.npath++] = p;
}

/* One activation: it ends in the middle of a vertex. fork: the step from which on it is this process, which goes on in the
 * middle of the vertex; 0: from the beginning. */
static void
walk(struct world *w, uint32_t *step, uint32_t fork)
{
	uint32_t v = ROOT, n = 0, begin = ROOT, first = 0, middle = 4 + below(8);
	uint64_t times = 1 + below(3);
	int what = ENTERED;

	for (; n < LONG - 1; n++) {
		uint32_t out[EDGES], nout = 0;

		for (uint32_t e = 0; e < w->q.nedge; e++)
			if (w->edge[e].from == v)
				out[nout++] = e;
		if (!nout || !below(12))
			break;
		what = run_vertex(w, v, 0, n == fork ? middle : UINT32_MAX, what, times, n > fork || !fork);
		if (fork && n == fork) {
			add_path(w, (struct def_use_path){begin, n - first, step + first, .resumed = true, .at = v,
			                                  .upto = middle, .count = times});
			what = run_vertex(w, v, middle, UINT32_MAX, what, times, true);
		}
		step[n] = out[below(nout)];
		what = w->edge[step[n]].loses ? UNKNOWN : what;
		v = w->edge[step[n]].to;
		if (!w->cut[step[n]])
			continue;
		if (n >= fork)
			add_path(w, (struct def_use_path){begin, n + 1 - first, step + first, .cut = true, .count = times});
		begin = v;
		first = n + 1;
	}
	if (n <= fork && fork)
		return;
	run_vertex(w, v, 0, middle, what, times, true);
	add_path(w, (struct def_use_path){begin, n - first, step + first, .stopped = true, .at = v, .upto = middle,
	                                  .count = times});
}

static void
check_ran(const struct world *w, const struct def_use *d, size_t *exact)
{
	uint64_t sum = 0, all = 0;

	for (size_t i = 0; i < d->n; i++) {
		uint64_t n = w->met[d->pair[i].def][d->pair[i].use];

		assert_true(d->pair[i].least <= n);
		assert_true(n <= d->pair[i].most);
		*exact += d->pair[i].least == d->pair[i].most;
		sum += n;
	}
	for (uint32_t i = 0; i < SITES; i++)
		for (uint32_t k = 0; k < SITES; k++)
			all += w->met[i][k];
	assert_int_equal(sum, all);
}

static void
try(bool forks, bool some)
{
	size_t exact = 0, pairs = 0;

	srand(forks + 1u);
	for (int k = 0; k < (int)size_of(GRAPHS, GRAPHS / 8); k++) {
		static struct world w;
		struct pool *pool = pool_new();
		struct def_use *d;

		make_graph(&w);
		for (uint32_t i = below(WALKS); i > 0; i--)
			walk(&w, w.step[i], forks && below(2) ? 1 + below(6) : 0);
		/* Of some paths nothing is said. */
		while (some && w.q.npath && below(3))
			w.q.npath--;
		w.q.some = some;
		d = def_use_pairs(pool, &w.q);
		check_reached(&w, d);
		check_ran(&w, d, &exact);
		pairs += d->n;
		pool_free(pool);
	}
	print_message("%zu of %zu pairs exact\n", exact, pairs);
	assert_true(some ? exact == 0 : exact > pairs / 2);
}

static void
whole(void **state)
{
	(void)state;
	try(false, false);
}

static void
resumed(void **state)
{
	(void)state;
	try(true, false);
}

static void
others(void **state)
{
	(void)state;
	try(false, true);
}

/* A loop around one block: i = 0 (vertex 1); use i, i++ (2); back. The first round is in one path with the first definition. */
static void
loop(void **state)
{
	struct def_use_edge edge[] = {{0, 1, false}, {1, 2, false}, {2, 2, false}, {2, 3, false}, {3, 4, false}};
	struct def_use_site site[] = {{1, 0, SITE_DEFINES}, {2, 0, SITE_USES | SITE_DEFINES}, {3, 0, SITE_USES}};
	uint32_t once[] = {0, 1, 2}, again[] = {2}, out[] = {3, 4};
	struct def_use_path path[] = {{0, 3, once, .cut = true, .count = 5}, {2, 1, again, .cut = true, .count = 40},
	                              {2, 2, out, .count = 5}};
	struct def_use_problem q = {.nvert = 5, .nedge = 5, .nsite = 3, .npath = 3, .edge = edge, .site = site, .path = path};
	struct pool *pool = pool_new();
	struct def_use *d = def_use_pairs(pool, &q);
	static const uint64_t expected[][3] = {{0, 1, 5}, {1, 1, 45}, {1, 2, 5}};

	(void)state;
	assert_int_equal(d->n, 3);
	for (size_t i = 0; i < d->n; i++) {
		assert_int_equal(d->pair[i].def, expected[i][0]);
		assert_int_equal(d->pair[i].use, expected[i][1]);
		assert_int_equal(d->pair[i].least, expected[i][2]);
		assert_int_equal(d->pair[i].most, expected[i][2]);
	}
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loop),
		cmocka_unit_test(whole),
		cmocka_unit_test(resumed),
		cmocka_unit_test(others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
