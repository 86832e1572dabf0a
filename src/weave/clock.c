/* SPDX-License-Identifier: MIT */
/* The clock (Mellor-Crummey & LeBlanc 1989): where 1 is added to a count, so that a thread is never twice at the same instruction
 * with the same stack pointer while the count is the same. docs/clock.md has the proof.
 *
 * The additions break all cycles of a graph. It is the procedure's own graph, with each block as an edge, as for the measure edges,
 * and with these changes:
 *
 * - EXIT and all calls lead back to ENTRY, because an activation has to be told from the one before, and from those that its
 *   calls make. They do not if one call is all that enters the procedure (struct woven, sole): then the caller's states tell its
 *   activations apart.
 * - EXIT leads to the places after all calls, if the distance of the stack pointer from the frame is not fixed. If it is fixed,
 *   the stack pointer tells an activation from the one that returned to it.
 * - A call of a procedure of this text that counts its own executions breaks the cycles through it. So does a jump to such a
 *   procedure in place of a call.
 *
 * Where control may come at any time, and so perhaps twice, there is always an addition: at landing pads, receivers and other
 * entries, and after calls that may return twice. */
#include "weave/internal.h"

#include <string.h>

/* What an addition costs in addition to its executions, so that of equally cheap choices the one with fewer additions is taken. */
static const double PRICE_SITE = 0.01;

struct clock_of {
	const struct unit *u;
	struct woven *w, *all;
	bool fixed;              /* the distance of the stack pointer from the frame is fixed */
	uint32_t event, nevent;  /* which event the clock is; the number of events */
	struct graph *g;         /* edges: those of the procedure, one for each block, then some without a site */
	double *price;           /* by edge, as feedback_place() wants it */
	bool *forced;            /* by edge of the procedure, then block: there is always an addition */
	double *runs;            /* by block */
};

/* Is the instruction a call, or a jump in place of one, of a procedure that adds to the clock in each of its executions? */
static bool
is_counted(const struct clock_of *c, uint32_t block, uint32_t i)
{
	const struct proc_text *p = c->w->proc;
	uint32_t callee;

	return local_enters(c->u, p->parts.at[p->blocks.at[block].part].code, woven_insn(c->w, block, i), &callee) &&
	       !c->u->procs.at[callee].reason && !c->all[callee].sole;
}

static bool
ends_in_call(const struct woven *w, uint32_t block)
{
	return insn_is_call(woven_insn(w, block, w->proc->block_text.at[block].last - 1));
}

/* Nothing runs after a call that leads to EXIT. */
static bool
is_dead(const struct woven *w, uint32_t e)
{
	const struct proc_text *p = w->proc;
	const struct edge *d = &p->graph->edge[e];

	return e < p->arcs.n && d->to == p->exit && d->from < p->blocks.n && ends_in_call(w, d->from);
}

/* ---- additions that are always there ---- */

static bool
comes_again(const struct woven *w, uint32_t e)
{
	const struct proc_text *p = w->proc;

	if (e >= p->arcs.n)
		return false;
	return (e && p->graph->edge[e].from == p->entry) || p->arc_text.at[e].twice;
}

/* Puts an addition on the edge or, if nothing can be put there, in the block that it leads to, or behind that. */
static bool
force_edge(struct clock_of *c, uint32_t e)
{
	const struct proc_text *p = c->w->proc;
	uint32_t to = proc_lands(p, p->graph->edge[e].to), behind = to < p->blocks.n ? place_behind_landing(c->w, to) : GRAPH_NONE;

	if (p->graph->edge[e].phantom || is_dead(c->w, e))
		return true;
	if (c->w->edge[e].where != SITE_NONE)
		c->forced[e] = true;
	else if (to < p->blocks.n && c->w->block[to].where != SITE_NONE)
		c->forced[p->graph->nedge + to] = true;
	else if (behind != GRAPH_NONE)
		c->forced[behind] = true;
	else
		return false;
	return true;
}

