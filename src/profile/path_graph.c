/* SPDX-License-Identifier: MIT */
/* The paths of a procedure, as its map numbers them: finds the edges of a sum. */
#include "profile/internal.h"

#include <stdlib.h>
#include <string.h>

/* A search gives up after this many steps. For sums that the reader has checked it needs one step for each edge. */
enum { STEPS = 1 << 20 };

/* ---- the DAG ---- */

static struct graph *
graph_of(struct pool *pool, const struct proc *p)
{
	struct graph *g = graph_new(pool, p->nvert, PROC_ENTRY(p), PROC_EXIT(p));

	for (uint32_t i = 0; i < p->narc; i++) {
		if (i == p->close)
			graph_close(g);
		else
			graph_edge(g, p->arc[i].from, p->arc[i].to);
	}
	graph_complete(g);
	return g;
}

static struct dag *
dag_of(const struct graph *g, const bool *cut, const char **why)
{
	double *w = pool_array(g->pool, g->nedge, sizeof *w);
	struct order *o = dag_order(g, cut);

	for (uint32_t e = 0; e < g->nedge; e++) {
		w[e] = 1;
		if (o->back[e])
			*why = "paths that go round in a loop";
	}
	return *why ? NULL : dag_new(g, o, w, cut, 0, why);
}

/* ---- sums of partial paths ---- */

/* By vertex: the range of sums of the ways from there to a target. */
struct reach {
	bool *any;
	int64_t *low, *high;
};

bool
path_real(const struct path_graph *pg, uint32_t e)
{
	return e != pg->dag->close && (e < pg->proc->narc || e >= pg->dag->g->nedge);
}

/* The range of sums of the ways that begin with edge e. False: there are none, or they do not fit. */
static bool
ways(const struct path_graph *pg, const struct reach *r, uint32_t e, int64_t *low, int64_t *high)
{
	uint32_t to = pg->dag->graph->edge[e].to;

	return path_real(pg, e) && r->any[to] && !__builtin_add_overflow(pg->val[e], r->low[to], low) &&
	       !__builtin_add_overflow(pg->val[e], r->high[to], high);
}

static void
reach_vertex(const struct path_graph *pg, struct reach *r, uint32_t v)
{
	const struct graph *g = pg->dag->graph;
	int64_t low, high;

	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++) {
		if (!ways(pg, r, g->out[i], &low, &high))
			continue;
		r->low[v] = !r->any[v] || low < r->low[v] ? low : r->low[v];
		r->high[v] = !r->any[v] || high > r->high[v] ? high : r->high[v];
		r->any[v] = true;
	}
}

static struct reach
reach_new(struct pool *pool, const struct path_graph *pg, uint32_t target)
{
	uint32_t n = pg->dag->g->nvert;
	struct reach r = {pool_array(pool, n, sizeof *r.any), pool_array(pool, n, sizeof *r.low),
		pool_array(pool, n, sizeof *r.high)};

	r.any[target] = true;
	for (uint32_t i = 0; i < n; i++)
		if (pg->dag->up[i] != target)
			reach_vertex(pg, &r, pg->dag->up[i]);
	return r;
}

static bool
fits(const struct path_graph *pg, const struct reach *r)
{
	int64_t sum;

	for (uint32_t e = 0; e < pg->dag->graph->nedge; e++) {
		uint32_t to = pg->dag->graph->edge[e].to;

		if (path_real(pg, e) && r->any[to] && (__builtin_add_overflow(pg->val[e], r->low[to], &sum) ||
		                                       __builtin_add_overflow(pg->val[e], r->high[to], &sum)))
			return false;
	}
	return true;
}

struct range {
	int64_t low, high;
};

