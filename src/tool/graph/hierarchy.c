/* SPDX-License-Identifier: MIT */
/* chord graph --hierarchy: what has to be counted for a profile of vertices, of edges, or a trace (Ball & Larus 1994,
 * section 3); chord graph --clock: for a software instruction counter (Mellor-Crummey & LeBlanc 1989). */
#include "tool/graph/graph.h"
#include "tool/table.h"

#include <inttypes.h>

static void
print_counters(const struct graph *g, const struct study_problem *p)
{
	const char *comma = "  ";

	for (uint32_t v = 0; p->vertex && v < g->nvert; v++)
		if (p->vertex[v]) {
			printf("%s%s", comma, graph_name(g, v));
			comma = ", ";
		}
	for (uint32_t e = 0; p->edge && e < g->nedge; e++)
		if (p->edge[e]) {
			printf("%s%s -> %s", comma, graph_name(g, g->edge[e].from), graph_name(g, g->edge[e].to));
			comma = ", ";
		}
}

static void
print_problems(const struct study_hierarchy *h)
{
	static const struct column columns[] = {
		{"what is wanted, by what", -28, 0}, {"counters", 8, 0}, {"cost", 8, 0},
	};
	struct table table = TABLE(columns);

	table_head(&table);
	for (uint32_t i = 0; i < h->n; i++) {
		table_text(&table, h->problem[i].what);
		table_printf(&table, "%u", h->problem[i].counters);
		table_printf(&table, "%.7g", h->problem[i].cost);
		print_counters(h->f->g, &h->problem[i]);
		table_end(&table);
	}
}

static bool
print_counts(const struct graph_file *f)
{
	uint64_t *count = pool_array(f->pool, f->g->nvert, sizeof *count);

	if (!study_vertex_counts(f, count))
		return false;
	printf("\ncounts of vertices\n");
	for (uint32_t v = 0; v < f->g->nvert; v++)
		printf("  %s %" PRIu64 "\n", graph_name(f->g, v), count[v]);
	return true;
}

bool
graph_hierarchy(const struct graph_file *f)
{
	struct study_hierarchy h;

	if (f->source_line) {
		error_at(f->path, f->source_line, "--hierarchy has no activations that leave early");
		return false;
	}
	if (!study_hierarchy(&h, f))
		return false;
	print_problems(&h);
	return !f->counted || print_counts(f);
}

bool
graph_clock(const struct graph_file *f)
{
	struct study_hierarchy h;

	if (f->source_line) {
		error_at(f->path, f->source_line, "--clock has no activations that leave early");
		return false;
	}
	if (!study_clock(&h, f))
		return false;
	print_problems(&h);
	return true;
}
