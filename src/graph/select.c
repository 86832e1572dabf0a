/* SPDX-License-Identifier: MIT */
/* What to weave for paths of interest only: code on their edges, and where other paths come back to these edges.
 *
 * Edges of interest (EI) and pure paths are as in spp.c: all paths of interest are pure. A vertex is on if an edge in EI leads to
 * it or from it. Pure paths have the numbers 0 .. N-1, as Ball and Larus give them in the graph of EI alone: sums of values of
 * edges in EI. The register holds the sum so far at vertices that are on, and nowhere else. The rules are:
 *
 * - An edge not in EI that leads to a vertex that is on makes the sum N, whatever it was. So does the beginning of a path at such
 *   a vertex, if no path of EI begins there. An edge not in EI between two vertices that are on may add N instead, if the potential
 *   leaves it nothing to add.
 * - A path that ends with an edge not in EI is not recorded.
 *
 * Proof that no other recorded path has the sum of a pure path. Sums of pure paths are their numbers. Let q be another path, and e
 * the last of its edges not in EI (there is one; it may be the edge from root where q begins). q is recorded, so its last edge is
 * in EI, and the vertex after e is on. There the sum was made N, or N was added. Values are not negative, so the sum is at least N
 * when q is recorded.
 *
 * Early records. From a vertex of a tail only one path leads on, to the end; its edges are in EI, and control is sure to
 * go it. A path is recorded on the edge in EI that leads into a tail, with the values of the rest, and not at its end. Other paths
 * that come into the tail there are no longer of interest, and nothing is held in a tail. If paths of interest part for the last
 * time before a tail, they are often known there.
 *
 * So an edge that leaves EI costs nothing. An edge that comes back costs one instruction, or nothing if other edges run more often.
 * In the graph of EI a potential moves values to where they are cheapest, as for all paths. An edge not in EI on which nothing can
 * stand is taken into EI if it leads to a vertex that is on; this makes some more pure paths. */
#include "graph/graph.h"

#include <string.h>

/* There may be so many sums, or twice as many as pure paths. */
enum { ROOM = 4096 };

struct select {
	const struct dag *d;
	const struct graph *g;   /* the DAG */
	bool *ei, *on;
	double *w;
	int64_t *val, *num;      /* by edge: values; by vertex: pure paths to EXIT */
	bool *tail;              /* by vertex */
	bool *joins;             /* by edge: not in EI, adds N and needs no code for it */
	bool over;
};

static bool
never_runs(const struct select *s, uint32_t e)
{
	return e == s->d->close || s->g->edge[e].phantom;
}

/* Can no code be put on the edge? */
static bool
is_fixed(const struct select *s, uint32_t e)
{
	return s->g->edge[e].fixed && !never_runs(s, e);
}

/* ---- which vertices are on ---- */

static void
mark_on(struct select *s)
{
	for (uint32_t e = 0; e < s->g->nedge; e++)
		if (s->ei[e])
			s->on[s->g->edge[e].from] = s->on[s->g->edge[e].to] = true;
}

/* Takes fixed edges into EI that come back to a vertex that is on. False: there is none. */
static bool
take_fixed(struct select *s)
{
	bool any = false;

	for (uint32_t e = 0; e < s->g->nedge; e++) {
		const struct edge *d = &s->g->edge[e];

		if (is_fixed(s, e) && !s->ei[e] && d->to != s->g->exit && s->on[d->to])
			any = s->ei[e] = s->on[d->from] = true;
	}
	return any;
}

/* ---- tails ---- */

/* The only edge out of v that may run, or GRAPH_NONE. */
static uint32_t
only_way(const struct select *s, uint32_t v)
{
	uint32_t only = GRAPH_NONE;

	for (uint32_t i = s->g->out_at[v]; i < s->g->out_at[v + 1]; i++) {
		if (never_runs(s, s->g->out[i]))
			continue;
		if (only != GRAPH_NONE)
			return GRAPH_NONE;
		only = s->g->out[i];
	}
	return only;
}

/* Can a record stand on all edges in EI that lead to v? Where paths begin there may be no such edge, so the answer is no. */
static bool
is_entered(const struct select *s, uint32_t v)
{
	if (v == s->g->root || s->d->begin[v] != GRAPH_NONE)
		return false;
	for (uint32_t i = s->g->in_at[v]; i < s->g->in_at[v + 1]; i++)
		if (s->ei[s->g->in[i]] && is_fixed(s, s->g->in[i]))
			return false;
	return true;
}

