/* SPDX-License-Identifier: MIT */
/* Regenerates an execution from its trace (Ball & Larus 1994, Fig. 15), with a stack of procedures in place of recursion.
 *
 * One witness is read ahead: at a predicate it tells which edge is taken, and it is used up when its edge is passed. A call is made
 * when control comes to its vertex. */
#include "graph/graph.h"

#include <stdlib.h>

static void
read_ahead(struct trace *t)
{
	t->ahead = t->source.read(t->source.ctx, &t->witness);
}

static void
enter(struct trace *t, uint32_t procedure)
{
	VEC_PUSH(t->stack, (struct trace_frame){procedure, t->procedure[procedure].g->root, false, t->entered++});
}

void
trace_begin(struct trace *t, const struct trace_procedure *procedure, uint32_t first, struct trace_source source)
{
	*t = (struct trace){.procedure = procedure, .source = source};
	enter(t, first);
	read_ahead(t);
}

void
trace_free(struct trace *t)
{
	free(t->stack.at);
	*t = (struct trace){0};
}

/* The only real edge out of a vertex. */
static uint32_t
only_edge(const struct graph *g, uint32_t v)
{
	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
		if (witness_is_real(g, g->out[i]))
			return g->out[i];
	return GRAPH_NONE;
}

/* The edge that control takes from the vertex on top. GRAPH_NONE: *event says why it is not known. */
static uint32_t
choose(struct trace *t, const struct trace_frame *f, enum trace_event *event)
{
	const struct trace_procedure *p = &t->procedure[f->procedure];
	const struct witness_values *values = p->values;
	bool end = t->ahead && t->witness == TRACE_EOF;
	uint32_t e;

	*event = t->ahead ? TRACE_DAMAGED : TRACE_CUT;
	if (!witness_is_predicate(p->g, f->vertex)) {
		e = only_edge(p->g, f->vertex);
		if (e == GRAPH_NONE || values->value[e] == GRAPH_NONE || (t->ahead && values->value[e] == t->witness))
			return e;
		return GRAPH_NONE;
	}
	if (!t->ahead || (!end && t->witness >= values->n))
		return GRAPH_NONE;
	return values->way[(size_t)f->vertex * (values->n + 1) + (end ? values->n : t->witness)];
}

/* Leaves a procedure at its EXIT. */
static enum trace_event
leave(struct trace *t)
{
	if (t->stack.n == 1)
		return !t->ahead ? TRACE_CUT : t->witness == TRACE_EOF ? TRACE_END : TRACE_DAMAGED;
	t->stack.n--;
	t->stack.at[t->stack.n - 1].called = true;
	return TRACE_RETURN;
}

/* Acts on a mark of the trace, if there is one at this place. True: there is one. */
static bool
act_on_mark(struct trace *t, bool leaving)
{
	struct trace_frame *f = &t->stack.at[t->stack.n - 1];
	struct trace_mark m;

	if (!t->source.marked || !t->source.marked(t->source.ctx, t, leaving, &m))
		return false;
	switch (m.kind) {
	case TRACE_ENTERS:
		enter(t, m.procedure);
		break;
	case TRACE_IN_PLACE:
		t->stack.n--;
		enter(t, m.procedure);
		break;
	case TRACE_JUMPS:
		t->stack.n = m.depth;
		f = &t->stack.at[m.depth - 1];
		f->vertex = m.vertex;
		f->called = false;
		break;
	}
	return true;
}

/* Passes along an edge. */
static void
pass(struct trace *t, const struct trace_procedure *p, uint32_t e)
{
	struct trace_frame *f = &t->stack.at[t->stack.n - 1];

	if (p->values->value[e] != GRAPH_NONE) {
		t->used++;
		read_ahead(t);
	}
	if (p->g->edge[e].to == p->g->exit && act_on_mark(t, true))
		return;
	f->vertex = p->g->edge[e].to;
	f->called = false;
}

enum trace_event
trace_next(struct trace *t)
{
	struct trace_frame *f = &t->stack.at[t->stack.n - 1];
	const struct trace_procedure *p = &t->procedure[f->procedure];
	enum trace_event event;
	uint32_t e;

	if (!t->begun) {
		t->begun = true;
		return TRACE_VERTEX;
	}
	if (!f->called && p->callee && p->callee[f->vertex] != GRAPH_NONE) {
		enter(t, p->callee[f->vertex]);
		return TRACE_VERTEX;
	}
	if (act_on_mark(t, false))
		return TRACE_VERTEX;
	if (f->vertex == p->g->exit)
		return leave(t);
	e = choose(t, f, &event);
	if (e == GRAPH_NONE)
		return event;
	pass(t, p, e);
	return TRACE_VERTEX;
}
