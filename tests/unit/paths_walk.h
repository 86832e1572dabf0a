/* SPDX-License-Identifier: MIT */
/* Random procedures whose paths are counted. They are walked at random, with a register and tables as the weaver's code has
 * them. Some activations are abandoned at calls, some return twice, some were begun by a parent. */
#ifndef TEST_PATHS_WALK_H
#define TEST_PATHS_WALK_H

#include "graph/graph.h"
#include "profile_bytes.h"

static uint64_t state = 88172645463325252u;

static inline uint32_t
rnd(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 20) % n);
}

/* ---- a procedure ---- */

enum { MOST_BLOCKS = 9, MOST_ARCS = 48, INSNS = 5, TABLE_AT = 2, MOST_PATHS = 4096, REGIONS = 3 };

struct fake {
	struct pool *pool;
	uint32_t nblock, narc;
	struct { uint32_t from, to; enum chord_edge kind; } arc[MOST_ARCS];
	uint32_t ncall;
	struct { uint32_t block, insn, flags; } call[2 * MOST_BLOCKS];
	bool twice[MOST_BLOCKS], noreturn[MOST_BLOCKS];
	enum chord_path_kind kind;
	uint32_t bits;
	struct graph *g;
	struct dag *dag;
	struct paths *paths;
	/* Counted by the walk; in dense tables and in lists of each region. */
	uint64_t truth[MOST_ARCS], inside[MOST_BLOCKS][INSNS];
	uint64_t sum[REGIONS][MOST_PATHS];
	VEC(struct chord_exit) exit;
	VEC(struct chord_unfinished) unfinished;
	uint32_t under_way;
};

static inline void
add_arc(struct fake *f, uint32_t from, uint32_t to, enum chord_edge kind)
{
	f->arc[f->narc].from = from;
	f->arc[f->narc].to = to;
	f->arc[f->narc++].kind = kind;
}

static inline void
make_arcs(struct fake *f)
{
	uint32_t entry = f->nblock, exit = f->nblock + 1;

	add_arc(f, entry, 0, CHORD_EDGE_ENTRY);
	for (uint32_t v = 0; v < f->nblock; v++) {
		uint32_t kind = rnd(9), out = kind ? 1 + rnd(3) : 0;

		f->twice[v] = kind == 1;
		f->noreturn[v] = kind == 2;
		if (f->noreturn[v])
			add_arc(f, v, exit, CHORD_EDGE_EXIT);
		else if (v + 1 == f->nblock && !f->twice[v])
			add_arc(f, v, exit, CHORD_EDGE_EXIT);
		else
			for (out = f->twice[v] ? 1 : out; out; out--)
				add_arc(f, v, rnd(f->nblock), CHORD_EDGE_JUMP);
	}
	if (rnd(3) == 0)
		add_arc(f, entry, rnd(f->nblock), CHORD_EDGE_LAND);
	add_arc(f, exit, entry, CHORD_EDGE_CLOSE);
}

static inline void
make_calls(struct fake *f)
{
	for (uint32_t v = 0; v < f->nblock; v++) {
		uint32_t last = INSNS - 1;

		if (rnd(2)) {
			f->call[f->ncall].block = v;
			f->call[f->ncall++].insn = 1 + rnd(2);
		}
		if (!f->twice[v] && !f->noreturn[v])
			continue;
		f->call[f->ncall].block = v;
		f->call[f->ncall].insn = last;
		f->call[f->ncall++].flags = f->twice[v] ? CHORD_CALL_TWICE : CHORD_CALL_NORETURN;
	}
}

