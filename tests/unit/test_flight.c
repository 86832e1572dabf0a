/* SPDX-License-Identifier: MIT */
/* Walks through small graphs that stop anywhere. What is found out about them from their counters is compared with what they
 * did, and with all ways in which that number of walkers could have stood. */
#include "tests/unit/quick.h"
#include "profile/flight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed;

static uint32_t
below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) % n);
}

/* ---- flow ---- */

enum { SPOTS = 5, WAYS = 9 };

/* Spot 0 is the root, 1 the exit; way 0 closes. */
struct maze {
	uint32_t nspot, nway, from[WAYS], to[WAYS];
	bool known[WAYS];
	uint32_t ran[WAYS], stands[SPOTS];
	uint32_t lacks[WAYS];    /* a known way's counter has so many less than ran[]; UINT32_MAX: it has nothing less */
};

static uint32_t
root_of(uint32_t *set, uint32_t v)
{
	return set[v] == v ? v : root_of(set, set[v]);
}

/* A way from each spot but the exit; chords are known, of the tree's perhaps one more. */
static void
make_maze(struct maze *m, bool more_known)
{
	uint32_t set[SPOTS];

	*m = (struct maze){.nspot = 3 + below(SPOTS - 2), .nway = 1, .from = {1}, .to = {0}};
	for (uint32_t i = 0; i < WAYS; i++)
		m->lacks[i] = UINT32_MAX;
	for (uint32_t v = 0; v < m->nspot; v++) {
		set[v] = v;
		if (v == 1)
			continue;
		m->from[m->nway] = v;
		m->to[m->nway++] = v + 1 < m->nspot && below(2) ? v + 1 : 1;
	}
	while (m->nway < WAYS && below(6)) {
		m->from[m->nway] = below(2) && m->nspot > 2 ? 2 + below(m->nspot - 2) : 0;
		m->to[m->nway++] = 1 + below(m->nspot - 1);
	}
	for (uint32_t k = 0, first = below(m->nway); k < m->nway; k++) {
		uint32_t i = k ? (first + k) % m->nway : 0, a, b;

		if (k && !i)
			i = first ? first : 0;
		a = root_of(set, m->from[i]);
		b = root_of(set, m->to[i]);
		m->known[i] = a == b;
		set[a] = b;
	}
	m->known[0] = false;
	if (more_known)
		m->known[1 + below(m->nway - 1)] = true;
}

static void
walk_once(struct maze *m, bool stop)
{
	uint32_t v = 0, steps = 0;

	m->ran[0]++;
	while (v != 1) {
		uint32_t choice[WAYS], n = 0, i;

		if (stop && (!below(4) || ++steps > 6)) {
			m->stands[v]++;
			return;
		}
		for (i = 1; i < m->nway; i++)
			if (m->from[i] == v)
				choice[n++] = i;
		i = ++steps > 12 ? choice[0] : choice[below(n)];
		m->ran[i]++;
		v = m->to[i];
	}
}

static void
fill_flow(const struct maze *m, struct flow *f, uint32_t threads)
{
	f->exit = 1;
	f->standing = threads;
	for (uint32_t v = 0; v < m->nspot; v++)
		flow_spot(f, v == 1 ? 0 : threads);
	for (uint32_t i = 0; i < m->nway; i++)
		if (m->known[i] && m->lacks[i] == UINT32_MAX) {
			flow_counted(f, m->from[i], m->to[i], m->ran[i]);
		} else {
			flow_way(f, m->from[i], m->to[i]);
			f->way.at[i].floor = m->known[i] ? m->ran[i] - m->lacks[i] : 0;
		}
}

struct extremes {
	bool any;
	int64_t least[WAYS], most[WAYS], sum_least, sum_most;
};

