/* SPDX-License-Identifier: MIT */
/* Bit tracing: executions of all small graphs and of random ones, with ends of ways and cuts anywhere. What is read from the
 * trace that the code of their edges writes must be these executions. */
#include "graphs.h"

enum { WALKS = 20, STEPS = 300 };

static struct {
	uint64_t graphs, words, paths, most, full, full_known, too_many;
} seen;

/* What an activation does, beside what it wrote. */
struct walk {
	const struct outcomes *o;
	const struct paths *paths;
	uint64_t word;           /* what code holds; of no meaning where it is known */
	int64_t sum;             /* of the path so far */
	struct outcomes_sums ran, read;
};

static void
take_word(struct walk *x, uint64_t word, uint32_t e)
{
	const struct graph *g = x->o->dag->g;
	struct outcomes_sums sums = {0};

	check(g, word < (uint64_t)2 << OUTCOMES_ROOM);
	check(g, outcomes_read(x->o, (uint32_t)word, e, &sums));
	check(g, sums.n > 0);
	seen.words++;
	seen.paths += sums.n;
	seen.most = sums.n > seen.most ? sums.n : seen.most;
	VEC_JOIN(x->read, sums);
	free(sums.at);
}

/* The path that a sum is of ends with the edge. */
static void
check_end(const struct walk *x, int64_t sum, uint32_t e)
{
	const struct graph *g = x->o->dag->g;
	uint32_t *edge = pool_array(g->pool, g->nvert + 1, sizeof *edge), n;

	paths_edges(x->paths, (uint64_t)sum, edge, &n);
	check(g, n && edge[n - 1] == e);
}

/* Runs the code of an edge. */
static void
run_code(struct walk *x, uint32_t e)
{
	const struct graph *g = x->o->dag->g;
	struct outcomes_act a = outcomes_act(x->o, e);
	uint64_t shifted = x->word << a.bits | a.code;

	if (a.write)
		check_end(x, a.sum, e);
	if (a.write == OUTCOMES_WRITE_PATH)
		VEC_PUSH(x->read, (uint64_t)a.sum);
	if (a.write == OUTCOMES_WRITE_WORD)
		take_word(x, shifted, e);
	seen.full_known += a.write == OUTCOMES_WRITE_PATH && x->o->soft[e];
	if (a.write != OUTCOMES_WRITE_FULL) {
		x->word = a.next == OUTCOMES_SET ? a.word : a.next == OUTCOMES_SHIFT ? shifted : x->word;
		return;
	}
	check(g, a.next == OUTCOMES_SHIFT);
	x->word = shifted;
	if (shifted >> (x->o->full + 1)) {
		take_word(x, shifted, e);
		x->word = a.word;
		seen.full++;
	}
}

/* Goes along an edge: the code runs, and the paths that end are noted. */
static void
pass(struct walk *x, uint32_t e)
{
	const struct dag *d = x->o->dag;
	uint32_t to = d->g->edge[e].to;

	run_code(x, e);
	x->sum += x->o->val[e];
	if (!d->cut[e] && to != d->g->exit)
		return;
	VEC_PUSH(x->ran, (uint64_t)x->sum);
	x->sum = to != d->g->exit && d->begin[to] != GRAPH_NONE ? x->o->val[d->begin[to]] : 0;
}

static uint32_t
any_way(const struct graph *g, uint32_t v)
{
	uint32_t e;

	if (!outcomes_ways(g, v))
		return GRAPH_NONE;
	do
		e = g->out[g->out_at[v] + rnd(g->out_at[v + 1] - g->out_at[v])];
	while (!witness_is_real(g, e));
	return e;
}