/* The context that swapcontext() saves may be resumed more than once. Calls of other functions that return twice end their
 * block. */
static bool
saves_context(const struct clock_of *c, uint32_t block, uint32_t i)
{
	const struct proc_text *p = c->w->proc;
	const struct insn *in = woven_insn(c->w, block, i);
	const char *name = insn_is_call(in) ? woven_callee(c->u, p->parts.at[p->blocks.at[block].part].code, in, p) : NULL;

	return name && !strcmp(name, "swapcontext");
}

/* Puts an addition after a call, before the next one. */
static bool
force_behind(struct clock_of *c, uint32_t block, uint32_t i)
{
	const struct proc_text *p = c->w->proc;
	bool done = true;

	for (size_t k = 0; k < c->w->call_free.n; k++)
		if (c->w->call_free.at[k].block == block && c->w->call_free.at[k].first == i + 1)
			return site_add(c->w, &c->w->call_free.at[k].site, c->event, c->nevent, 1);
	for (uint32_t k = p->graph->out_at[block]; k < p->graph->out_at[block + 1]; k++)
		done &= p->graph->out[k] >= p->arcs.n || force_edge(c, p->graph->out[k]);
	return done;
}

static bool
force(struct clock_of *c)
{
	const struct proc_text *p = c->w->proc;
	bool done = true;

	for (uint32_t e = 0; e < p->arcs.n; e++)
		done &= !comes_again(c->w, e) || force_edge(c, e);
	for (uint32_t b = 0; b < p->blocks.n; b++)
		for (uint32_t i = p->block_text.at[b].first; i < p->block_text.at[b].last; i++)
			done &= !saves_context(c, b, i) || force_behind(c, b, i);
	return done;
}

/* ---- the graph ---- */

enum calls { CALLS_NONE, CALLS_OTHER, CALLS_COUNTED, CALLS_COUNTED_FIRST };

static enum calls
calls_of(const struct clock_of *c, uint32_t block)
{
	enum calls found = CALLS_NONE;

	for (uint32_t i = c->w->proc->block_text.at[block].first; i < c->w->proc->block_text.at[block].last; i++) {
		if (!insn_is_call(woven_insn(c->w, block, i)))
			continue;
		if (is_counted(c, block, i))
			return found == CALLS_NONE ? CALLS_COUNTED_FIRST : CALLS_COUNTED;
		found = CALLS_OTHER;
	}
	return found;
}

/* Is the edge a jump to the beginning of a counted procedure, in place of a call and a return? */
static bool
goes_on_counted(const struct clock_of *c, uint32_t e)
{
	const struct proc_text *p = c->w->proc;
	const struct edge *d = &p->graph->edge[e];

	return e < p->arcs.n && c->fixed && d->to == p->exit && d->from < p->blocks.n && p->arc_text.at[e].jump &&
	       is_counted(c, d->from, p->block_text.at[d->from].last - 1);
}

static void
add_edge(struct clock_of *c, uint32_t from, uint32_t to, double price)
{
	c->price[graph_edge(c->g, from, to)] = price;
}

static double
price_of(const struct site *s, double runs, bool forced)
{
	return forced ? -1 : s->where == SITE_NONE ? GRAPH_NEVER : runs * s->price + PRICE_SITE;
}

/* A vertex for each block, between its site and its first call. */
static uint32_t
before_calls(const struct clock_of *c, uint32_t block)
{
	return c->w->proc->graph->nvert + (uint32_t)c->w->proc->blocks.n + block;
}