static int
by_low(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/* Are the ranges of sums of the out-edges of each vertex disjoint? Then no two paths have the same sum. */
static bool
apart(struct pool *pool, const struct path_graph *pg, const struct reach *r)
{
	const struct graph *g = pg->dag->graph;
	struct range *range = pool_array(pool, g->nedge, sizeof *range);

	for (uint32_t v = 0; v < g->nvert; v++) {
		size_t n = 0;

		for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
			n += ways(pg, r, g->out[i], &range[n].low, &range[n].high);
		qsort(range, n, sizeof *range, by_low);
		for (size_t i = 1; i < n; i++)
			if (range[i].low <= range[i - 1].high)
				return false;
	}
	return true;
}

static void
count_paths(struct path_graph *pg)
{
	const struct graph *g = pg->dag->graph;

	pg->num = pool_array(pg->pool, g->nvert, sizeof *pg->num);
	pg->num[g->exit] = 1;
	for (uint32_t k = 0; k < g->nvert; k++) {
		uint32_t v = pg->dag->up[k];

		for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
			if (path_real(pg, g->out[i]))
				pg->num[v] = saturating_add(pg->num[v], pg->num[g->edge[g->out[i]].to]);
	}
	pg->npath = pg->num[g->root];
}

static void
take_values(struct path_graph *pg, const struct proc_paths *pp)
{
	const struct dag *d = pg->dag;
	uint32_t n = pg->proc->narc;

	pg->val = pool_array(pg->pool, d->graph->nedge, sizeof *pg->val);
	memcpy(pg->val, pp->val, n * sizeof *pg->val);
	for (uint32_t v = 0; v < d->g->nvert; v++)
		if (d->begin[v] != GRAPH_NONE)
			pg->val[d->begin[v]] = pp->val[n++];
}

struct path_graph *
path_graph_new(struct pool *pool, const struct proc *p, const char **why)
{
	struct path_graph *pg = pool_alloc(pool, sizeof *pg);
	struct graph *g = graph_of(pool, p);
	bool *cut = pool_array(pool, g->nedge, sizeof *cut);
	struct reach r;

	*why = NULL;
	memcpy(cut, p->paths->cut, p->narc * sizeof *cut);
	pg->pool = pool;
	pg->proc = p;
	pg->dag = dag_of(g, cut, why);
	if (!pg->dag)
		return NULL;
	pg->nbegin = pg->dag->graph->nedge - g->nedge;
	if (p->paths->nval != p->narc + pg->nbegin) {
		*why = "another number of values than edges of its paths";
		return NULL;
	}
	take_values(pg, p->paths);
	r = reach_new(pool, pg, g->exit);
	pg->any = r.any;
	pg->low = r.low;
	pg->high = r.high;
	count_paths(pg);
	return pg;
}

const struct outcomes *
path_outcomes(const struct path_graph *pg)
{
	bool *soft = pool_array(pg->pool, pg->dag->g->nedge, sizeof *soft);

	memcpy(soft, pg->proc->paths->soft, pg->proc->narc * sizeof *soft);
	return outcomes_new(pg->dag, soft, pg->val);
}

const char *
path_graph_check(struct pool *pool, const struct path_graph *pg)
{
	const struct proc_paths *pp = pg->proc->paths;
	struct reach r = {pg->any, pg->low, pg->high};
	uint32_t root = pg->dag->g->root;

	if (!fits(pg, &r))
		return "sums of paths that do not fit 64 bits";
	if (!pg->any[root])
		return NULL;
	if (pg->low[root] < 0)
		return "a path with a sum below 0";
	if (pp->kind == CHORD_PATH_SELECTED)
		return NULL;
	if (pp->kind != CHORD_PATH_HASHED && (uint64_t)pg->high[root] >= pp->size)
		return "a path with a sum behind its table";
	return apart(pool, pg, &r) ? NULL : "two paths with one sum";
}

static uint64_t
longest_from_root(const struct path_graph *pg, const uint64_t *cost)
{
	const struct graph *g = pg->dag->graph;
	uint64_t *most = pool_array(pg->pool, g->nvert, sizeof *most);

	for (uint32_t k = 0; k < g->nvert; k++) {
		uint32_t v = pg->dag->up[k];

		for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++) {
			uint64_t rest = path_real(pg, g->out[i]) ? most[g->edge[g->out[i]].to] : 0;

			most[v] = rest > most[v] ? rest : most[v];
		}
		most[v] = saturating_add(most[v], v < pg->proc->nblock ? cost[v] : 0);
	}
	return most[g->root];
}