static inline void
make_graph(struct fake *f)
{
	const char *why;
	struct order *o;
	bool *cold;
	double *w;

	f->g = graph_new(f->pool, f->nblock + 2, f->nblock, f->nblock + 1);
	for (uint32_t e = 0; e < f->narc; e++) {
		if (f->arc[e].kind == CHORD_EDGE_CLOSE)
			graph_close(f->g);
		else
			graph_edge(f->g, f->arc[e].from, f->arc[e].to);
	}
	graph_complete(f->g);
	o = order_dfs(f->g);
	cold = pool_array(f->pool, f->g->nedge, sizeof *cold);
	w = pool_array(f->pool, f->g->nedge, sizeof *w);
	for (uint32_t e = 0; e < f->g->nedge; e++) {
		w[e] = 1 + rnd(100);
		cold[e] = e < f->narc && f->arc[e].to != f->g->exit && f->arc[e].kind != CHORD_EDGE_CLOSE &&
			(rnd(6) == 0 || (f->arc[e].from < f->nblock && f->twice[f->arc[e].from]));
	}
	f->dag = dag_new(f->g, o, w, cold, MOST_PATHS, &why);
	f->paths = f->dag ? paths_number(f->dag, &why) : NULL;
	if (!f->paths)
		fail_msg("%s", why);
}

static inline struct fake *
make(void)
{
	struct pool *pool = pool_new();
	struct fake *f = pool_alloc(pool, sizeof *f);

	f->pool = pool;
	f->nblock = 1 + rnd(MOST_BLOCKS - 1);
	f->kind = rnd(2) ? CHORD_PATH_DENSE : CHORD_PATH_HASHED;
	f->bits = rnd(4);
	make_arcs(f);
	make_calls(f);
	make_graph(f);
	return f;
}

static inline void
destroy(struct fake *f)
{
	free(f->exit.at);
	free(f->unfinished.at);
	pool_free(f->pool);
}

/* ---- walking ---- */

struct activation {
	uint32_t v, from;        /* the block; the instruction before which control is */
	int64_t r;
};

static inline uint64_t
table(const struct fake *f)
{
	(void)f;
	return COUNTERS + 8 * TABLE_AT;
}

static inline void
record(struct fake *f, int64_t sum)
{
	if (sum < 0 || (uint64_t)sum >= f->paths->n)
		fail_msg("sum %lld of %llu", (long long)sum, (unsigned long long)f->paths->n);
	f->sum[rnd(REGIONS)][sum]++;
}

static inline void
stop_at(struct fake *f, uint32_t call, int64_t r, bool reentry)
{
	uint32_t v = f->call[call].block;
	uint64_t path = f->kind == CHORD_PATH_HASHED ? (uint64_t)r : table(f) + 8 * (uint64_t)r;
	struct chord_exit e = exit_at(CODE + 1 + call, 1, reentry);
	struct chord_unfinished u = {e.key, path, 1, 0};
	const uint64_t bias = f->nblock & 1 ? 0x108000 : 0x555555554000; /* as under Valgrind, and as of a PIE */

	VEC_PUSH(f->exit, e);
	if (f->paths->probes->known[v])
		u.path = rnd(100); /* there is no register */
	else if (rnd(2))
		u.raw = (path + (f->kind == CHORD_PATH_HASHED ? 0 : bias)) | 1ull << 63;
	if (u.raw && f->kind == CHORD_PATH_HASHED)
		u.path -= bias; /* the number looked like an address */
	VEC_PUSH(f->unfinished, u);
}

/* Along edge e; the register as struct probes has it. */
static inline void
go(struct fake *f, struct activation *a, uint32_t e)
{
	const struct probes *p = f->paths->probes;

	f->truth[e]++;
	if (f->dag->cut[e]) {
		record(f, a->r + p->add[e]);
		a->r = p->start[f->arc[e].to];
	} else {
		a->r += p->add[e];
		if (f->arc[e].to == f->g->exit)
			record(f, a->r);
	}
	a->v = f->arc[e].to;
	a->from = 0;
}

static inline uint32_t
any_way_out(struct fake *f, uint32_t v)
{
	uint32_t n = 0, found = GRAPH_NONE;

	for (uint32_t e = 0; e < f->narc; e++)
		if (f->arc[e].from == v && rnd(++n) == 0)
			found = e;
	return found;
}

/* How often an activation still does each thing. */
struct plan {
	uint32_t steps, returns;
	bool killed;
};

/* A call that may return twice: the record is made before it. Does it come back? */
static inline bool
call_twice(struct fake *f, struct activation *a, uint32_t call, uint32_t e)
{
	record(f, a->r + f->paths->probes->add[e]);
	if (rnd(8) == 0) {
		stop_at(f, call, a->r, false);
		return false;
	}
	f->truth[e]++;
	a->r = f->paths->probes->start[f->arc[e].to];
	a->v = f->arc[e].to;
	a->from = 0;
	return true;
}

