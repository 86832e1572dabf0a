/* SPDX-License-Identifier: MIT */
/* chord graph --spp: selective path profiling of the paths that the file names. */
#include "tool/graph/graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* At most so many paths are compared with those of interest. */
enum { COMPARED = 100000 };

/* Prints other paths that have the sum of a path of interest. */
static void
print_collisions(const struct study_selection *s)
{
	uint32_t *edge = pool_array(s->f->pool, s->f->g->nvert, sizeof *edge), n;
	const char *why;
	struct paths *p = paths_number(s->d, &why);
	uint64_t found = 0;

	if (!p || p->n > COMPARED) {
		printf("\ntoo many paths to compare\n");
		return;
	}
	for (uint64_t i = 0; i < p->n; i++) {
		uint32_t begin = paths_edges(p, i, edge, &n);
		int64_t sum = dag_sum(s->d, s->val, begin, edge, n);

		for (size_t k = 0; k < s->f->path_of_interest.n; k++) {
			if (s->chosen[k].sum != sum || study_is_path(&s->chosen[k], begin, edge, n))
				continue;
			printf("%s  WRONG: %" PRId64 " is the sum of ", found++ ? "" : "\n", sum);
			graph_print_path(s->d, begin, edge, n);
		}
	}
	printf("\n%" PRIu64 " paths in all, %s\n", p->n, found ? "some that have a sum of interest" :
	       "no other with a sum of interest");
}

static void
print_selection(struct study_selection *s)
{
	printf("%zu paths of interest, %u probes\n\n", s->f->path_of_interest.n, s->probes->n);
	graph_print_values(s->f, s->d, s->val, s->probes);
	printf("\npaths of interest\n");
	for (size_t i = 0; i < s->f->path_of_interest.n; i++) {
		const struct study_path *c = &s->chosen[i];

		printf("  ");
		graph_print_sum(s->probes, c->begin, c->edge, c->n);
		graph_print_path(s->d, c->begin, c->edge, c->n);
	}
	if (s->dense)
		printf("  less than %" PRIu64 ": of edges of interest only\n", s->dense);
	print_collisions(s);
}

/* ---- the code that is woven in ---- */

static void
print_act(const struct graph *g, uint32_t e, const struct path_act *a)
{
	char where[64];

	snprintf(where, sizeof where, "%.20s -> %.20s", graph_name(g, g->edge[e].from), graph_name(g, g->edge[e].to));
	printf("  %-16s ", where);
	if (a->record == PATH_RECORD_KNOWN)
		printf(" count %" PRId64, a->sum);
	if (a->record == PATH_RECORD_HELD)
		printf(" count r%+" PRId64, a->sum);
	if (a->next == PATH_SET)
		printf(" r = %" PRId64, a->n);
	else if (a->next == PATH_ADD && a->n)
		printf(" r %+" PRId64, a->n);
	putchar('\n');
}

static bool
print_code(const struct study_selection *s)
{
	const struct graph *g = s->f->g;
	const char *why;
	struct spp_code *c = spp_weave(s->d, s->ei, NULL, &why);

	if (!c) {
		say_error(s->f->path, "%s", why);
		return false;
	}
	printf("\ncode that is woven in, with %u probes: paths of interest are counted below %" PRIu64 ", others below %" PRIu64
	       " or not at all\n", c->probes->n, c->n, c->size);
	if (!c->probes->known[g->root])
		printf("  begin at %-7s  r = %" PRId64 "\n", graph_name(g, g->root), c->probes->start[g->root]);
	for (uint32_t e = 0; e < s->f->edge.n; e++)
		if (c->act[e].record || c->act[e].next == PATH_SET || (c->act[e].next == PATH_ADD && c->act[e].n))
			print_act(g, e, &c->act[e]);
	for (size_t i = 0; i < s->f->path_of_interest.n; i++) {
		printf("  counts %" PRId64 ": ", study_counted_as(c, &s->chosen[i]));
		graph_print_path(s->d, s->chosen[i].begin, s->chosen[i].edge, s->chosen[i].n);
	}
	return true;
}

bool
graph_spp(const struct graph_file *f, bool printed)
{
	struct study_selection s;

	if (!study_select(&s, f, printed))
		return false;
	print_selection(&s);
	return printed || print_code(&s);
}
