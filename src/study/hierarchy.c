/* SPDX-License-Identifier: MIT */
/* The hierarchy of profiling problems on a graph written by hand: what each problem counts, and at what cost. */
#include "study/study.h"

#include <string.h>

static double
vertex_cost(const struct study_hierarchy *h, uint32_t v)
{
	return study_vertex_weight(h->f->g, h->w, v);
}

/* Adds a problem that counts edges. */
static void
add_edges(struct study_hierarchy *h, const char *what, const bool *counted)
{
	const struct graph *g = h->f->g;
	struct study_problem *p = &h->problem[h->n++];

	*p = (struct study_problem){.what = what, .edge = pool_array(g->pool, g->nedge, sizeof(bool))};
	for (uint32_t e = 0; e < g->nedge; e++) {
		p->edge[e] = counted[e] && witness_is_real(g, e);
		p->counters += p->edge[e];
		p->cost += p->edge[e] ? h->w[e] * g->edge[e].cost : 0;
	}
}

static void
add_vertices(struct study_hierarchy *h, const char *what)
{
	const struct graph *g = h->f->g;
	struct study_problem *p = &h->problem[h->n++];

	*p = (struct study_problem){.what = what, .vertex = pool_array(g->pool, g->nvert, sizeof(bool))};
	vertices_place(g, h->w, p->vertex);
	for (uint32_t v = 0; v < g->nvert; v++) {
		p->counters += p->vertex[v];
		p->cost += p->vertex[v] ? vertex_cost(h, v) : 0;
	}
}

bool
study_hierarchy(struct study_hierarchy *h, const struct graph_file *f)
{
	const struct graph *g = f->g;
	bool *chord = pool_array(f->pool, g->nedge, sizeof *chord), *fewer = pool_array(f->pool, g->nedge, sizeof *fewer);
	bool *tree, *tree_min;
	const char *why;

	*h = (struct study_hierarchy){.f = f, .w = graph_file_weights(f)};
	tree = graph_file_tree(f, h->w);
	if (!tree)
		return false;
	for (uint32_t e = 0; e < g->nedge; e++)
		chord[e] = fewer[e] = !tree[e];
	add_vertices(h, "vertices by vertices");
	add_edges(h, "edges by edges", chord);
	tree_min = span_min(g, h->w, NULL);
	for (uint32_t e = 0; e < g->nedge; e++)
		fewer[e] = !tree_min[e];
	add_edges(h, "edges by edges, dearest", fewer);
	memcpy(fewer, chord, g->nedge * sizeof *fewer);
	vertices_thin_printed(g, h->w, tree, fewer);
	add_edges(h, "vertices by edges, Fig. 11", fewer);
	memcpy(fewer, chord, g->nedge * sizeof *fewer);
	vertices_thin(g, h->w, fewer);
	add_edges(h, "vertices by edges", fewer);
	memset(fewer, 0, g->nedge * sizeof *fewer);
	why = witness_place(g, h->w, NULL, fewer);
	if (why) {
		say_error(f->path, "%s", why);
		return false;
	}
	add_edges(h, "traces by edges", fewer);
	return true;
}

/* Finds the cheapest edges that break all cycles. closed: each execution of the procedure is a cycle, too. */
static bool
add_feedback(struct study_hierarchy *h, const char *what, bool closed)
{
	const struct graph *g = h->f->g;
	double *price = pool_array(g->pool, g->nedge, sizeof *price);
	uint32_t bad = GRAPH_NONE;
	bool *chosen;

	for (uint32_t e = 0; e < g->nedge; e++)
		price[e] = g->edge[e].fixed ? GRAPH_NEVER : h->w[e] * g->edge[e].cost;
	price[g->close] = closed ? GRAPH_NEVER : -1;
	chosen = feedback_place(g, price, &bad);
	if (chosen)
		add_edges(h, what, chosen);
	else
		say_error(h->f->path, "a cycle through %s has no edge on which anything can be counted", graph_name(g, bad));
	return chosen;
}

bool
study_clock(struct study_hierarchy *h, const struct graph_file *f)
{
	const struct graph *g = f->g;
	bool *back = pool_array(f->pool, g->nedge, sizeof *back);
	const struct order *o = order_dfs(g);

	*h = (struct study_hierarchy){.f = f, .w = graph_file_weights(f)};
	for (uint32_t e = 0; e < g->nedge; e++)
		back[e] = e != g->close && (o->back[e] || g->edge[e].from == g->root);
	add_edges(h, "back edges and ways in", back);
	return add_feedback(h, "each execution apart", true) && add_feedback(h, "rounds of loops alone", false);
}

bool
study_vertex_counts(const struct graph_file *f, uint64_t *count)
{
	const struct graph *g = f->g;
	bool *counted = pool_array(f->pool, g->nedge, sizeof *counted);
	uint64_t *edge = pool_array(f->pool, g->nedge, sizeof *edge);
	const char *why = NULL;
	uint32_t v;

	for (size_t e = 0; e < f->edge.n; e++) {
		counted[e] = f->edge.at[e].counted;
		edge[e] = f->edge.at[e].count;
	}
	v = vertices_check(g, counted, NULL);
	if (v != GRAPH_NONE) {
		say_error(f->path, "the counts do not determine that of %s", graph_name(g, v));
		return false;
	}
	if (vertices_propagate(g, counted, edge, NULL, count, &why))
		return true;
	say_error(f->path, "%s", why);
	return false;
}
