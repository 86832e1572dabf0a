/* SPDX-License-Identifier: MIT */
/* Witnesses: all small graphs with all sets of edges against the definitions of Ball & Larus 1994, section 4; executions of
 * random programs of several procedures, which are regenerated from what they write; costs against the true optimum. */
#include "graphs.h"

enum { MOST = 64 };

/* ---- the definition of witness sets, by following every walk ---- */

/* Adds to *set what may be written next at v: bit e for edge e, bit nedge for the end. `way` is where the walk came through. A
 * walk that comes back to its own way adds nothing new. */
static void
collect(const struct graph *g, uint32_t written, uint32_t v, uint32_t way, uint32_t *set)
{
	if (way >> v & 1)
		return;
	if (v == g->exit)
		*set |= 1u << g->nedge;
	for (uint32_t e = 0; e < g->nedge; e++) {
		if (g->edge[e].from != v || !witness_is_real(g, e))
			continue;
		if (written >> e & 1)
			*set |= 1u << e;
		else
			collect(g, written, g->edge[e].to, way | 1u << v, set);
	}
}

/* Are the witness sets of all predicates disjoint? */
static bool
sets_disjoint(const struct graph *g, uint32_t written)
{
	for (uint32_t v = 0; v < g->nvert; v++) {
		uint32_t before = 0;

		for (uint32_t e = 0; witness_is_predicate(g, v) && e < g->nedge; e++) {
			uint32_t set = 0;

			if (g->edge[e].from != v || !witness_is_real(g, e))
				continue;
			if (written >> e & 1)
				set = 1u << e;
			else
				collect(g, written, g->edge[e].to, 0, &set);
			if (set & before)
				return false;
			before |= set;
		}
	}
	return true;
}

static uint32_t
as_set(const struct graph *g, const bool *written)
{
	uint32_t set = 0;

	for (uint32_t e = 0; e < g->nedge; e++)
		set |= written[e] ? 1u << e : 0;
	return set;
}

static void
as_array(const struct graph *g, uint32_t set, bool *written)
{
	for (uint32_t e = 0; e < g->nedge; e++)
		written[e] = set >> e & 1;
}

/* Real edges; of a graph without any others but the closing one. */
static uint32_t
all_edges(const struct graph *g)
{
	return (1u << g->nedge) - 1 - (1u << g->close);
}

static double
cost_of(const struct all *a, uint32_t set)
{
	double sum = 0;

	for (uint32_t e = 0; e < a->g->nedge; e++)
		sum += set >> e & 1 ? a->w[e] * a->g->edge[e].cost : 0;
	return sum;
}

/* ---- one graph, all sets of edges ---- */

static uint64_t compared, placed, optimal;
static double spent, least_spent;

/* The cheapest set that solves the problem. */
static double
optimum(const struct all *a, const bool *call)
{
	const struct graph *g = a->g;
	bool written[MOST];
	uint32_t all = all_edges(g);
	double least = INFINITY;

	for (uint32_t set = all;; set = (set - 1) & all) {
		double cost = cost_of(a, set);

		as_array(g, set, written);
		if (cost < least && !witness_check(g, written, call))
			least = cost;
		if (!set)
			return least;
	}
}

static void
check_sets(const struct all *a, bool small)
{
	const struct graph *g = a->g;
	bool written[MOST];
	uint32_t all;

	(void)small;
	/* Without phantoms: each walk comes to EXIT. */
	if (a->nphantom || g->nedge > 8)
		return;
	all = all_edges(g);
	for (uint32_t set = all;; set = (set - 1) & all) {
		as_array(g, set, written);
		check(g, sets_disjoint(g, set) == !witness_check(g, written, NULL));
		compared++;
		if (!set)
			break;
	}
}

static void
definition_agrees(void **unused)
{
	(void)unused;
	for (uint32_t n = 2; n <= 4; n++)
		try_all(n, check_sets);
	assert_true(compared > 100000);
}

static bool
all_sets_solve_are_needed(const struct all *a, const bool *call, const bool *written)
{
	bool less[MOST];

	memcpy(less, written, a->g->nedge);
	for (uint32_t e = 0; e < a->g->nedge; e++) {
		less[e] = false;
		if (written[e] && !witness_check(a->g, less, call))
			return false;
		less[e] = written[e];
	}
	return true;
}

static void
check_placement(const struct all *a, const bool *call)
{
	const struct graph *g = a->g;
	bool written[MOST] = {0};
	double least, cost;

	check(g, !witness_place(g, a->w, call, written));
	check(g, !witness_check(g, written, call));
	witness_thin(g, a->w, call, written);
	check(g, !witness_check(g, written, call));
	check(g, all_sets_solve_are_needed(a, call, written));
	cost = cost_of(a, as_set(g, written));
	least = optimum(a, call);
	check(g, cost >= least || close_to(cost, least));
	placed++;
	optimal += close_to(cost, least) || cost <= least;
	spent += cost;
	least_spent += least;
}