static void
add_arcs(struct clock_of *c)
{
	const struct proc_text *p = c->w->proc;
	const struct graph *g = p->graph;
	uint32_t nblock = (uint32_t)p->blocks.n;

	for (uint32_t e = 0; e < g->nedge; e++) {
		const struct edge *d = &g->edge[e];
		uint32_t from = d->from < nblock ? g->nvert + d->from : d->from;

		if (e == g->close) {
			c->price[graph_close(c->g)] = -1;
		} else if (d->phantom || is_dead(c->w, e) || goes_on_counted(c, e)) {
			add_edge(c, from, d->to, -1);
		} else {
			add_edge(c, from, d->to, price_of(&c->w->edge[e], c->w->weight[e], c->forced[e]));
		}
		if (d->to < nblock)
			c->runs[d->to] += c->w->weight[e];
	}
	/* Sites of blocks stand before their first calls. */
	for (uint32_t b = 0; b < nblock; b++)
		add_edge(c, b, before_calls(c, b), price_of(&c->w->block[b], c->runs[b], c->forced[g->nedge + b]));
	for (uint32_t b = 0; b < nblock; b++)
		add_edge(c, before_calls(c, b), g->nvert + b, calls_of(c, b) >= CALLS_COUNTED ? -1 : GRAPH_NEVER);
}

/* Adds the edges to other activations of the procedure, whose states look the same. */
static void
add_activations(struct clock_of *c)
{
	const struct proc_text *p = c->w->proc;
	const struct graph *g = p->graph;
	uint32_t behind = before_calls(c, (uint32_t)p->blocks.n); /* the vertex after all calls */

	add_edge(c, p->exit, p->entry, GRAPH_NEVER);
	add_edge(c, p->exit, behind, c->fixed ? -1 : GRAPH_NEVER);
	for (uint32_t b = 0; b < p->blocks.n; b++) {
		enum calls calls = calls_of(c, b);

		if (calls == CALLS_NONE)
			continue;
		add_edge(c, before_calls(c, b), p->entry, calls == CALLS_COUNTED_FIRST && c->fixed ? -1 : GRAPH_NEVER);
		add_edge(c, behind, g->nvert + b, c->fixed ? -1 : GRAPH_NEVER);
	}
}

static bool
build(struct clock_of *c)
{
	const struct proc_text *p = c->w->proc;
	const struct graph *g = p->graph;
	uint32_t nblock = (uint32_t)p->blocks.n;
	size_t most = g->nedge + 4 * (size_t)nblock + 2;

	place_weights(c->u, c->w);
	c->fixed = frames_fixed(frames_find(c->u, p));
	c->g = graph_new(c->u->pool, g->nvert + 2 * nblock + 1, g->root, g->exit);
	c->price = pool_array(c->u->pool, most, sizeof *c->price);
	c->forced = pool_array(c->u->pool, g->nedge + (size_t)nblock, sizeof *c->forced);
	c->runs = pool_array(c->u->pool, nblock, sizeof *c->runs);
	if (!force(c))
		return false;
	add_arcs(c);
	if (!c->w->sole)
		add_activations(c);
	graph_index(c->g);
	return true;
}

bool
place_clock(const struct unit *u, struct woven *w, struct woven *all, uint32_t e, uint32_t n)
{
	struct clock_of c = {.u = u, .w = w, .all = all, .event = e, .nevent = n};
	uint32_t nedge = w->proc->graph->nedge, bad;
	const bool *chosen = build(&c) ? feedback_place(c.g, c.price, &bad) : NULL;

	if (!chosen) {
		w->proc->reason = "a cycle in which no code can be put for the clock";
		return false;
	}
	for (uint32_t i = 0; i < w->proc->arcs.n; i++)
		if ((chosen[i] || c.forced[i]) && !site_add(w, &w->edge[i], e, n, 1))
			return false;
	for (uint32_t b = 0; b < w->proc->blocks.n; b++)
		if ((chosen[nedge + b] || c.forced[nedge + b]) && !site_add(w, &w->block[b], e, n, 1))
			return false;
	return true;
}

/* A procedure whose frame is not fixed is not sole: its caller's states do not tell its activations apart. */
void
clock_prepare(const struct unit *u, struct woven *all)
{
	local_find_sole(u, all);
	for (uint32_t i = 0; i < u->procs.n; i++)
		all[i].sole = all[i].sole && frames_fixed(frames_find(u, all[i].proc));
}