static void
find_tails(struct select *s, const bool *sure)
{
	for (uint32_t i = 0; i < s->g->nvert; i++) {
		uint32_t v = s->d->up[i], e = s->on[v] && sure[v] ? only_way(s, v) : GRAPH_NONE;

		s->tail[v] = e != GRAPH_NONE && s->ei[e] && is_entered(s, v) &&
		             (s->g->edge[e].to == s->g->exit || s->tail[s->g->edge[e].to]);
		for (uint32_t k = s->g->in_at[v]; k < s->g->in_at[v + 1] && s->tail[v]; k++)
			s->w[s->g->in[k]] = 0;
	}
}

/* What a path adds in the tail from v on. */
static int64_t
rest(const struct select *s, const struct probes *p, uint32_t v)
{
	int64_t n = 0;

	while (v != s->g->exit) {
		uint32_t e = only_way(s, v);

		n += p->add[e];
		v = s->g->edge[e].to;
	}
	return n;
}

/* ---- numbers ---- */

static void
number_from(struct select *s, uint32_t v)
{
	uint32_t first = GRAPH_NONE;
	int64_t n = v == s->g->exit;

	for (uint32_t i = s->g->out_at[v]; i < s->g->out_at[v + 1]; i++) {
		uint32_t e = s->g->out[i];

		if (s->ei[e] && (first == GRAPH_NONE || s->w[e] > s->w[first]))
			first = e;
	}
	if (first != GRAPH_NONE)
		n = s->num[s->g->edge[first].to];
	for (uint32_t i = s->g->out_at[v]; i < s->g->out_at[v + 1]; i++) {
		uint32_t e = s->g->out[i];

		if (!s->ei[e] || e == first)
			continue;
		s->val[e] = n;
		s->over |= __builtin_add_overflow(n, s->num[s->g->edge[e].to], &n);
	}
	s->num[v] = n;
}

static void
number(struct select *s)
{
	for (uint32_t i = 0; i < s->g->nvert; i++)
		number_from(s, s->d->up[i]);
}

/* Values for readers, who add them up: each edge that leaves EI has N, which is above all numbers. */
static int64_t *
values(const struct select *s)
{
	int64_t *val = pool_array(s->g->pool, s->g->nedge, sizeof *val);

	for (uint32_t e = 0; e < s->g->nedge; e++)
		val[e] = s->ei[e] ? s->val[e] : e != s->d->close && s->on[s->g->edge[e].from] ? s->num[s->g->root] : 0;
	return val;
}

/* ---- where values stand ---- */

static bool
may_join(const struct select *s, uint32_t e)
{
	const struct edge *d = &s->g->edge[e];

	return e < s->d->g->nedge && !s->ei[e] && !never_runs(s, e) && d->to != s->g->exit && s->on[d->from] && s->on[d->to] &&
	       !s->tail[d->from] && !s->tail[d->to];
}

/* The potential of a spanning tree of greatest price among the edges in EI and those that may join. Other edges do not matter. */
static int64_t *
potential(struct select *s, bool join, const char **why)
{
	struct dag of = *s->d;
	struct graph *plain = pool_alloc(s->g->pool, sizeof *plain);

	for (uint32_t e = 0; e < s->g->nedge; e++)
		if (!s->ei[e]) {
			s->w[e] = join && may_join(s, e) ? s->d->w[e] : 0;
			s->val[e] = join && may_join(s, e) ? s->num[s->g->root] : 0;
		}
	*plain = *s->g;
	plain->edge = pool_array(plain->pool, plain->nedge, sizeof *plain->edge);
	for (uint32_t e = 0; e < plain->nedge; e++) {
		plain->edge[e] = s->g->edge[e];
		plain->edge[e].fixed &= s->ei[e] || never_runs(s, e);
	}
	of.graph = plain;
	of.w = s->w;
	return dag_potential(&of, s->val, why);
}

static bool
leads_off(const struct select *s, uint32_t v)
{
	uint32_t b = s->d->begin[v];

	if (b != GRAPH_NONE && !s->ei[b])
		return true;
	for (uint32_t i = s->g->in_at[v]; i < s->g->in_at[v + 1]; i++)
		if (s->g->in[i] < s->d->g->nedge && !s->ei[s->g->in[i]] && !never_runs(s, s->g->in[i]) && !s->joins[s->g->in[i]])
			return true;
	return false;
}