/* The flow of the unknown ways with so many standing at each spot. False: there is none. */
static bool
flow_of(const struct maze *m, const uint32_t *stands, int64_t *flow)
{
	bool known[WAYS], again = true;

	for (uint32_t i = 0; i < m->nway; i++) {
		known[i] = m->known[i];
		flow[i] = m->ran[i];
	}
	for (; again; ) {
		again = false;
		for (uint32_t v = 0; v < m->nspot; v++) {
			int64_t sum = -(int64_t)stands[v];
			uint32_t n = 0, last = 0;

			for (uint32_t k = 0; v == 1 && k < m->nspot; k++)
				sum += stands[k];
			for (uint32_t i = 0; i < m->nway; i++) {
				if (m->from[i] == m->to[i])
					continue;
				if (m->from[i] == v || m->to[i] == v) {
					if (!known[i])
						n++, last = i;
					else
						sum += m->to[i] == v ? flow[i] : -flow[i];
				}
			}
			if (!n && sum)
				return false;
			if (n != 1)
				continue;
			flow[last] = m->from[last] == v ? sum : -sum;
			known[last] = again = true;
			if (flow[last] < 0)
				return false;
		}
	}
	return true;
}

static void
enumerate(const struct maze *m, uint32_t v, uint32_t left, uint32_t *stands, struct extremes *x, const int64_t *value)
{
	int64_t flow[WAYS], sum = 0;

	if (v < m->nspot) {
		for (stands[v] = 0; stands[v] <= (v == 1 ? 0 : left); stands[v]++)
			enumerate(m, v + 1, left - stands[v], stands, x, value);
		stands[v] = 0;
		return;
	}
	if (!flow_of(m, stands, flow))
		return;
	for (uint32_t i = 0; i < m->nway; i++) {
		sum += value[i] * flow[i];
		x->least[i] = !x->any || flow[i] < x->least[i] ? flow[i] : x->least[i];
		x->most[i] = !x->any || flow[i] > x->most[i] ? flow[i] : x->most[i];
	}
	x->sum_least = !x->any || sum < x->sum_least ? sum : x->sum_least;
	x->sum_most = !x->any || sum > x->sum_most ? sum : x->sum_most;
	x->any = true;
}

static void
check_maze(const struct maze *m, uint32_t threads)
{
	struct flow f = {.pool = pool_new()};
	int64_t value[WAYS] = {0};
	uint32_t stands[SPOTS] = {0};
	struct extremes x = {0};
	struct flow_sum sum = {.value = value};

	for (uint32_t i = 0; i < m->nway; i++)
		value[i] = below(4);
	sum.more = pool_array(f.pool, SPOTS, sizeof *sum.more);
	sum.less = pool_array(f.pool, SPOTS, sizeof *sum.less);
	fill_flow(m, &f, threads);
	enumerate(m, 0, threads, stands, &x, value);
	assert_true(x.any);
	assert_true(flow_bounds(&f));
	assert_true(f.forest);
	for (uint32_t i = 0; i < m->nway; i++) {
		assert_int_equal((int64_t)f.way.at[i].least, x.least[i]);
		assert_int_equal((int64_t)f.way.at[i].most, x.most[i]);
	}
	flow_sum_bounds(&f, &sum);
	assert_true((int64_t)sum.least <= x.sum_least && (int64_t)sum.most >= x.sum_most);
	if (threads == 1) {
		assert_int_equal((int64_t)sum.least, x.sum_least);
		assert_int_equal((int64_t)sum.most, x.sum_most);
	}
	flow_free(&f);
	pool_free(f.pool);
}

/* Bounds are those of all solutions. */
static void
bounds_are_the_best(void **state)
{
	(void)state;
	for (seed = 1; seed < size_of(40000, 8000); seed++) {
		uint64_t number = seed;
		uint32_t threads = 1 + below(3), n = below(6);
		struct maze m;

		make_maze(&m, below(2));
		for (uint32_t i = 0; i < n; i++)
			walk_once(&m, false);
		for (uint32_t i = below(threads + 1); i > 0; i--)
			walk_once(&m, true);
		check_maze(&m, threads);
		seed = number;
	}
}

/* All solutions in which each counter that may lack something counts up to two more than it has, or than truly ran. */
static void
enumerate_lacking(struct maze *m, uint32_t i, uint32_t threads, struct extremes *x, const int64_t *value)
{
	uint32_t stands[SPOTS] = {0}, ran;

	while (i < m->nway && (!m->known[i] || m->lacks[i] == UINT32_MAX))
		i++;
	if (i == m->nway) {
		enumerate(m, 0, threads, stands, x, value);
		return;
	}
	ran = m->ran[i];
	for (m->ran[i] -= m->lacks[i]; m->ran[i] <= ran + 2; m->ran[i]++)
		enumerate_lacking(m, i + 1, threads, x, value);
	m->ran[i] = ran;
}

