/* SPDX-License-Identifier: MIT */
/* Enumerates the paths through a procedure. */
#include "choice/choice.h"

#include <string.h>

struct ways {
	const struct path_graph *pg;
	uint32_t nstate;
	path_step_fn *step;
	path_each_fn *each;
	void *ctx;
	uint64_t *num;           /* by vertex, and by the state before it: the number of ways from there to the last state */
	uint32_t *edge;
};

static bool
is_real(const struct path_graph *pg, uint32_t e)
{
	return e != pg->dag->close && (e < pg->proc->narc || e >= pg->dag->g->nedge);
}

static uint64_t
count_from(struct ways *w, uint32_t v, uint32_t k)
{
	const struct graph *g = w->pg->dag->graph;
	uint32_t after = w->step ? w->step(w->ctx, v, k) : 0;
	uint64_t n = 0;

	if (v == g->exit)
		return k == w->nstate - 1;
	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
		if (is_real(w->pg, g->out[i]))
			n = saturating_add(n, w->num[(size_t)g->edge[g->out[i]].to * w->nstate + after]);
	return n;
}

struct at {
	uint32_t v, k, after, next, n; /* n: number of edges before it */
	uint64_t sum;
};

/* Visits only vertices from which some way leads to the last state. */
static void
visit(struct ways *w, struct at *stack)
{
	const struct graph *g = w->pg->dag->graph;
	uint32_t depth = 1;

	stack[0] = (struct at){.v = g->root, .next = g->out_at[g->root], .after = w->step ? w->step(w->ctx, g->root, 0) : 0};
	while (depth) {
		struct at *a = &stack[depth - 1], b;
		uint32_t e;

		if (a->v == g->exit)
			w->each(w->ctx, a->sum, w->edge, a->n);
		if (a->v == g->exit || a->next == g->out_at[a->v + 1]) {
			depth--;
			continue;
		}
		e = g->out[a->next++];
		b = (struct at){.v = g->edge[e].to, .k = a->after, .n = a->n, .sum = a->sum + (uint64_t)w->pg->val[e]};
		if (!is_real(w->pg, e) || !w->num[(size_t)b.v * w->nstate + b.k])
			continue;
		b.after = w->step ? w->step(w->ctx, b.v, b.k) : 0;
		b.next = g->out_at[b.v];
		if (e < w->pg->dag->g->nedge)
			w->edge[b.n++] = e;
		stack[depth++] = b;
	}
}

uint64_t
paths_walk(const struct path_graph *pg, uint32_t nstate, path_step_fn *step, path_each_fn *each, void *ctx, uint64_t most)
{
	struct pool *pool = pool_new();
	const struct graph *g = pg->dag->graph;
	struct ways w = {.pg = pg, .nstate = nstate, .step = step, .each = each, .ctx = ctx};
	uint64_t n;

	w.num = pool_array(pool, (size_t)g->nvert * nstate, sizeof *w.num);
	w.edge = pool_array(pool, g->nvert, sizeof *w.edge);
	for (uint32_t i = 0; i < g->nvert; i++)
		for (uint32_t k = 0; k < nstate; k++)
			w.num[(size_t)pg->dag->up[i] * nstate + k] = count_from(&w, pg->dag->up[i], k);
	n = w.num[(size_t)g->root * nstate];
	if (n && n <= most && each)
		visit(&w, pool_array(pool, (size_t)g->nvert + 1, sizeof(struct at)));
	pool_free(pool);
	return n;
}
