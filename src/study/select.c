/* SPDX-License-Identifier: MIT */
/* Selective path profiling of the paths in a file. */
#include "study/study.h"

#include <string.h>

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
choose_path(struct study_selection *s, const struct file_path *path, struct study_path *c)
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
choose_all(struct study_selection *s)
{
	const struct graph_file *f = s->f;

	s->ei = pool_array(f->pool, s->d->graph->nedge, sizeof *s->ei);
	s->chosen = pool_array(f->pool, f->path_of_interest.n, sizeof *s->chosen);
	for (size_t i = 0; i < f->path_of_interest.n; i++)
		if (!choose_path(s, &f->path_of_interest.at[i], &s->chosen[i]))
			return false;
	if (!f->path_of_interest.n)
		say_error(f->path, "it has no path of interest");
	return f->path_of_interest.n;
}

/* ---- values ---- */

/* The values are placed as they are: the potential is 0. */
static bool
place_printed(struct study_selection *s)
{
	int64_t *phi = pool_array(s->f->pool, s->f->g->nvert, sizeof *phi);

	s->val = spp_printed(s->d, s->ei, SPP_PHASE2 | SPP_PHASE3);
	s->probes = s->val ? dag_probes(s->d, s->val, phi) : NULL;
	if (!s->probes)
		say_error(s->f->path, "the number of its paths does not fit 64 bits");
	return s->probes;
}

static bool
place_sound(struct study_selection *s)
{
	const char *why;
	/* All paths with the sum of a path of interest are told apart. The weaver needs less code, see `chord graph --spp`. */
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

bool
study_select(struct study_selection *s, const struct graph_file *f, bool printed)
{
	*s = (struct study_selection){.f = f, .d = study_dag(f, 0)};
	if (!s->d || !choose_all(s) || !(printed ? place_printed(s) : place_sound(s)))
		return false;
	for (size_t i = 0; i < f->path_of_interest.n; i++)
		s->chosen[i].sum = dag_sum(s->d, s->val, s->chosen[i].begin, s->chosen[i].edge, s->chosen[i].n);
	return true;
}

/* ---- results ---- */

bool
study_is_path(const struct study_path *c, uint32_t begin, const uint32_t *edge, uint32_t n)
{
	return c->begin == begin && c->n == n && !memcmp(c->edge, edge, n * sizeof *edge);
}

/* The number under which the code on a path's edges counts the path of interest. */
int64_t
study_counted_as(const struct spp_code *c, const struct study_path *path)
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