static void
walk(const struct outcomes *o, const struct paths *paths)
{
	const struct graph *g = o->dag->g;
	struct walk x = {.o = o, .paths = paths, .word = 1};
	uint32_t v = g->root;

	for (uint32_t i = 0; i < STEPS && v != g->exit; i++) {
		uint32_t e = any_way(g, v);

		if (e == GRAPH_NONE)
			break;
		if (o->known[v])
			x.word = o->word[v];
		pass(&x, e);
		v = g->edge[e].to;
	}
	/* What a word still holds is not written. */
	check(g, x.read.n <= x.ran.n && (v != g->exit || x.read.n == x.ran.n));
	check(g, !x.read.n || !memcmp(x.read.at, x.ran.at, x.read.n * sizeof *x.read.at));
	free(x.ran.at);
	free(x.read.at);
}

/* Marks cut edges as hard, some, and cuts more. NULL: edges lead to root. */
static struct dag *
cut(const struct all *a, bool **soft)
{
	struct graph *g = a->g;
	bool root = false;
	bool *hard = pool_array(g->pool, g->nedge, sizeof *hard), *all = pool_array(g->pool, g->nedge, sizeof *all);
	const char *why = NULL;
	struct dag *d;

	for (uint32_t e = 0; e < g->nedge; e++) {
		bool can = witness_is_real(g, e) && !g->edge[e].fixed && g->edge[e].to != g->exit;

		root |= e != g->close && g->edge[e].to == g->root;
		hard[e] = can && !rnd(8);
		all[e] = hard[e] || (can && (a->o->back[e] || !rnd(8)));
	}
	if (root)
		return NULL;
	if (rnd(2))
		outcomes_cut(g, all, rnd(6) ? 12 : 3);
	d = dag_new(g, dag_order(g, all), a->w, all, 0, &why);
	*soft = pool_array(g->pool, g->nedge, sizeof **soft);
	for (uint32_t e = 0; d && e < g->nedge; e++)
		(*soft)[e] = d->cut[e] && !hard[e];
	return d;
}

static void
check_graph(const struct all *a, bool small)
{
	bool *soft;
	struct dag *d = cut(a, &soft);
	const char *why = NULL;
	struct paths *paths = d ? paths_number(d, &why) : NULL;
	struct outcomes *o;

	if (!paths)
		return;
	seen.graphs++;
	o = outcomes_new(d, soft, paths->val);
	if (!o) {
		check(a->g, !small);
		seen.too_many++;
		return;
	}
	for (int i = 0; i < (small ? 2 : WALKS); i++)
		walk(o, paths);
}

static void
outcomes_small(void **ignored)
{
	(void)ignored;
	for (uint32_t n = 2; n <= 4; n++)
		try_all(n, check_graph);
	assert_true(seen.words > 1000 && seen.full > 1000);
}

static void
outcomes_random(void **ignored)
{
	(void)ignored;
	try_random(check_graph);
	print_message("%ju graphs, %ju with too many outcomes; %ju words for %ju paths, %ju at most; full %ju, known to be %ju\n",
	              (uintmax_t)seen.graphs, (uintmax_t)seen.too_many, (uintmax_t)seen.words, (uintmax_t)seen.paths,
	              (uintmax_t)seen.most, (uintmax_t)seen.full, (uintmax_t)seen.full_known);
}

/* A word that cannot have been written is refused, whatever its bits. */
static void
check_any_word(const struct all *a, bool small)
{
	bool *soft;
	struct dag *d = cut(a, &soft);
	const char *why = NULL;
	struct paths *paths = d ? paths_number(d, &why) : NULL;
	struct outcomes *o = paths ? outcomes_new(d, soft, paths->val) : NULL;
	struct outcomes_sums sums = {0};

	(void)small;
	for (int i = 0; o && i < 50; i++) {
		uint32_t e = rnd(a->g->nedge), word = rnd(1u << (1 + rnd(28)));

		if (!outcomes_read(o, word, e, &sums))
			continue;
		for (size_t k = 0; k < sums.n; k++)
			check(a->g, sums.at[k] < paths->n);
	}
	free(sums.at);
}

static void
outcomes_any_word(void **ignored)
{
	(void)ignored;
	try_random(check_any_word);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(outcomes_small), cmocka_unit_test(outcomes_random),
		cmocka_unit_test(outcomes_any_word)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
