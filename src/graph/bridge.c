/* SPDX-License-Identifier: MIT */
/* What follows from counts that do not determine all others.
 *
 * Flow is conserved. So the unknown part of it is a flow in the unknown edges alone, and any flow around a cycle of unknown edges
 * (whatever their directions) can be added to it. The count of an unknown edge follows if and only if the edge lies on no such
 * cycle, that is, if it is a bridge of the graph of unknown edges. The vertices of cycles are joined to one vertex, at which flow
 * is conserved as a whole. Between these vertices the bridges form a forest, and propagation (Ball & Larus 1994, Fig. 6) finds
 * their counts. If vertices are edges of their own, this is the theorem of section 3.3: a pipe at v is what makes v lie on a
 * cycle. */
#include "graph/graph.h"

#include <string.h>

/* A forest of unknown edges, with roots. The other unknown edges are added to it one by one. */
struct fold {
	const struct graph *g;
	struct pool *tmp;
	const bool *known;
	uint32_t *at, *edge;     /* unknown edges of v: edge[at[v] .. at[v + 1]) */
	uint32_t *up;            /* by vertex: the edge to its parent; GRAPH_NONE: a root */
	uint32_t *depth;
	uint32_t *set;           /* vertices that lie on cycles with one another, the one nearest to the root stands for them */
	bool *tree;
};

static void
index_unknown(struct fold *f)
{
	const struct graph *g = f->g;

	f->at = pool_array(f->tmp, g->nvert + 2u, sizeof *f->at);
	f->edge = pool_array(f->tmp, 2u * g->nedge + 1, sizeof *f->edge);
	for (uint32_t e = 0; e < g->nedge; e++)
		if (!f->known[e]) {
			f->at[g->edge[e].from + 2]++;
			f->at[g->edge[e].to + 2]++;
		}
	for (uint32_t v = 0; v < g->nvert; v++)
		f->at[v + 2] += f->at[v + 1];
	for (uint32_t e = 0; e < g->nedge; e++)
		if (!f->known[e]) {
			f->edge[f->at[g->edge[e].from + 1]++] = e;
			f->edge[f->at[g->edge[e].to + 1]++] = e;
		}
}

static uint32_t
other_end(const struct graph *g, uint32_t e, uint32_t v)
{
	return g->edge[e].from == v ? g->edge[e].to : g->edge[e].from;
}

static void
grow_tree(struct fold *f, uint32_t root, uint32_t *queue)
{
	uint32_t n = 0;

	f->up[root] = GRAPH_NONE;
	queue[n++] = root;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t v = queue[i], k = f->at[v]; k < f->at[v + 1]; k++) {
			uint32_t e = f->edge[k], to = other_end(f->g, e, v);

			if (f->depth[to])
				continue;
			f->depth[to] = f->depth[v] + 1;
			f->up[to] = e;
			f->tree[e] = true;
			queue[n++] = to;
		}
}

/* Joins all vertices on the tree path between the ends of an edge that is not in the forest: they lie on a cycle. */
static void
fold_edge(struct fold *f, uint32_t e)
{
	uint32_t a = graph_root(f->set, f->g->edge[e].from), b = graph_root(f->set, f->g->edge[e].to);

	while (a != b) {
		uint32_t *lower = f->depth[a] > f->depth[b] ? &a : &b;

		f->set[*lower] = other_end(f->g, f->up[*lower], *lower);
		*lower = graph_root(f->set, *lower);
	}
}

uint32_t *
bridge_classes(const struct graph *g, const bool *known, uint32_t *n)
{
	struct fold f = {.g = g, .tmp = pool_new(), .known = known};
	uint32_t *class = pool_array(g->pool, g->nvert, sizeof *class), *queue = pool_array(f.tmp, g->nvert + 1u, sizeof *queue);

	index_unknown(&f);
	f.up = pool_array(f.tmp, g->nvert, sizeof *f.up);
	f.depth = pool_array(f.tmp, g->nvert, sizeof *f.depth);
	f.set = pool_array(f.tmp, g->nvert, sizeof *f.set);
	f.tree = pool_array(f.tmp, g->nedge, sizeof *f.tree);
	for (uint32_t v = 0; v < g->nvert; v++) {
		f.set[v] = v;
		if (!f.depth[v]) {
			f.depth[v] = 1;
			grow_tree(&f, v, queue);
		}
	}
	for (uint32_t e = 0; e < g->nedge; e++)
		if (!known[e] && !f.tree[e])
			fold_edge(&f, e);
	*n = 0;
	for (uint32_t v = 0; v < g->nvert; v++)
		if (graph_root(f.set, v) == v)
			class[v] = (*n)++;
	for (uint32_t v = 0; v < g->nvert; v++)
		class[v] = class[graph_root(f.set, v)];
	pool_free(f.tmp);
	return class;
}

uint32_t
bridge_check(const struct graph *g, const bool *known, const bool *wanted)
{
	uint32_t n, *class = bridge_classes(g, known, &n);

	for (uint32_t e = 0; e < g->nedge; e++)
		if (!known[e] && (!wanted || wanted[e]) && class[g->edge[e].from] == class[g->edge[e].to])
			return e;
	return GRAPH_NONE;
}

/* The graph of the classes: known edges between them, and the bridges. */
struct folded {
	struct graph *graph;
	uint32_t *edge;          /* by its edge: the edge of the whole graph */
	bool *known;
	uint64_t *count;
	int64_t *source;
};

static bool
fold_sources(const struct graph *g, const uint32_t *class, const int64_t *source, int64_t *sum)
{
	for (uint32_t v = 0; source && v < g->nvert; v++)
		if (__builtin_add_overflow(sum[class[v]], source[v], &sum[class[v]]))
			return false;
	return true;
}

static struct folded
folded_new(const struct graph *g, const uint32_t *class, uint32_t n, const bool *known, const uint64_t *count, struct pool *tmp)
{
	struct folded f = {
		.graph = graph_new(g->pool, n, class[g->root], class[g->exit]),
		.edge = pool_array(tmp, g->nedge, sizeof(uint32_t)),
		.known = pool_array(tmp, g->nedge, sizeof(bool)),
		.count = pool_array(tmp, g->nedge, sizeof(uint64_t)),
		.source = pool_array(tmp, n, sizeof(int64_t)),
	};

	for (uint32_t e = 0; e < g->nedge; e++) {
		uint32_t i;

		if (class[g->edge[e].from] == class[g->edge[e].to])
			continue;
		i = graph_edge(f.graph, class[g->edge[e].from], class[g->edge[e].to]);
		f.edge[i] = e;
		f.known[i] = known[e];
		f.count[i] = known[e] ? count[e] : 0;
	}
	graph_index(f.graph);
	return f;
}

bool
bridge_propagate(const struct graph *g, bool *known, uint64_t *count, const int64_t *source, const char **why)
{
	struct pool *tmp = pool_new();
	uint32_t n, *class = bridge_classes(g, known, &n);
	struct folded f = folded_new(g, class, n, known, count, tmp);
	bool ok = fold_sources(g, class, source, f.source);

	if (!ok)
		*why = "more enters or leaves than can be counted";
	ok = ok && flow_propagate(f.graph, f.known, f.count, f.source, why);
	for (uint32_t i = 0; ok && i < f.graph->nedge; i++) {
		known[f.edge[i]] = true;
		count[f.edge[i]] = f.count[i];
	}
	pool_free(tmp);
	return ok;
}
