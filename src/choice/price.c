/* SPDX-License-Identifier: MIT */
/* The code needed to tell paths of interest apart. */
#include "choice/choice.h"

/* Finds the edges of a part's paths in a procedure. Returns the number of these paths. */
static size_t
edges_of(const struct choices *c, size_t proc, const uint32_t *part, uint32_t number, const struct dag *d, bool *ei)
{
	const struct choice *of = &c->of[proc];
	const struct proc *p = c->report.proc.at[proc].proc;
	size_t n = 0;

	for (size_t k = 0; k < of->path.n; k++) {
		const struct chosen *path = &of->path.at[k];

		if (part && part[k] != number)
			continue;
		spp_add(d, ei, p->arc[path->edge[0]].from, path->edge, path->n);
		n++;
	}
	return n;
}

struct spp_code *
choice_code(struct pool *pool, const struct choices *c, size_t proc, const uint32_t *part, uint32_t number, double *w, size_t *n)
{
	struct dag d = *c->report.proc.at[proc].graph->dag;
	struct graph g = *d.graph, plain = *d.g;
	bool *ei = pool_array(pool, g.nedge, sizeof *ei);
	struct spp_code *code = NULL;
	const char *why;

	g.pool = plain.pool = pool;
	d.graph = &g;
	d.g = &plain;
	d.w = w ? w : d.w;
	*n = edges_of(c, proc, part, number, &d, ei);
	if (*n)
		code = spp_weave(&d, ei, NULL, &why);
	return code && code->n <= SELECTION_MOST ? code : NULL;
}
