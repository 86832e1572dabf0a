/* SPDX-License-Identifier: MIT */
/* Measure edges: counters on the chords of a maximum spanning tree; all other counts follow from flow conservation. */
#include "weave/measure.h"

static uint32_t
count_at(struct woven *w, struct site *s, uint32_t measure)
{
	s->probes |= 1u << measure;
	return s->counter = ++w->ncounter;
}

void
count_edge(struct woven *w, uint32_t e, uint32_t measure)
{
	struct site *s = &w->edge[e];

	w->proc->arcs.at[e].counter = count_at(w, s, measure);
	if (s->where == SITE_SPLIT)
		w->split[s->block] = true;
}

void
count_block(struct woven *w, uint32_t b, uint32_t measure)
{
	w->proc->blocks.at[b].counter = count_at(w, &w->block[b], measure);
}

void
count_promoted(struct emitter *m, struct buf *b, const struct site *s)
{
	const struct promotion *p = &m->w->promotions.at[s->promoted - 1];

	if (!p->var)
		m->u->machine->count_up(b, (uint8_t)(p->reg - 1), s->live);
}

void
count_probe(struct emitter *m, struct buf *b, const struct site *s)
{
	uint8_t base = s->base[BASE_COUNTERS];

	if (s->promoted) {
		count_promoted(m, b, s);
		return;
	}
	if (s->borrows) {
		m->u->machine->add_borrowing(b, m->counters, (uint64_t)(s->counter - 1) * 8, s->borrows, m->w->near, s->live);
		return;
	}
	if (s->of_cells) {
		base = s->base[BASE_CELLS];
		m->u->machine->next_cell(b, base, 1);
	}
	m->u->machine->add(b, m->counters, (uint64_t)(s->counter - 1) * 8, 1, base, s->live);
}

/* The graph in which each block is two vertices with an edge between them: a counter
 * in the block is then a counter on that edge. A loop of one block would need its
 * back edge split otherwise, at the price of a jump each time around. Edges keep
 * their numbers; those inside blocks follow. */
static struct graph *
split_blocks(const struct unit *u, const struct woven *w)
{
	const struct graph *g = w->proc->graph;
	struct graph *s = graph_new(u->pool, g->nvert, g->root, g->exit);
	uint32_t nblock = (uint32_t)w->proc->blocks.n;

	for (uint32_t b = 0; b < nblock; b++)
		graph_vertex(s);
	for (uint32_t i = 0; i < g->nedge; i++) {
		const struct edge *e = &g->edge[i];

		if (i == g->close)
			graph_close(s);
		else
			graph_edge(s, e->from < nblock ? g->nvert + e->from : e->from, e->to);
		s->edge[i].fixed = e->fixed;
		s->edge[i].phantom = e->phantom;
		s->edge[i].cost = e->cost;
	}
	for (uint32_t b = 0; b < nblock; b++) {
		uint32_t i = graph_edge(s, b, g->nvert + b);

		s->edge[i].fixed = w->block[b].where == SITE_NONE;
		s->edge[i].cost = s->edge[i].fixed ? 1 : w->block[b].price;
	}
	return s;
}

static double *
split_weights(const struct unit *u, const struct woven *w, const struct graph *s)
{
	const struct graph *g = w->proc->graph;
	double *weight = pool_array(u->pool, s->nedge, sizeof *weight);

	for (uint32_t i = 0; i < g->nedge; i++) {
		weight[i] = w->weight[i];
		if (g->edge[i].to < w->proc->blocks.n)
			weight[g->nedge + g->edge[i].to] += w->weight[i];
	}
	return weight;
}

/* Gives counters to the edges of the split graph that are counted. */
static void
count_all(struct woven *w, const bool *counted, uint32_t measure)
{
	uint32_t nedge = w->proc->graph->nedge;

	for (uint32_t e = 0; e < w->proc->arcs.n; e++)
		if (counted[e])
			count_edge(w, e, measure);
	for (uint32_t b = 0; b < w->proc->blocks.n; b++)
		if (counted[nedge + b])
			count_block(w, b, measure);
}

struct split
split_proc(const struct unit *u, struct woven *w)
{
	struct split s;

	place_weights(u, w);
	s.graph = split_blocks(u, w);
	s.weight = split_weights(u, w, s.graph);
	s.counted = pool_array(u->pool, s.graph->nedge, sizeof *s.counted);
	s.wanted = pool_array(u->pool, s.graph->nedge, sizeof *s.wanted);
	for (uint32_t b = 0; b < w->proc->blocks.n; b++)
		s.wanted[w->proc->graph->nedge + b] = true;
	return s;
}

bool *
split_tree(const struct unit *u, struct woven *w, struct split *s)
{
	uint32_t bad = 0;
	bool *in_tree = span_max(s->graph, s->weight, &bad);

	if (!in_tree)
		w->proc->reason = pool_printf(u->pool, "ways that cannot be counted apart meet at block %u",
		                              s->graph->edge[bad].to);
	for (uint32_t e = 0; in_tree && e < s->graph->nedge; e++)
		s->counted[e] = !in_tree[e] && !s->graph->edge[e].phantom;
	return in_tree;
}

void
split_count(struct woven *w, const struct split *s, bool all, uint32_t measure)
{
	bool *known = pool_array(s->graph->pool, s->graph->nedge, sizeof *known);
	uint32_t e;

	for (e = 0; e < s->graph->nedge; e++)
		known[e] = s->counted[e] || s->graph->edge[e].phantom;
	e = bridge_check(s->graph, known, all ? NULL : s->wanted);
	if (e != GRAPH_NONE)
		bug("%s: its counters do not determine edge %u", w->proc->name, e);
	count_all(w, s->counted, measure);
}

bool
count_chords(const struct unit *u, struct woven *w, uint32_t measure)
{
	struct split s = split_proc(u, w);

	if (!split_tree(u, w, &s))
		return false;
	for (uint32_t e = 0; measure == CHORD_EVERY_EDGE && e < w->proc->arcs.n; e++)
		s.counted[e] = w->edge[e].where != SITE_NONE;
	split_count(w, &s, true, measure);
	return true;
}

static void
plan(struct plan *l, struct woven *w)
{
	count_chords(l->u, w, CHORD_EDGES);
}

const struct weave_measure weave_edges = {.plan = plan, .probe = count_probe};