static void
know(const struct select *s, struct probes *p, uint32_t v)
{
	int64_t off = s->num[s->g->root] - p->query[v];
	bool seen = false;

	if (!s->on[v] || s->tail[v] || leads_off(s, v))
		probes_meet(p, v, true, off, &seen);
	if (v == s->g->root || (s->d->begin[v] != GRAPH_NONE && s->ei[s->d->begin[v]]))
		probes_meet(p, v, true, p->start[v], &seen);
	for (uint32_t i = s->g->in_at[v]; i < s->g->in_at[v + 1] && !s->tail[v]; i++) {
		uint32_t e = s->g->in[i], u = s->g->edge[e].from;

		if (e < s->d->g->nedge && (s->ei[e] || s->joins[e]))
			probes_meet(p, v, p->known[u], p->value[u] + p->add[e], &seen);
	}
	if (!seen) /* never runs */
		p->known[v] = true;
}

/* Nothing can be set on a fixed edge, so the sum is set before it. */
static void
hold(const struct select *s, struct probes *p, uint32_t u)
{
	for (uint32_t i = s->g->out_at[u]; i < s->g->out_at[u + 1]; i++) {
		uint32_t e = s->g->out[i], to = s->g->edge[e].to;

		if (s->ei[e] && is_fixed(s, e) && to != s->g->exit && !p->known[to])
			p->known[u] = false;
	}
}

static void
find_known(const struct select *s, struct probes *p)
{
	for (uint32_t i = s->g->nvert; i-- > 0;)
		know(s, p, s->d->up[i]);
	for (uint32_t i = 0; i < s->g->nvert; i++)
		hold(s, p, s->d->up[i]);
}

/* A path that begins at v, where no path of EI begins, has the sum N from there on. */
static void
start_off(const struct select *s, struct probes *p)
{
	for (uint32_t v = 0; v < s->g->nvert; v++)
		if (s->d->begin[v] != GRAPH_NONE && !s->ei[s->d->begin[v]])
			p->start[v] = s->num[s->g->root] - p->query[v];
}

static bool
fixed_adds(const struct select *s, const struct probes *p)
{
	for (uint32_t e = 0; e < s->d->g->nedge; e++)
		if (s->ei[e] && is_fixed(s, e) && p->add[e])
			return true;
	return false;
}

static struct probes *
place(struct select *s, bool join, const char **why)
{
	int64_t *phi = potential(s, join, why);
	struct probes *p = phi ? dag_probes(s->d, s->val, phi) : NULL;

	if (!p || fixed_adds(s, p)) {
		*why = phi ? "the sums of its paths do not fit 64 bits" : *why;
		return NULL;
	}
	for (uint32_t e = 0; e < s->g->nedge; e++)
		s->joins[e] = join && may_join(s, e) && !p->add[e];
	start_off(s, p);
	find_known(s, p);
	return p;
}

/* ---- code ---- */

/* A path that is known not to be pure is not recorded. */
static void
record_on(const struct select *s, const struct probes *p, uint32_t e, struct path_act *a)
{
	uint32_t u = s->g->edge[e].from, v = s->g->edge[e].to;
	bool known = p->known[u];

	if (!s->ei[e] || s->tail[u])
		return;
	a->sum = p->add[e] + rest(s, p, v) + (known ? p->value[u] : 0);
	if (!known || a->sum < s->num[s->g->root])
		a->record = known ? PATH_RECORD_KNOWN : PATH_RECORD_HELD;
}

static struct path_act
act_on(const struct select *s, const struct probes *p, uint32_t e)
{
	const struct edge *d = &s->d->g->edge[e];
	int64_t n = s->num[s->g->root];
	bool known = p->known[d->from];
	struct path_act a = {0};

	if (s->g->edge[e].to == s->g->exit || s->tail[d->to])
		record_on(s, p, e, &a);
	if (s->d->cut[e]) {
		a.n = p->start[d->to];
		a.next = p->known[d->to] ? PATH_NOTHING : PATH_SET;
	} else if (d->to != s->g->exit && !p->known[d->to]) {
		bool off = !s->ei[e] && !s->joins[e];

		a.next = known || off ? PATH_SET : PATH_ADD;
		a.n = off ? n - p->query[d->to] : p->add[e] + (known ? p->value[d->from] : 0);
	}
	return a;
}