static void
check_placements(const struct all *a, bool small)
{
	bool call[SMALL] = {0};

	(void)small;
	if (a->nphantom || a->g->nedge > 8)
		return;
	check_placement(a, NULL);
	check_placement(a, call);
	call[rnd(a->g->nvert - 1)] = true;
	check_placement(a, call);
}

static void
placements_solve_and_are_near_the_optimum(void **unused)
{
	(void)unused;
	try_all(4, check_placements);
	assert_true(placed > 1000);
	/* Measured: it misses the optimum in one of some hundred such graphs, and costs less than a thousandth more. */
	print_message("%lu placements, %lu optimal, cost %.6f of the optimum\n", placed, optimal, spent / least_spent);
	assert_true(optimal <= placed && spent < least_spent * 1.01);
}

/* ---- structured programs: the placement is the cheapest there is ---- */

/* Appends the graph of a statement between two vertices: while, if-then-else, begin-end. */
static void
statement(struct graph *g, uint32_t from, uint32_t to, int depth)
{
	uint32_t a = graph_vertex(g), b = graph_vertex(g);

	switch (depth > 0 ? rnd(3) : 3) {
	case 0:
		graph_edge(g, from, a);
		statement(g, a, from, depth - 1);
		graph_edge(g, from, b);
		graph_edge(g, b, to);
		break;
	case 1:
		graph_edge(g, from, a);
		graph_edge(g, from, b);
		statement(g, a, to, depth - 1);
		graph_edge(g, b, to);
		break;
	case 2:
		statement(g, from, a, depth - 1);
		statement(g, a, b, depth - 1);
		graph_edge(g, b, to);
		break;
	default:
		graph_edge(g, from, a);
		graph_edge(g, a, b);
		graph_edge(g, b, to);
	}
}

static void
structured_programs_cost_the_optimum(void **unused)
{
	uint32_t tried = 0;

	(void)unused;
	while (tried < 60) {
		struct pool *p = pool_new();
		struct graph *g = graph_new(p, 2, 0, 1);
		struct all a;
		bool written[MOST] = {0};

		statement(g, 0, 1, 2);
		if (g->nedge <= 14) {
			a = solve(g);
			check(g, !a.nphantom && !witness_place(g, a.w, NULL, written));
			check(g, close_to(1 + cost_of(&a, as_set(g, written)), 1 + optimum(&a, NULL)));
			tried++;
		}
		pool_free(p);
	}
}

/* ---- executions of programs ---- */

enum { PROCEDURES = 5, LENGTH = 400, DEPTH = 30 };

struct program {
	struct pool *pool;
	struct trace_procedure procedure[PROCEDURES];
	bool *written[PROCEDURES];
	uint32_t n;
};

struct happened {
	uint32_t procedure, vertex;
};

/* What ran, and what it wrote. */
struct execution {
	VEC(struct happened) vertex;
	VEC(uint32_t) value;
	struct trace_frame stack[DEPTH + 1];
	uint32_t depth;
	bool ended;
};

static struct graph *
random_graph(struct pool *pool)
{
	for (;;) {
		uint32_t n = 2 + rnd(7);
		struct graph *g = graph_new(pool, n, 0, n - 1);

		for (uint32_t v = 0; v < n - 1; v++)
			for (uint32_t k = rnd(2) ? 1 : 1 + rnd(3); k; k--)
				graph_edge(g, v, rnd(3) ? v + rnd(n - v) : rnd(n));
		graph_close(g);
		if (!graph_complete(g))
			return g;
	}
}

static bool
make_program(struct program *p)
{
	*p = (struct program){.pool = pool_new(), .n = 1 + rnd(PROCEDURES)};
	for (uint32_t i = 0; i < p->n; i++) {
		struct graph *g = random_graph(p->pool);
		struct order *o = order_dfs(g);
		double *w = weight_heuristic(g, o, loops_find(g, o));
		bool *call = pool_array(p->pool, g->nvert, sizeof *call);
		uint32_t *callee = pool_array(p->pool, g->nvert, sizeof *callee);

		for (uint32_t v = 0; v < g->nvert; v++) {
			call[v] = p->n > 1 && v != g->exit && !rnd(4);
			callee[v] = call[v] ? rnd(p->n) : GRAPH_NONE;
		}
		p->written[i] = pool_array(p->pool, g->nedge, sizeof(bool));
		if (witness_place(g, w, p->n > 1 ? call : NULL, p->written[i]))
			return false;
		if (rnd(2))
			witness_thin(g, w, p->n > 1 ? call : NULL, p->written[i]);
		p->procedure[i] = (struct trace_procedure){g, witness_values(g, p->written[i], rnd(2)), callee};
	}
	return true;
}

