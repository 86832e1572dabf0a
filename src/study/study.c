/* SPDX-License-Identifier: MIT */
/* What the algorithms find in a graph: order, loops, weights, trees, counts. */
#include "study/study.h"

#include <string.h>

static bool
find_trees(struct study *s)
{
	s->tree = graph_file_tree(&s->file, s->given ? s->given : s->heuristic);
	if (!s->tree)
		return false;
	s->by_heuristic = span_max(s->g, s->heuristic, NULL);
	return true;
}

bool
study_graph(struct study *s)
{
	const char *why;

	s->g = s->file.g;
	why = graph_check(s->g);
	if (why)
		bug("%s", why);
	s->order = order_dfs(s->g);
	s->loops = loops_find(s->g, s->order);
	s->heuristic = weight_heuristic(s->g, s->order, s->loops);
	s->given = s->file.weighed ? graph_file_weights(&s->file) : NULL;
	for (size_t v = 0; v < s->file.vertex.n; v++) {
		size_t n = strlen(s->file.vertex.at[v].name);

		s->width = n > 30 ? 30 : (int)n > s->width ? (int)n : s->width;
	}
	return find_trees(s);
}

/* An early exit at v is an edge v -> EXIT, a re-entry one EXIT -> v (Ball and
 * Larus 1994, section 3.2, Fig. 7). */
static int64_t *
sources(const struct study *s)
{
	int64_t *source = pool_array(s->g->pool, s->g->nvert, sizeof *source);

	for (uint32_t v = 0; v < s->g->nvert; v++) {
		int64_t n = (int64_t)s->file.vertex.at[v].reentry - (int64_t)s->file.vertex.at[v].early;

		source[v] += n;
		source[s->g->exit] -= n;
	}
	return source;
}

bool
study_counts(struct study *s)
{
	const char *why = NULL;

	s->counted = pool_array(s->g->pool, s->g->nedge, sizeof *s->counted);
	s->count = pool_array(s->g->pool, s->g->nedge, sizeof *s->count);
	for (uint32_t e = 0; e < s->g->nedge; e++)
		s->counted[e] = s->g->edge[e].phantom && !s->tree[e];
	for (size_t e = 0; e < s->file.edge.n; e++) {
		s->counted[e] = s->file.edge.at[e].counted;
		s->count[e] = s->file.edge.at[e].count;
	}
	if (flow_propagate(s->g, s->counted, s->count, sources(s), &why))
		return true;
	say_error(s->file.path, "%s", why);
	return false;
}

double
study_vertex_weight(const struct graph *g, const double *w, uint32_t v)
{
	double sum = 0;

	for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1]; i++)
		sum += w[g->in[i]];
	return sum;
}

/* The count of v, including re-entries at v. For EXIT: the number of activations that reached their end. */
uint64_t
study_vertex_count(const struct study *s, uint32_t v)
{
	uint64_t n = flow_vertex(s->g, s->count, v);

	if (v == s->g->exit)
		return s->count[s->g->close];
	return saturating_add(n, s->file.vertex.at[v].reentry);
}

uint32_t *
study_by_preorder(const struct study *s)
{
	uint32_t *v = pool_array(s->g->pool, s->g->nvert, sizeof *v);

	for (uint32_t i = 0; i < s->g->nvert; i++)
		v[s->order->pre[i]] = i;
	return v;
}

struct study_placement
study_placement(const struct study *s, const bool *set, bool in)
{
	struct study_placement p = {.fits = true};

	for (uint32_t e = 0; e < s->g->nedge; e++) {
		double cost = s->g->edge[e].cost;

		if (set[e] != in || s->g->edge[e].phantom)
			continue;
		p.counters++;
		p.heuristic += s->heuristic[e] * cost;
		p.given += s->given ? s->given[e] * cost : 0;
		p.fits &= !s->count || checked_add(&p.executed, s->count[e]);
	}
	return p;
}

struct study_placement
study_every_vertex(const struct study *s)
{
	struct study_placement p = {.counters = s->g->nvert - 1, .fits = true};

	for (uint32_t v = 0; v < s->g->nvert; v++) {
		if (v == s->g->exit)
			continue;
		p.heuristic += study_vertex_weight(s->g, s->heuristic, v);
		p.given += s->given ? study_vertex_weight(s->g, s->given, v) : 0;
		p.fits &= !s->count || checked_add(&p.executed, study_vertex_count(s, v));
	}
	return p;
}

struct dag *
study_dag(const struct graph_file *f, uint64_t limit)
{
	const char *why;
	struct dag *d = dag_new(f->g, order_dfs(f->g), graph_file_weights(f), NULL, limit, &why);

	if (!d)
		say_error(f->path, "%s", why);
	return d;
}