/* Counts the edges at which the register is changed and no path ends. */
static void
count_probes(const struct select *s, struct spp_code *c)
{
	c->probes->n = 0;
	c->probes->cost = 0;
	for (uint32_t e = 0; e < s->d->g->nedge; e++) {
		const struct path_act *a = &c->act[e];

		if (s->g->edge[e].to == s->g->exit || !(a->next == PATH_SET || (a->next == PATH_ADD && a->n)))
			continue;
		c->probes->n++;
		c->probes->cost += s->d->w[e];
	}
}

/* The largest of the sums with which paths reach the end of an edge; -1: there is none. most: the same, by vertex. */
static int64_t
most_on(const struct select *s, const int64_t *most, uint32_t e)
{
	uint32_t u = s->g->edge[e].from;
	int64_t n = s->num[s->g->root];

	if (never_runs(s, e) || !s->on[s->g->edge[e].to])
		return -1;
	if (s->ei[e] || s->joins[e])
		return most[u] < 0 ? -1 : most[u] + s->val[e];
	return s->g->edge[e].to == s->g->exit ? -1 : n;
}

/* All sums that are recorded are less than this. UINT64_MAX: there are too many. */
static uint64_t
sums(const struct select *s)
{
	struct pool *tmp = pool_new();
	int64_t *most = pool_array(tmp, s->g->nvert, sizeof *most), n = s->num[s->g->root], top;

	for (uint32_t i = s->g->nvert; i-- > 0;) {
		uint32_t v = s->d->up[i];

		most[v] = v == s->g->root ? 0 : -1;
		for (uint32_t k = s->g->in_at[v]; k < s->g->in_at[v + 1]; k++) {
			int64_t here = most_on(s, most, s->g->in[k]);

			most[v] = here > most[v] ? here : most[v];
		}
		if (most[v] > INT64_MAX / 4)
			most[v] = INT64_MAX / 4;
	}
	top = most[s->g->exit] + 1;
	pool_free(tmp);
	return top < INT64_MAX / 4 ? (uint64_t)(top > n ? top : n) : UINT64_MAX;
}

static struct select
select_new(const struct dag *d, const bool *ei, const bool *sure)
{
	const struct graph *g = d->graph;
	struct select s = {.d = d, .g = g};

	s.ei = pool_array(g->pool, g->nedge, sizeof *s.ei);
	s.on = pool_array(g->pool, g->nvert, sizeof *s.on);
	s.val = pool_array(g->pool, g->nedge, sizeof *s.val);
	s.num = pool_array(g->pool, g->nvert, sizeof *s.num);
	s.w = pool_array(g->pool, g->nedge, sizeof *s.w);
	s.tail = pool_array(g->pool, g->nvert, sizeof *s.tail);
	s.joins = pool_array(g->pool, g->nedge, sizeof *s.joins);
	for (uint32_t e = 0; e < g->nedge; e++)
		s.ei[e] = ei[e] && e != d->close;
	mark_on(&s);
	while (take_fixed(&s))
		;
	for (uint32_t e = 0; e < g->nedge; e++)
		s.w[e] = s.ei[e] ? d->w[e] : 0;
	if (sure)
		find_tails(&s, sure);
	return s;
}

struct spp_code *
spp_weave(const struct dag *d, const bool *ei, const bool *sure, const char **why)
{
	struct select s = select_new(d, ei, sure);
	struct spp_code *c = pool_alloc(d->graph->pool, sizeof *c);

	number(&s);
	if (s.over || s.num[d->graph->root] > INT64_MAX / 4) {
		*why = "the sums of its paths do not fit 64 bits";
		return NULL;
	}
	c->n = (uint64_t)s.num[d->graph->root];
	c->probes = place(&s, true, why);
	if (c->probes && sums(&s) > (2 * c->n > ROOM ? 2 * c->n : ROOM))
		c->probes = place(&s, false, why);
	if (!c->probes)
		return NULL;
	c->val = values(&s);
	c->size = sums(&s);
	c->act = pool_array(d->graph->pool, d->g->nedge, sizeof *c->act);
	for (uint32_t e = 0; e < d->g->nedge; e++)
		if (!never_runs(&s, e))
			c->act[e] = act_on(&s, c->probes, e);
	count_probes(&s, c);
	return c;
}