uint64_t
paths_longest(const struct proc *p, const uint64_t *cost)
{
	struct pool *pool = pool_new();
	const char *why;
	struct path_graph *pg = p->paths && !paths_are_followed(p->paths) ? path_graph_new(pool, p, &why) : NULL;
	uint64_t longest = pg ? longest_from_root(pg, cost) : 0;

	for (uint32_t i = 0; p->paths && i < p->narc; i++)
		if (p->paths->soft[i])
			longest = COUNT_NO_BOUND;
	for (uint32_t v = 0; v < p->nblock && !pg; v++)
		longest = saturating_add(longest, cost[v]);
	pool_free(pool);
	return longest;
}

/* ---- from sums to edges ---- */

struct path_step {
	uint32_t v, next;        /* the vertex; the next of its out-edges to try */
	uint32_t edge;           /* the edge that leads to it */
	int64_t rest;            /* the rest of the sum from there on */
};

/* A search for ways from the root. Where sums do not determine the way, all are tried one after the other. */
struct search {
	const struct path_graph *pg;
	const struct reach *reach;
	uint32_t target;
	struct path_step *step;
	uint32_t n;
};

static bool
descend(struct search *s)
{
	const struct graph *g = s->pg->dag->graph;
	struct path_step *at = &s->step[s->n - 1];
	int64_t low, high;

	while (at->next < g->out_at[at->v + 1]) {
		uint32_t e = g->out[at->next++];

		if (!ways(s->pg, s->reach, e, &low, &high) || at->rest < low || at->rest > high)
			continue;
		s->step[s->n++] = (struct path_step){g->edge[e].to, g->out_at[g->edge[e].to], e, at->rest - s->pg->val[e]};
		return true;
	}
	return false;
}

/* Goes on to the next way with the sum. */
static bool
next_way(struct search *s)
{
	for (uint32_t steps = 0; s->n && steps < STEPS; steps++) {
		struct path_step *at = &s->step[s->n - 1];
		bool there = at->v == s->target;

		if (there || !descend(s))
			s->n--;
		else if (s->step[s->n - 1].v == s->target && !s->step[s->n - 1].rest)
			return true;
	}
	return false;
}

static void
copy_way(const struct search *s, struct path *path)
{
	const struct dag *d = s->pg->dag;

	path->n = 0;
	path->begin = d->g->root;
	path->end = s->target;
	for (uint32_t i = 1; i < s->n; i++) {
		if (s->step[i].edge < d->g->nedge)
			path->edge[path->n++] = s->step[i].edge;
		else
			path->begin = s->step[i].v;
	}
}

/* Finds the only way with the sum; `once`: it is known to be the only one. */
static bool
find_way(const struct path_graph *pg, const struct reach *r, uint32_t target, int64_t total, bool once, struct path *path)
{
	const struct graph *g = pg->dag->graph;
	struct search s = {.pg = pg, .reach = r, .target = target, .step = path->step, .n = 1};
	bool found;

	s.step[0] = (struct path_step){g->root, g->out_at[g->root], GRAPH_NONE, total};
	if (target == g->root) {
		copy_way(&s, path);
		found = !total;
	} else if ((found = r->any[g->root] && next_way(&s))) {
		copy_way(&s, path);
		found = once || !next_way(&s);
	}
	return found;
}

bool
path_find(const struct path_graph *pg, uint64_t total, struct path *path)
{
	struct reach r = {pg->any, pg->low, pg->high};

	return total <= INT64_MAX &&
	       find_way(pg, &r, pg->dag->g->exit, (int64_t)total, pg->proc->paths->kind != CHORD_PATH_SELECTED, path);
}

bool
path_prefix(const struct path_graph *pg, uint32_t v, int64_t total, struct path *path)
{
	struct pool *pool = pool_new();
	struct reach r = reach_new(pool, pg, v);
	bool found = find_way(pg, &r, v, total, false, path);

	pool_free(pool);
	return found;
}

struct path
path_new(struct pool *pool, const struct path_graph *pg)
{
	uint32_t n = pg->dag->g->nvert;

	return (struct path){.edge = pool_array(pool, n, sizeof(uint32_t)),
	                     .step = pool_array(pool, (size_t)n + 1, sizeof(struct path_step))};
}