static void
check_lacking(struct maze *m, uint32_t threads)
{
	struct flow f = {.pool = pool_new()};
	int64_t value[WAYS] = {0};
	struct extremes x = {0};
	struct flow_sum sum = {.value = value};

	for (uint32_t i = 0; i < m->nway; i++)
		value[i] = below(4);
	sum.more = pool_array(f.pool, SPOTS, sizeof *sum.more);
	sum.less = pool_array(f.pool, SPOTS, sizeof *sum.less);
	fill_flow(m, &f, threads);
	enumerate_lacking(m, 0, threads, &x, value);
	assert_true(x.any);
	assert_true(flow_bounds(&f));
	for (int again = 0; again < 2; again++) {
		for (uint32_t i = 0; i < m->nway; i++) {
			const struct way *w = &f.way.at[i];

			/* What nobody reached may run in a solution, but not in truth. */
			assert_true(w->least <= (again ? m->ran[i] : x.least[i]) && w->most >= (again ? m->ran[i] : x.most[i]));
			assert_true(w->least >= w->floor);
		}
		flow_sum_bounds(&f, &sum);
		if (!again)
			assert_true(sum.least <= x.sum_least && sum.most >= x.sum_most);
		f.spot.at[0].start = true;
		if (!again && (!flow_reach(&f) || !flow_bounds(&f)))
			break;
	}
	flow_free(&f);
	pool_free(f.pool);
}

/* Counters for which registers count may lack any number: bounds hold for all solutions. */
static void
counters_may_lack(void **state)
{
	(void)state;
	for (seed = 1; seed < size_of(20000, 4000); seed++) {
		uint64_t number = seed;
		uint32_t threads = below(3), nlack = 0;
		struct maze m;

		make_maze(&m, below(2));
		for (uint32_t i = below(6); i > 0; i--)
			walk_once(&m, false);
		for (uint32_t i = below(threads + 1); i > 0; i--)
			walk_once(&m, true);
		for (uint32_t i = 1; i < m.nway && nlack < 3; i++)
			if (m.known[i] && below(2)) {
				m.lacks[i] = below(m.ran[i] + 1);
				nlack++;
			}
		check_lacking(&m, threads);
		seed = number;
	}
}

/* Without a bound for how many stand, what no count bounds is without one, and what is true is between them. */
static void
many_may_stand(void **state)
{
	(void)state;
	for (seed = 1; seed < size_of(20000, 4000); seed++) {
		uint64_t number = seed;
		struct flow f = {.pool = pool_new()};
		struct maze m;

		make_maze(&m, below(2));
		for (uint32_t i = 0; i < 9; i++)
			walk_once(&m, i < 6);
		fill_flow(&m, &f, 0);
		f.standing = FLIGHT_MANY;
		for (uint32_t v = 0; v < m.nspot; v++)
			f.spot.at[v].cap = v == 1 ? 0 : FLIGHT_MANY;
		assert_true(flow_bounds(&f));
		for (uint32_t i = 0; i < m.nway; i++)
			assert_true(f.way.at[i].least <= m.ran[i] && f.way.at[i].most >= m.ran[i]);
		flow_free(&f);
		pool_free(f.pool);
		seed = number;
	}
}

/* ---- procedures ---- */

enum { BLOCKS = 5, INSNS = 4, ARCS = 16 };

struct program {
	struct proc proc;
	struct block block[BLOCKS];
	struct arc arc[ARCS];
	struct call call[BLOCKS * INSNS];
	uint8_t insn[BLOCKS][INSNS];
	uint64_t counter[ARCS + 2 * BLOCKS + 1];
	struct promoted promoted[ARCS + BLOCKS];
	bool lacks;
	/* What was done: */
	uint64_t ran[BLOCKS][INSNS], entered[BLOCKS], taken[ARCS];
};