static inline void walk(struct fake *f, struct activation a, struct plan *plan);

/* Abandoned at this call by a jump to one that returns again. */
static inline void
jump_back(struct fake *f, struct plan *plan)
{
	for (uint32_t i = 0; i < f->ncall && plan->returns; i++) {
		struct activation a = {0};
		uint32_t e;

		if (!(f->call[i].flags & CHORD_CALL_TWICE))
			continue;
		e = any_way_out(f, f->call[i].block);
		a.v = f->arc[e].to;
		a.r = f->paths->probes->start[a.v];
		plan->returns--;
		stop_at(f, i, a.r, true);
		f->truth[e]++;
		walk(f, a, plan);
		return;
	}
}

static inline bool
has_twice(const struct fake *f)
{
	for (uint32_t i = 0; i < f->ncall; i++)
		if (f->call[i].flags & CHORD_CALL_TWICE)
			return true;
	return false;
}

/* The calls in the block; false if the walk is over. */
static inline bool
pass_block(struct fake *f, struct activation *a, struct plan *plan)
{
	for (uint32_t i = a->from; i < INSNS; i++) {
		f->inside[a->v][i]++;
		for (uint32_t k = 0; k < f->ncall; k++) {
			if (f->call[k].block != a->v || f->call[k].insn != i || f->call[k].flags)
				continue;
			if (plan->steps && rnd(10))
				continue;
			if (plan->killed) {
				f->under_way++;
				return false;
			}
			stop_at(f, k, a->r, false);
			if (has_twice(f) && plan->returns)
				jump_back(f, plan);
			return false;
		}
	}
	return true;
}

static inline void
walk(struct fake *f, struct activation a, struct plan *plan)
{
	while (a.v != f->g->exit) {
		uint32_t e;

		if (!pass_block(f, &a, plan))
			return;
		if (f->twice[a.v]) {
			uint32_t call = 0;

			while (f->call[call].block != a.v || !f->call[call].flags)
				call++;
			if (!call_twice(f, &a, call, any_way_out(f, a.v)))
				return;
		} else if ((e = any_way_out(f, a.v)) == GRAPH_NONE) {
			/* Nothing is known to follow: it is killed there. */
			f->under_way++;
			return;
		} else {
			go(f, &a, e);
		}
		if (plan->steps)
			plan->steps--;
		else if (rnd(300) == 0) { /* a loop without a call */
			f->under_way++;
			return;
		}
	}
}

static inline void
call_it(struct fake *f, bool killed)
{
	struct plan plan = {.steps = rnd(60), .returns = rnd(3), .killed = killed};
	struct activation a = {.r = f->paths->probes->start[f->g->root]};
	uint32_t e = any_way_out(f, f->g->root);

	/* A landing pad takes up an activation that ended: as good as any other. */
	go(f, &a, e);
	walk(f, a, &plan);
}

/* A forked child goes on behind a call to which its parent came: that is walked in a procedure like it. */
static inline void
inherit(struct fake *f, bool killed)
{
	struct fake *parent = pool_alloc(f->pool, sizeof *parent);
	struct plan plan = {.steps = rnd(60), .killed = killed};
	struct activation a = {.r = f->paths->probes->start[f->g->root]};
	uint32_t steps = 0;

	*parent = *f;
	parent->exit.at = NULL;
	parent->unfinished.at = NULL;
	go(parent, &a, any_way_out(parent, f->g->root));
	while (a.v != f->g->exit && steps++ < 20 && !f->twice[a.v]) {
		uint32_t e = any_way_out(parent, a.v);

		for (uint32_t k = 0; k < f->ncall; k++)
			if (f->call[k].block == a.v && !f->call[k].flags && rnd(2)) {
				stop_at(f, k, a.r, true);
				a.from = f->call[k].insn + 1;
				walk(f, a, &plan);
				return;
			}
		if (e == GRAPH_NONE)
			return;
		go(parent, &a, e);
	}
}

#endif
