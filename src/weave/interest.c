/* SPDX-License-Identifier: MIT */
/* Selective path profiling: code for the paths of interest only (Apiwattanapong & Harrold 2002, section 3, made sound:
 * graph/spp.c). Sums of interest are dense from 0; a path that is not of interest is not counted among them. */
#include "weave/internal.h"

#include <string.h>

/* Sums become addresses, eight bytes each: these must not wrap around. */
static const int64_t MOST_SUM = (int64_t)1 << 56;
enum { MOST_COUNTERS = 1 << 20 };
/* Up to so many counters the table has room for the sums of all paths, so that they need not be told apart. */
enum { ROOM = 4096 };

struct choice {
	const struct unit *u;
	struct woven *w;
	const struct interest *in;
	const struct interest_proc *chosen;
	struct dag *dag;
	bool *ei;                /* by edge of the DAG: a path of interest has it */
};

static bool
other_build(const struct choice *c, unsigned line, const char *what)
{
	error_at(c->in->file, line, "%s: %s; the file is of another build", c->w->proc->name, what);
	return false;
}

static bool
refuse(const struct choice *c, const char *why)
{
	c->w->proc->reason = why;
	return true;
}

/* False: the file has paths of another graph. */
static bool
find_chosen(struct choice *c)
{
	const struct interest_proc *other = NULL;
	struct buf graph = {0};

	map_graph(&graph, c->w);
	c->chosen = interest_find(c->in, c->w->proc->name, c->u->text->source, interest_hash(&graph), &other);
	buf_free(&graph);
	return c->chosen || !other || other_build(c, other->line, "its code is not that of the file");
}

/* Cuts exactly what the file says, or where it has no paths what must be. False: it does not fit. */
static bool
cut(struct choice *c)
{
	struct graph *g = c->w->proc->graph;
	bool *cuts = pool_array(c->u->pool, g->nedge, sizeof *cuts);
	const char *why = NULL;

	for (uint32_t i = 0; c->chosen && i < c->chosen->ncut; i++) {
		if (c->chosen->cut[i] >= c->w->proc->arcs.n)
			return other_build(c, c->chosen->line, "an edge that it does not have is cut");
		cuts[c->chosen->cut[i]] = true;
	}
	for (uint32_t e = 0; !c->chosen && e < c->w->proc->arcs.n; e++)
		cuts[e] = c->w->proc->arcs.at[e].twice;
	c->dag = dag_new(g, order_dfs(g), c->w->weight, cuts, 0, &why);
	if (!c->dag)
		return refuse(c, why);
	if (c->chosen && c->chosen->npath && memcmp(c->dag->cut, cuts, c->w->proc->arcs.n * sizeof *cuts))
		return other_build(c, c->chosen->line, "other edges are cut");
	return true;
}

static uint32_t
begin_of(const struct choice *c, const struct interest_path *p)
{
	return p->n && p->edge[0] < c->w->proc->arcs.n ? c->dag->g->edge[p->edge[0]].from : GRAPH_NONE;
}

static bool
mark_edges(struct choice *c)
{
	c->ei = pool_array(c->u->pool, c->dag->graph->nedge, sizeof *c->ei);
	for (uint32_t i = 0; i < c->chosen->npath; i++) {
		const struct interest_path *p = &c->chosen->path[i];
		uint32_t begin = begin_of(c, p);

		if (begin == GRAPH_NONE || !spp_add(c->dag, c->ei, begin, p->edge, p->n))
			return other_build(c, p->line, "this is none of its paths");
	}
	return true;
}

/* ---- what has to be done where ---- */

/* Paths that end with an edge: does any have to be counted, and may others have sums beyond the table? *size: of
 * the table. */