static void
make_block(struct program *g, uint32_t b)
{
	struct proc *p = &g->proc;
	uint32_t n = 1 + below(INSNS);

	g->block[b] = (struct block){.ninsn = n, .insn = g->insn[b], .call = p->ncall};
	for (uint32_t i = 0; i < n; i++) {
		bool call = i + 1 < n && !below(3);

		g->insn[b][i] = (uint8_t)(1 | (call ? CHORD_INSN_CALL : CHORD_INSN_OTHER) << 4);
		if (call)
			g->call[p->ncall++] = (struct call){.block = b, .insn = i};
	}
	g->block[b].ncall = p->ncall - g->block[b].call;
}

static void
make_arc(struct program *g, uint32_t from, uint32_t to, unsigned char kind)
{
	g->arc[g->proc.narc++] = (struct arc){from, to, kind, 0};
}

/* Of the edges that close a cycle those that blocks need, or as few blocks as suffice. */
static void
make_fewer(struct program *g, enum chord_measure measure)
{
	struct proc *p = &g->proc;
	struct pool *pool = pool_new();
	struct graph *s = graph_new(pool, p->nvert, PROC_ENTRY(p), PROC_EXIT(p));
	bool counted[ARCS + BLOCKS] = {0}, wanted[ARCS + BLOCKS] = {0}, *tree;
	double weight[ARCS + BLOCKS];
	uint32_t bad;

	for (uint32_t b = 0; b < p->nblock; b++)
		graph_vertex(s);
	for (uint32_t i = 0; i < p->narc; i++)
		graph_edge(s, g->arc[i].from < p->nblock ? p->nvert + g->arc[i].from : g->arc[i].from, g->arc[i].to);
	s->edge[p->close].fixed = true;
	wanted[0] = measure == CHORD_BLOCKS;
	for (uint32_t b = 0; b < p->nblock; b++)
		wanted[graph_edge(s, b, p->nvert + b)] = true;
	for (uint32_t e = 0; e < s->nedge; e++)
		weight[e] = 1 + below(100);
	tree = span_max(s, weight, &bad);
	for (uint32_t e = 0; e < s->nedge; e++)
		counted[e] = !tree[e];
	if (measure == CHORD_BLOCKS)
		wanted_thin(s, tree, wanted, counted);
	else
		assert_true(wanted_place(s, weight, wanted, counted, &bad));
	assert_int_equal(bridge_check(s, counted, wanted), GRAPH_NONE);
	for (uint32_t i = 0; i < p->narc; i++)
		g->arc[i].counter = counted[i] ? ++p->ncounter : 0;
	for (uint32_t b = 0; b < p->nblock; b++)
		g->block[b].counter = counted[p->narc + b] ? ++p->ncounter : 0;
	pool_free(pool);
}

/* Blocks are counted (every-block), or edges that close a cycle, or all that can be (every-edge). */
static void
make_counters(struct program *g, enum chord_measure measure)
{
	struct proc *p = &g->proc;
	uint32_t set[BLOCKS + 2];

	for (uint32_t v = 0; v < p->nvert; v++)
		set[v] = v;
	set[PROC_EXIT(p)] = PROC_ENTRY(p); /* the closing edge */
	for (uint32_t b = 0; b < p->nblock && measure == CHORD_EVERY_BLOCK; b++)
		g->block[b].counter = ++p->ncounter;
	for (uint32_t i = 0; i < p->narc && measure != CHORD_EVERY_BLOCK; i++) {
		uint32_t a = root_of(set, g->arc[i].from), b = root_of(set, g->arc[i].to);

		if (i == p->close)
			continue;
		if (measure == CHORD_EVERY_EDGE ? below(8) : a == b)
			g->arc[i].counter = ++p->ncounter;
		else if (a == b)
			g->arc[i].counter = ++p->ncounter;
		else
			set[a] = b;
	}
}

