/* SPDX-License-Identifier: MIT */
/* Selective path profiling: code for the paths of interest only (Apiwattanapong & Harrold 2002, section 3, made sound:
 * graph/spp.c). The sums of paths of interest are dense from 0; other paths are not counted among them. */
#include "weave/internal.h"

#include <string.h>

struct choice {
	const struct unit *u;
	struct woven *w;
	const struct selection *in;
	const struct selection_proc *chosen;
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
	const struct selection_proc *other;

	c->chosen = place_find(c->u, c->w, c->in, &other);
	return c->chosen || !other || other_build(c, other->line, "its code is not that of the file");
}

/* Cuts exactly the edges that the file names or, if it has no paths of the procedure, those that must be cut. False: the file does
 * not fit. */
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
		cuts[e] = c->w->proc->arc_text.at[e].twice;
	c->dag = dag_new(g, order_dfs(g), c->w->weight, cuts, 0, &why);
	if (!c->dag)
		return refuse(c, why);
	if (c->chosen && c->chosen->npath && memcmp(c->dag->cut, cuts, c->w->proc->arcs.n * sizeof *cuts))
		return other_build(c, c->chosen->line, "other edges are cut");
	return true;
}

/* If the file says how often edges ran, these numbers price the code on them; -fchord-weights= has precedence. */
static bool
weigh(const struct choice *c)
{
	const struct selection_proc *p = c->chosen;

	if (p && p->nran && p->nran != c->w->proc->arcs.n)
		return other_build(c, p->line, "it has another number of edges");
	if (p && p->nran && !c->w->before)
		c->w->before = p;
	place_weights(c->u, c->w);
	return true;
}

static uint32_t
begin_of(const struct choice *c, const struct selection_path *p)
{
	return p->n && p->edge[0] < c->w->proc->arcs.n ? c->dag->g->edge[p->edge[0]].from : GRAPH_NONE;
}

static bool
mark_edges(struct choice *c)
{
	c->ei = pool_array(c->u->pool, c->dag->graph->nedge, sizeof *c->ei);
	for (uint32_t i = 0; i < c->chosen->npath; i++) {
		const struct selection_path *p = &c->chosen->path[i];
		uint32_t begin = begin_of(c, p);

		if (begin == GRAPH_NONE || !spp_add(c->dag, c->ei, begin, p->edge, p->n))
			return other_build(c, p->line, "this is none of its paths");
	}
	return true;
}

/* By vertex: no activation can end in the block. */
static bool *
without_calls(const struct choice *c)
{
	const struct woven *w = c->w;
	bool *sure = pool_array(c->u->pool, w->proc->graph->nvert, sizeof *sure);

	for (uint32_t b = 0; b < w->proc->blocks.n; b++) {
		sure[b] = true;
		for (uint32_t i = w->proc->block_text.at[b].first; i < w->proc->block_text.at[b].last; i++) {
			const struct insn *in = woven_insn(w, b, i);

			sure[b] &= !insn_is_call(in) && in->cls != CHORD_INSN_SYSCALL;
		}
	}
	return sure;
}

static void
take_code(const struct choice *c, const struct spp_code *s)
{
	struct woven_paths *x = c->w->paths;

	x->paths->n = s->size;
	x->paths->val = s->val;
	x->paths->probes = s->probes;
	x->act = s->act;
	x->ninterest = c->chosen->npath;
	x->interest = pool_array(c->u->pool, x->ninterest, sizeof *x->interest);
	for (uint32_t i = 0; i < x->ninterest; i++) {
		const struct selection_path *p = &c->chosen->path[i];

		x->interest[i] = (uint64_t)dag_sum(c->dag, s->val, begin_of(c, p), p->edge, p->n);
	}
}

/* Paths are recorded at their end or, if that is cheaper on the whole, before it. */
static bool
number(struct choice *c)
{
	const bool *sure[] = {NULL, without_calls(c)};
	const struct spp_code *best = NULL;
	const char *why = NULL;
	double least = 0;

	if (!mark_edges(c))
		return false;
	for (int i = 0; i < 2; i++) {
		const struct spp_code *s = spp_weave(c->dag, c->ei, sure[i], &why);
		double price;

		if (!s || s->n > SELECTION_MOST)
			return refuse(c, s ? "its paths of interest share edges with too many other paths" : why);
		take_code(c, s);
		price = plan_paths(c->u, c->w);
		if (best && price >= least)
			continue;
		best = s;
		least = price;
	}
	take_code(c, best);
	return true;
}

/* No path is of interest: there is no code. */
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
	x->act = pool_array(c->u->pool, g->nedge, sizeof *x->act);
	x->paths->val = pool_array(c->u->pool, g->nedge, sizeof *x->paths->val);
	x->paths->probes = r;
}

bool
select_paths(const struct unit *u, struct woven *w, const struct selection *interest)
{
	struct choice c = {.u = u, .w = w, .in = interest};

	if (!find_chosen(&c) || !weigh(&c) || !cut(&c))
		return false;
	if (w->proc->reason)
		return true;
	w->paths->paths = pool_alloc(u->pool, sizeof *w->paths->paths);
	w->paths->paths->dag = c.dag;
	w->paths->selected = true;
	if (c.chosen && c.chosen->npath)
		return number(&c);
	none(&c);
	return true;
}

void
select_refused(const struct unit *u, const struct woven *w, const struct selection *interest)
{
	const struct selection_proc *other, *p = place_find(u, w, interest, &other);

	if (p && p->npath)
		say_warning(w->proc->name, "none of its paths is counted: %s (%s:%u)", w->proc->reason, interest->file, p->line);
}