static bool
find_ends(struct choice *c, const struct spp *s, uint64_t *size)
{
	const struct graph *g = c->dag->graph;
	int64_t *most = pool_array(c->u->pool, g->nvert, sizeof *most);
	struct woven_paths *x = c->w->paths;

	for (uint32_t i = g->nvert; i-- > 0;) {
		uint32_t v = c->dag->up[i];

		for (uint32_t k = g->in_at[v]; k < g->in_at[v + 1]; k++) {
			uint32_t e = g->in[k];
			int64_t sum = most[g->edge[e].from] + s->val[e];

			if (e == c->dag->close)
				continue;
			if (s->val[e] > MOST_SUM || sum > MOST_SUM)
				return false;
			most[v] = sum > most[v] ? sum : most[v];
			if (e >= c->w->proc->graph->nedge || v != g->exit)
				continue;
			x->passed[e] = !c->ei[e];
			x->checked[e] = sum >= (int64_t)s->dense;
			if (c->ei[e] && sum >= (int64_t)*size)
				*size = (uint64_t)sum + 1;
		}
	}
	if (*size <= ROOM)
		memset(x->checked, 0, g->nedge * sizeof *x->checked);
	else
		*size = s->dense;
	return true;
}

/* Where no path of interest can end any more, the register need not be held. */
static void
forget(const struct choice *c, struct probes *r)
{
	const struct graph *g = c->dag->graph;
	bool *needed = pool_array(c->u->pool, g->nvert, sizeof *needed);

	for (uint32_t i = 0; i < g->nvert; i++) {
		uint32_t v = c->dag->up[i];

		for (uint32_t k = g->out_at[v]; k < g->out_at[v + 1]; k++) {
			uint32_t e = g->out[k];
			bool ends = g->edge[e].to == g->exit;

			needed[v] |= e != c->dag->close && (ends ? c->ei[e] : needed[g->edge[e].to]);
		}
		if (!needed[v])
			r->known[v] = true;
	}
}

static bool
number(struct choice *c)
{
	struct woven_paths *x = c->w->paths;
	const char *why = NULL;
	struct spp *s;

	if (!mark_edges(c))
		return false;
	s = spp_place(c->dag, c->ei, true, &why);
	if (!s)
		return refuse(c, why);
	x->paths->n = s->dense;
	if (s->dense > MOST_COUNTERS || !find_ends(c, s, &x->paths->n))
		return refuse(c, "too many paths of interest");
	forget(c, s->probes);
	x->paths->val = s->val;
	x->paths->probes = s->probes;
	x->ninterest = c->chosen->npath;
	x->interest = pool_array(c->u->pool, x->ninterest, sizeof *x->interest);
	for (uint32_t i = 0; i < x->ninterest; i++) {
		const struct interest_path *p = &c->chosen->path[i];

		x->interest[i] = (uint64_t)dag_sum(c->dag, s->val, begin_of(c, p), p->edge, p->n);
	}
	return true;
}

/* Nothing of it is of interest: it has no code. */
static void
none(struct choice *c)
{
	struct woven_paths *x = c->w->paths;
	const struct graph *g = c->dag->graph;
	struct probes *r = pool_alloc(c->u->pool, sizeof *r);

	r->add = pool_array(c->u->pool, g->nedge, sizeof *r->add);
	r->start = pool_array(c->u->pool, g->nvert, sizeof *r->start);
	r->query = pool_array(c->u->pool, g->nvert, sizeof *r->query);
	r->value = pool_array(c->u->pool, g->nvert, sizeof *r->value);
	r->known = pool_array(c->u->pool, g->nvert, sizeof *r->known);
	memset(r->known, true, g->nvert * sizeof *r->known);
	memset(x->passed, true, g->nedge * sizeof *x->passed);
	x->paths->val = pool_array(c->u->pool, g->nedge, sizeof *x->paths->val);
	x->paths->probes = r;
}

bool
select_paths(const struct unit *u, struct woven *w, const struct interest *interest)
{
	struct choice c = {.u = u, .w = w, .in = interest};

	if (!find_chosen(&c) || !cut(&c))
		return false;
	if (w->proc->reason)
		return true;
	w->paths->paths = pool_alloc(u->pool, sizeof *w->paths->paths);
	w->paths->paths->dag = c.dag;
	w->paths->passed = pool_array(u->pool, c.dag->graph->nedge, sizeof *w->paths->passed);
	w->paths->checked = pool_array(u->pool, c.dag->graph->nedge, sizeof *w->paths->checked);
	if (c.chosen && c.chosen->npath)
		return number(&c);
	none(&c);
	return true;
}
