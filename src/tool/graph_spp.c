/* SPDX-License-Identifier: MIT */
/* chord graph --spp: selective path profiling of the paths that the file has. */
#include "tool/graph_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* As many paths are compared with those of interest. */
enum { COMPARED = 100000 };

/* A path of interest. */
struct chosen {
	uint32_t begin, n, *edge;
	int64_t sum;
};

struct selection {
	const struct graph_file *f;
	struct dag *d;
	bool *ei;                /* by edge of the DAG */
	struct chosen *chosen;   /* by path in the file */
	int64_t *val;
	struct probes *probes;
	uint64_t dense;
};

/* ---- paths of interest ---- */

static uint32_t
first_edge(const struct graph *g, uint32_t from, uint32_t to)
{
	for (uint32_t i = g->out_at[from]; i < g->out_at[from + 1]; i++)
		if (g->edge[g->out[i]].to == to && g->out[i] != g->close && !g->edge[g->out[i]].phantom)
			return g->out[i];
	return GRAPH_NONE;
}

static bool
choose(struct selection *s, const struct file_path *path, struct chosen *c)
{
	const struct graph *g = s->f->g;

	c->begin = path->vertex[0];
	c->edge = pool_array(s->f->pool, path->n, sizeof *c->edge);
	for (uint32_t i = 0; i + 1 < path->n; i++) {
		uint32_t e = first_edge(g, path->vertex[i], path->vertex[i + 1]);

		if (e == GRAPH_NONE) {
			error_at(s->f->path, path->line, "no edge leads from %.40s to %.40s", graph_name(g, path->vertex[i]),
			         graph_name(g, path->vertex[i + 1]));
			return false;
		}
		c->edge[c->n++] = e;
	}
	if (spp_add(s->d, s->ei, c->begin, c->edge, c->n))
		return true;
	error_at(s->f->path, path->line, "a path leads from the root, or behind an edge that was cut, to the exit or "
	         "along a cut edge");
	return false;
}

static bool
choose_all(struct selection *s)
{
	const struct graph_file *f = s->f;

	s->ei = pool_array(f->pool, s->d->graph->nedge, sizeof *s->ei);
	s->chosen = pool_array(f->pool, f->path_of_interest.n, sizeof *s->chosen);
	for (size_t i = 0; i < f->path_of_interest.n; i++)
		if (!choose(s, &f->path_of_interest.at[i], &s->chosen[i]))
			return false;
	if (!f->path_of_interest.n)
		say_error(f->path, "it has no path of interest");
	return f->path_of_interest.n;
}

/* ---- values ---- */

/* As they are: the potential 0. */
static bool
place_printed(struct selection *s)
{
	int64_t *phi = pool_array(s->f->pool, s->f->g->nvert, sizeof *phi);

	s->val = spp_printed(s->d, s->ei, SPP_PHASE2 | SPP_PHASE3);
	s->probes = s->val ? dag_probes(s->d, s->val, phi) : NULL;
	if (!s->probes)
		say_error(s->f->path, "the number of its paths does not fit 64 bits");
	return s->probes;
}

static bool
place_sound(struct selection *s)
{
	const char *why;
	/* All paths with the sum of one of interest are told apart; what is woven in has less code, see print_code(). */
	struct spp *spp = spp_place(s->d, s->ei, false, &why);

	if (!spp) {
		say_error(s->f->path, "%s", why);
		return false;
	}
	s->val = spp->val;
	s->probes = spp->probes;
	s->dense = spp->dense;
	return true;
}

/* ---- comparing ---- */

static bool
same_path(const struct chosen *c, uint32_t begin, const uint32_t *edge, uint32_t n)
{
	return c->begin == begin && c->n == n && !memcmp(c->edge, edge, n * sizeof *edge);
}

/* Other paths with the sum of one of interest. */
static void
print_collisions(const struct selection *s)
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
			if (s->chosen[k].sum != sum || same_path(&s->chosen[k], begin, edge, n))
				continue;
			printf("%s  WRONG: %" PRId64 " is the sum of ", found++ ? "" : "\n", sum);
			graph_print_path(s->d, begin, edge, n);
		}
	}
	printf("\n%" PRIu64 " paths in all, %s\n", p->n, found ? "some that have a sum of interest" :
	       "no other with a sum of interest");
}

static void
print_selection(struct selection *s)
{
	printf("%zu paths of interest, %u probes\n\n  %-16s %10s %10s\n", s->f->path_of_interest.n, s->probes->n, "", "Val",
	       "adds");
	graph_print_values(s->f, s->d, s->val, s->probes);
	printf("\npaths of interest\n");
	for (size_t i = 0; i < s->f->path_of_interest.n; i++) {
		struct chosen *c = &s->chosen[i];

		c->sum = dag_sum(s->d, s->val, c->begin, c->edge, c->n);
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

/* What a path of interest is counted as by the code on its edges. */
static int64_t
counted_as(const struct spp_code *c, const struct chosen *path)
{
	int64_t r = c->probes->start[path->begin], cell = -1;

	for (uint32_t i = 0; i < path->n; i++) {
		const struct path_act *a = &c->act[path->edge[i]];

		if (a->record)
			cell = a->sum + (a->record == PATH_RECORD_HELD ? r : 0);
		r = a->next == PATH_SET ? a->n : r + a->n;
	}
	return cell;
}

static bool
print_code(const struct selection *s)
{
	const struct graph *g = s->f->g;
	const char *why;
	struct spp_code *c = spp_weave(s->d, s->ei, NULL, &why);

	if (!c) {
		say_error(s->f->path, "%s", why);
		return false;
	}
	printf("\ncode that is woven in: paths of interest are counted below %" PRIu64 ", others below %" PRIu64 " or not at all\n",
	       c->n, c->size);
	if (!c->probes->known[g->root])
		printf("  begin at %-7s  r = %" PRId64 "\n", graph_name(g, g->root), c->probes->start[g->root]);
	for (uint32_t e = 0; e < s->f->edge.n; e++)
		if (c->act[e].record || c->act[e].next == PATH_SET || (c->act[e].next == PATH_ADD && c->act[e].n))
			print_act(g, e, &c->act[e]);
	for (size_t i = 0; i < s->f->path_of_interest.n; i++) {
		printf("  counts %" PRId64 ": ", counted_as(c, &s->chosen[i]));
		graph_print_path(s->d, s->chosen[i].begin, s->chosen[i].edge, s->chosen[i].n);
	}
	return true;
}

bool
graph_spp(const struct graph_file *f, bool printed)
{
	struct selection s = {.f = f, .d = graph_file_dag(f, 0)};

	if (!s.d || !choose_all(&s) || !(printed ? place_printed(&s) : place_sound(&s)))
		return false;
	print_selection(&s);
	return printed || print_code(&s);
}