static void
go_on(const struct program *p, struct execution *x)
{
	struct trace_frame *f = &x->stack[x->depth];
	const struct trace_procedure *proc = &p->procedure[f->procedure];
	const struct graph *g = proc->g;
	uint32_t e;

	if (!f->called && proc->callee[f->vertex] != GRAPH_NONE && x->depth < DEPTH) {
		e = proc->callee[f->vertex];
		x->stack[++x->depth] = (struct trace_frame){.procedure = e, .vertex = p->procedure[e].g->root};
		VEC_PUSH(x->vertex, (struct happened){x->stack[x->depth].procedure, x->stack[x->depth].vertex});
		return;
	}
	if (f->vertex == g->exit) {
		x->ended = !x->depth;
		if (x->depth)
			x->stack[--x->depth].called = true;
		return;
	}
	do
		e = g->out[g->out_at[f->vertex] + rnd(g->out_at[f->vertex + 1] - g->out_at[f->vertex])];
	while (!witness_is_real(g, e));
	if (proc->values->value[e] != GRAPH_NONE)
		VEC_PUSH(x->value, proc->values->value[e]);
	f->vertex = g->edge[e].to;
	f->called = false;
	VEC_PUSH(x->vertex, (struct happened){f->procedure, f->vertex});
}

/* Until it ends, or is killed after so many steps; at DEPTH it is killed, too. */
static void
execute(const struct program *p, struct execution *x)
{
	VEC_PUSH(x->vertex, (struct happened){0, p->procedure[0].g->root});
	x->stack[0] = (struct trace_frame){.vertex = p->procedure[0].g->root};
	for (int i = 0; i < LENGTH && !x->ended && x->depth < DEPTH; i++)
		go_on(p, x);
}

struct feed {
	const uint32_t *value;
	size_t at, n;
	bool ended;
};

static bool
feed(void *ctx, uint32_t *value)
{
	struct feed *f = ctx;

	if (f->at < f->n)
		*value = f->value[f->at++];
	else if (f->ended)
		*value = TRACE_EOF;
	else
		return false;
	return true;
}

/* How many vertices come out as they were, with only the first n values there. What comes behind the last of them may go on as
 * long as nothing is to be told. */
static size_t
regenerate(const struct program *p, const struct execution *x, size_t n, bool ended, enum trace_event *last)
{
	struct feed f = {x->value.at, 0, n, ended};
	struct trace t;
	size_t same = 0;

	trace_begin(&t, p->procedure, 0, (struct trace_source){.read = feed, .ctx = &f});
	for (*last = TRACE_VERTEX; same < x->vertex.n && (*last == TRACE_VERTEX || *last == TRACE_RETURN);) {
		const struct trace_frame *top;

		*last = trace_next(&t);
		top = &t.stack.at[t.stack.n - 1];
		if (*last != TRACE_VERTEX)
			continue;
		assert_int_equal(top->procedure, x->vertex.at[same].procedure);
		assert_int_equal(top->vertex, x->vertex.at[same].vertex);
		same++;
	}
	while (ended && (*last == TRACE_VERTEX || *last == TRACE_RETURN))
		*last = trace_next(&t);
	trace_free(&t);
	return same;
}

/* How many values had been written when the execution came to vertex number i: at least so many vertices have to come out. */
static void
check_execution(const struct program *p, struct execution *x)
{
	enum trace_event last;
	size_t before = 0;

	if (x->ended) {
		assert_int_equal(regenerate(p, x, x->value.n, true, &last), x->vertex.n);
		assert_int_equal(last, TRACE_END);
	}
	for (size_t n = 0; n <= x->value.n; n++) {
		size_t same = regenerate(p, x, n, false, &last);

		assert_true(same >= before && last != TRACE_DAMAGED && last != TRACE_END);
		before = same;
	}
}

static void
executions_are_regenerated(void **unused)
{
	uint64_t ended = 0;

	(void)unused;
	for (int i = 0; i < (int)size_of(3000, 600); i++) {
		struct program p;
		struct execution x = {0};

		if (make_program(&p)) {
			execute(&p, &x);
			check_execution(&p, &x);
			ended += x.ended;
		}
		free(x.vertex.at);
		free(x.value.at);
		pool_free(p.pool);
	}
	assert_true(ended > 500);
}

/* Any numbers: it ends, or goes on with vertices that follow one another. */
static void
damaged_traces_do_no_harm(void **unused)
{
	(void)unused;
	for (int i = 0; i < (int)size_of(2000, 400); i++) {
		struct program p;
		uint32_t value[20];
		struct feed f = {value, 0, 20, rnd(2)};
		struct trace t;
		enum trace_event event = TRACE_VERTEX;

		if (make_program(&p)) {
			for (int k = 0; k < 20; k++)
				value[k] = rnd(5) ? rnd(4) : rnd(3) ? rnd(100) : UINT32_MAX - rnd(2);
			trace_begin(&t, p.procedure, 0, (struct trace_source){.read = feed, .ctx = &f});
			for (int k = 0; k < 2000 && (event == TRACE_VERTEX || event == TRACE_RETURN); k++)
				event = trace_next(&t);
			trace_free(&t);
		}
		pool_free(p.pool);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(definition_agrees),
		cmocka_unit_test(placements_solve_and_are_near_the_optimum),
		cmocka_unit_test(structured_programs_cost_the_optimum),
		cmocka_unit_test(executions_are_regenerated),
		cmocka_unit_test(damaged_traces_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