static void
make_program(struct program *g, enum chord_measure measure)
{
	struct proc *p = &g->proc;

	*g = (struct program){.proc = {.measures = 1u << measure, .block = g->block, .arc = g->arc, .call = g->call,
	                               .counters = 8}};
	p->nblock = 1 + below(BLOCKS);
	p->nvert = p->nblock + 2;
	for (uint32_t b = 0; b < p->nblock; b++)
		make_block(g, b);
	make_arc(g, PROC_ENTRY(p), 0, CHORD_EDGE_ENTRY);
	for (uint32_t b = 0; b < p->nblock; b++) {
		make_arc(g, b, b + 1 < p->nblock && below(3) ? b + 1 : PROC_EXIT(p), CHORD_EDGE_JUMP);
		if (below(2))
			make_arc(g, b, below(p->nblock), CHORD_EDGE_TAKEN);
	}
	p->close = p->narc;
	make_arc(g, PROC_EXIT(p), PROC_ENTRY(p), CHORD_EDGE_CLOSE);
	if (measure == CHORD_BLOCKS || measure == CHORD_BLOCKS_VCNT)
		make_fewer(g, measure);
	else
		make_counters(g, measure);
}

static void
hit(struct program *g, uint32_t counter)
{
	if (counter)
		g->counter[counter - 1]++;
}

/* Runs the procedure; stops after so many steps. */
static void
run_program(struct program *g, uint32_t steps)
{
	const struct proc *p = &g->proc;
	uint32_t at = PROC_ENTRY(p), rounds = 0;

	for (;;) {
		uint32_t choice[ARCS], n = 0, i;

		for (i = 0; i < p->narc; i++)
			if (p->arc[i].from == at && i != p->close)
				choice[n++] = i;
		i = ++rounds > 20 ? choice[0] : choice[below(n)];
		g->taken[i]++;
		if (!steps--)
			return;
		hit(g, p->arc[i].counter);
		if (!steps--)
			return;
		at = p->arc[i].to;
		if (at == PROC_EXIT(p)) {
			g->taken[p->close]++;
			return;
		}
		g->entered[at]++;
		if (!steps--)
			return;
		hit(g, p->block[at].counter);
		for (uint32_t k = 0; k < p->block[at].ninsn; k++) {
			if (!steps--)
				return;
			g->ran[at][k]++;
		}
	}
}

#define is_between(c, low, n, high) assert_true((c)->most && (low) <= (n) && (n) <= (high))

static void
check_program(const struct program *g, uint32_t threads, uint32_t stand)
{
	const uint32_t ncount = sizeof g->counter / sizeof *g->counter;
	const struct proc *p = &g->proc;
	struct pool *pool = pool_new();
	struct module m = {.base = 8, .ncount = ncount, .count = pool_array(pool, ncount, 8)};
	struct counts c = {0};
	uint64_t insns = 0, calls = 0;

	memcpy(m.count, g->counter, sizeof g->counter);
	assert_null(flight_solve(pool, p, &m, NULL, (struct standing){threads, COUNT_NO_BOUND}, &c));
	for (uint32_t b = 0; b < p->nblock; b++) {
		is_between(&c, c.block[b], g->entered[b], c.most->block[b]);
		for (uint32_t i = 0; i < p->block[b].ninsn; i++) {
			is_between(&c, c.insn[b][i], g->ran[b][i], c.most->insn[b][i]);
			insns += g->ran[b][i];
			calls += insn_is_call(p->block[b].insn[i]) ? g->ran[b][i] : 0;
			/* Nothing is farther off than who may stand there. */
			assert_true(g->lacks || c.most->insn[b][i] - c.insn[b][i] <= threads);
		}
	}
	for (uint32_t i = 0; i < p->narc; i++)
		if (c.arc_known[i])
			is_between(&c, c.arc[i], g->taken[i] + (i == p->close ? stand : 0), c.most->arc[i]);
	is_between(&c, c.insns, insns, c.most->insns);
	is_between(&c, c.call_insns, calls, c.most->call_insns);
	is_between(&c, c.activations, g->taken[0], c.most->activations);
	pool_free(pool);
}

/* Registers counted for some counters, and lack some of what they counted, if anything. Two words for executions under way. */
static void
make_lacking(struct program *g)
{
	struct proc *p = &g->proc;
	uint32_t n = p->ncounter;

	p->promoted = g->promoted;
	for (uint32_t c = 1; c <= n; c++) {
		uint32_t open = below(2);
		uint64_t *v = &g->counter[c - 1];

		if (below(2))
			continue;
		g->promoted[p->npromoted++] = (struct promoted){c, n + 1 + open};
		g->counter[n + open] = open ? 1 + below(2) : 0;
		if (open)
			*v -= below((uint32_t)*v + 1);
		g->lacks |= open;
	}
	p->ncounter = n + 2;
	if (g->lacks && !below(4)) { /* a child's, that has its parent's counts */
		g->counter[n + 1] = UINT64_MAX;
		for (uint32_t i = 0; i < p->npromoted; i++)
			if (p->promoted[i].open == n + 2)
				g->counter[p->promoted[i].counter - 1] += below(9);
	}
}

