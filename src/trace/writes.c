/* SPDX-License-Identifier: MIT */
/* What the edges of a procedure would write with encodings other than paths: outcomes of predicates, and witnesses (Ball & Larus
 * 1994, sections 4 and 6.2). Witnesses are placed by the heuristic weights of section 5, as the weaver would have to do. */
#include "trace/internal.h"

#include "graph/graph.h"

static bool
comes_from_outside(const struct arc *a)
{
	return a->kind == CHORD_EDGE_LAND || a->kind == CHORD_EDGE_RECEIVE;
}

/* Phantom edges lead to landing pads: control does not get there along an edge. */
static struct graph *
graph_of(struct pool *pool, const struct proc *p)
{
	struct graph *g = graph_new(pool, p->nvert, PROC_ENTRY(p), PROC_EXIT(p));

	for (uint32_t i = 0; i < p->narc; i++) {
		uint32_t e = i == p->close ? graph_close(g) : graph_edge(g, p->arc[i].from, p->arc[i].to);

		if (comes_from_outside(&p->arc[i]))
			g->edge[e].phantom = g->edge[e].fixed = true;
	}
	graph_complete(g);
	return g;
}

/* Paths are cut at calls, so a call ends its block. */
static bool
ends_with_call(const struct block *b)
{
	enum chord_insn insn = trace_last_insn(b);

	return insn == CHORD_INSN_CALL || insn == CHORD_INSN_ICALL;
}

static void
number_outcomes(struct writes *w)
{
	const struct graph *g = w->g;

	for (uint32_t e = 0; e < g->nedge; e++)
		w->ways[e] = 1;
	for (uint32_t v = 0; v < g->nvert; v++) {
		uint32_t n = 0;

		if (!witness_is_predicate(g, v))
			continue;
		w->npredicate++;
		for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
			if (witness_is_real(g, g->out[i]))
				w->outcome[g->out[i]] = n++;
		for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
			w->ways[g->out[i]] = n;
	}
}

static void
place(struct writes *w)
{
	struct graph *g = w->g;
	struct order *o = order_dfs(g);
	const char *why = witness_place(g, weight_heuristic(g, o, loops_find(g, o)), w->call, w->written);

	if (why)
		bug("%s: %s", w->proc->name, why);
	for (uint32_t e = 0; e < g->nedge; e++)
		if (w->written[e])
			w->own[e] = w->nwitness++;
	w->values = witness_values(g, w->written, true);
}

struct writes *
writes_new(struct pool *pool, const struct proc *p)
{
	struct writes *w = pool_alloc(pool, sizeof *w);

	w->proc = p;
	w->g = graph_of(pool, p);
	w->call = pool_array(pool, w->g->nvert, sizeof *w->call);
	w->written = pool_array(pool, w->g->nedge, sizeof *w->written);
	w->own = pool_array(pool, w->g->nedge, sizeof *w->own);
	w->outcome = pool_array(pool, w->g->nedge, sizeof *w->outcome);
	w->ways = pool_array(pool, w->g->nedge, sizeof *w->ways);
	for (uint32_t b = 0; b < p->nblock; b++)
		w->call[b] = ends_with_call(&p->block[b]);
	number_outcomes(w);
	place(w);
	return w;
}

uint32_t
writes_bits(uint64_t n)
{
	return n > 1 ? 64 - (uint32_t)__builtin_clzll(n - 1) : 0;
}
