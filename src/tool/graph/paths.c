/* SPDX-License-Identifier: MIT */
/* chord graph --paths: the acyclic paths of a graph and their numbers. */
#include "tool/graph/graph.h"
#include "tool/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* At most so many paths are listed. */
enum { LISTED = 100 };

static const char *
ends(const struct graph *g, uint32_t e)
{
	return pool_printf(g->pool, "%s -> %s", graph_name(g, g->edge[e].from), graph_name(g, g->edge[e].to));
}

static void
print_begin(const struct graph *g, struct table *t, uint32_t v, int64_t val, const struct probes *p)
{
	table_text(t, pool_printf(g->pool, "begin at %s", graph_name(g, v)));
	table_printf(t, "%" PRId64, val);
	table_printf(t, "%" PRId64, p->start[v]);
	table_end(t);
}

void
graph_print_values(const struct graph_file *f, const struct dag *d, const int64_t *val, const struct probes *p)
{
	static const struct column columns[] = {{"", -16, 0}, {"Val", 10, 0}, {"adds", 10, 0}, {NULL, 0, 0}};
	struct table t = TABLE(columns);
	const struct graph *g = f->g;

	t.indent = 2;
	table_head(&t);
	for (uint32_t e = 0; e < f->edge.n; e++) {
		table_text(&t, ends(g, e));
		table_printf(&t, "%" PRId64, val[e]);
		table_printf(&t, "%+" PRId64, p->add[e]);
		if (d->cut[e] || g->edge[e].to == g->exit)
			table_text(&t, d->cut[e] ? "cut" : "end");
		table_end(&t);
	}
	print_begin(g, &t, g->root, 0, p);
	for (uint32_t v = 0; v < g->nvert; v++)
		if (d->begin[v] != GRAPH_NONE)
			print_begin(g, &t, v, val[d->begin[v]], p);
}

/* Prints the blocks of a path; if it was cut, also where the cut edge leads. */
void
graph_print_path(const struct dag *d, uint32_t begin, const uint32_t *edge, uint32_t n)
{
	const struct graph *g = d->g;

	printf("%s", graph_name(g, begin));
	for (uint32_t i = 0; i < n; i++)
		printf(d->cut[edge[i]] ? " (%s)" : " %s", graph_name(g, g->edge[edge[i]].to));
	printf("\n");
}

/* Prints what the path register starts with, and what the edges add. */
void
graph_print_sum(const struct probes *p, uint32_t begin, const uint32_t *edge, uint32_t n)
{
	int64_t sum = p->start[begin];

	for (uint32_t i = 0; i < n; i++)
		sum += p->add[edge[i]];
	printf("%" PRId64 " = %" PRId64, sum, p->start[begin]);
	for (uint32_t i = 0; i < n; i++)
		if (p->add[edge[i]])
			printf("%+" PRId64, p->add[edge[i]]);
	printf(": ");
}

static void
print_paths(const struct graph_file *f, const struct paths *p)
{
	uint32_t *edge = pool_array(f->pool, f->g->nvert, sizeof *edge), n, begin, cuts = 0;

	for (uint32_t e = 0; e < f->edge.n; e++)
		cuts += p->dag->cut[e];
	printf("%" PRIu64 " paths, %u cut edges, %u probes beside them\n\n", p->n, cuts, p->probes->n);
	graph_print_values(f, p->dag, p->val, p->probes);
	printf("\npaths\n");
	for (uint64_t i = 0; i < p->n && i < LISTED; i++) {
		begin = paths_edges(p, i, edge, &n);
		printf("  ");
		graph_print_sum(p->probes, begin, edge, n);
		graph_print_path(p->dag, begin, edge, n);
	}
	if (p->n > LISTED)
		printf("  and %" PRIu64 " more\n", p->n - LISTED);
}

bool
graph_paths(const struct graph_file *f, uint64_t limit)
{
	struct dag *d = study_dag(f, limit);
	const char *why;
	struct paths *p;

	if (!d)
		return false;
	p = paths_number(d, &why);
	if (p)
		print_paths(f, p);
	else
		say_error(f->path, "%s", why);
	return p;
}