static void
check_measure(enum chord_measure measure, bool lacking)
{
	for (seed = 1; seed < size_of(20000, 4000); seed++) {
		uint64_t number = seed;
		uint32_t threads = lacking ? below(3) : 1 + below(2), stand = 0;
		struct program g;

		make_program(&g, measure);
		for (uint32_t i = below(5); i > 0; i--)
			run_program(&g, UINT32_MAX);
		for (uint32_t i = below(threads + 1); i > 0; i--) {
			uint64_t before = g.taken[g.proc.close];

			run_program(&g, below(40));
			stand += g.taken[g.proc.close] == before;
		}
		if (lacking)
			make_lacking(&g);
		check_program(&g, threads, stand);
		seed = number;
	}
}

static void
edges_hold_what_ran(void **state)
{
	(void)state;
	check_measure(CHORD_EDGES, false);
	check_measure(CHORD_EDGES, true);
}

static void
every_block_holds_what_ran(void **state)
{
	(void)state;
	check_measure(CHORD_EVERY_BLOCK, false);
	check_measure(CHORD_EVERY_BLOCK, true);
}

static void
every_edge_holds_what_ran(void **state)
{
	(void)state;
	check_measure(CHORD_EVERY_EDGE, false);
	check_measure(CHORD_EVERY_EDGE, true);
}

static void
blocks_hold_what_ran(void **state)
{
	(void)state;
	check_measure(CHORD_BLOCKS, false);
	check_measure(CHORD_BLOCKS, true);
	check_measure(CHORD_BLOCKS_VCNT, false);
	check_measure(CHORD_BLOCKS_VCNT, true);
}

/* Where nobody stands, more cannot have come in than went out, whatever a register counts elsewhere. */
static void
nobody_stands(void **state)
{
	struct pool *pool = pool_new();
	uint8_t insn[] = {1 | CHORD_INSN_CALL << 4, 1 | CHORD_INSN_OTHER << 4};
	struct block block = {.ninsn = 2, .insn = insn, .ncall = 1};
	struct arc arc[] = {{1, 0, CHORD_EDGE_ENTRY, 1}, {0, 0, CHORD_EDGE_TAKEN, 2}, {0, 2, CHORD_EDGE_EXIT, 3},
	                    {2, 1, CHORD_EDGE_CLOSE, 0}};
	struct call call = {0};
	struct promoted promoted = {2, 4};
	struct proc p = {.measures = 1u << CHORD_EDGES, .block = &block, .nblock = 1, .nvert = 3, .arc = arc, .narc = 4, .close = 3,
	                 .call = &call, .ncall = 1, .counters = 8, .ncounter = 4, .promoted = &promoted, .npromoted = 1};
	uint64_t count[] = {3, 5, 3, 1};
	struct module m = {.base = 8, .ncount = 4, .count = count};
	struct counts c = {0};

	(void)state;
	assert_null(flight_solve(pool, &p, &m, NULL, (struct standing){0}, &c));
	assert_int_equal(c.block[0], 8);
	assert_true(c.lacks && !c.unplaced && c.most->block[0] == COUNT_NO_BOUND);
	count[2] = 2;
	c = (struct counts){0};
	assert_non_null(flight_solve(pool, &p, &m, NULL, (struct standing){0}, &c));
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_are_the_best),
		cmocka_unit_test(counters_may_lack),
		cmocka_unit_test(nobody_stands),
		cmocka_unit_test(many_may_stand),
		cmocka_unit_test(edges_hold_what_ran),
		cmocka_unit_test(every_block_holds_what_ran),
		cmocka_unit_test(every_edge_holds_what_ran),
		cmocka_unit_test(blocks_hold_what_ran),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
