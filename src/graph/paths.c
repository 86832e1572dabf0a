/* SPDX-License-Identifier: MIT */
/* Acyclic paths: the DAG, the numbers of its paths, and the paths of numbers (Apiwattanapong & Harrold 2002, section 2, after Ball
 * & Larus 1996).
 *
 * It differs from the papers in three points. First, a cut edge keeps a dummy edge to EXIT of its own: with one for each source,
 * paths that leave a vertex by different back edges would be one. Second, dummy edges and edges into EXIT are free, because a path
 * has to be recorded or the register set there anyway. So the spanning tree leaves them to be chords. Third, the closing edge need
 * not be in the tree: its increment is a constant that every path has, the register's first value. */
#include "graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which edges to cut ---- */

struct cutter {
	const struct graph *g;
	const uint32_t *up;
	const double *w;
	bool *cut;
	uint64_t limit;
	uint64_t *num;
	bool *head;
	uint32_t *may, nmay;     /* edges that may be cut, coldest first */
	bool *never;             /* by edge: it is none of these */
};

static uint64_t
num_paths(struct cutter *c, uint32_t v)
{
	const struct graph *g = c->g;
	uint64_t n = v == g->exit;

	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++) {
		uint32_t e = g->out[i];

		if (e != g->close)
			n = saturating_add(n, c->cut[e] ? 1 : c->num[g->edge[e].to]);
	}
	return n;
}

/* The number of paths of the DAG that these cuts would make; UINT64_MAX: too many. */
static uint64_t
all_paths(struct cutter *c)
{
	const struct graph *g = c->g;
	uint64_t n;

	memset(c->head, 0, g->nvert * sizeof *c->head);
	for (uint32_t e = 0; e < g->nedge; e++)
		if (c->cut[e])
			c->head[g->edge[e].to] = true;
	for (uint32_t i = 0; i < g->nvert; i++)
		c->num[c->up[i]] = num_paths(c, c->up[i]);
	n = c->num[g->root];
	for (uint32_t v = 0; v < g->nvert; v++)
		if (c->head[v] && v != g->root)
			n = saturating_add(n, c->num[v]);
	return n;
}

static bool
fits(struct cutter *c)
{
	return all_paths(c) <= c->limit;
}

static int
colder(const void *pa, const void *pb, void *weights)
{
	const double *w = weights;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	if (w[a] < w[b] || w[a] > w[b])
		return w[a] < w[b] ? -1 : 1;
	return (a > b) - (a < b);
}

/* Does only one edge lead to this one, and could that edge be cut as well? Then it would be in vain to cut both. */
static bool
follows_one(const struct graph *g, uint32_t e)
{
	uint32_t u = g->edge[e].from;

	return u != g->root && g->in_at[u + 1] - g->in_at[u] == 1 && g->out_at[u + 1] - g->out_at[u] == 1 &&
	       !g->edge[g->in[g->in_at[u]]].fixed;
}

static void
find_candidates(struct cutter *c, struct pool *tmp)
{
	const struct graph *g = c->g;
	double *w = pool_array(tmp, g->nedge, sizeof *w);

	c->may = pool_array(tmp, g->nedge, sizeof *c->may);
	c->never = pool_array(tmp, g->nedge, sizeof *c->never);
	for (uint32_t e = 0; e < g->nedge; e++) {
		w[e] = c->w[e] * g->edge[e].cost;
		c->never[e] = c->cut[e] || g->edge[e].fixed || g->edge[e].to == g->exit || follows_one(g, e);
		if (!c->never[e])
			c->may[c->nmay++] = e;
	}
	qsort_r(c->may, c->nmay, sizeof *c->may, colder, w);
}

static void
set(struct cutter *c, uint32_t from, uint32_t to, bool cut)
{
	for (uint32_t i = from; i < to; i++)
		c->cut[c->may[i]] = cut;
}

/* Cuts the fewest of the coldest edges that are enough. False: all of them are not enough. */
static bool
cut_coldest(struct cutter *c)
{
	uint32_t low = 0, high = c->nmay;

	set(c, 0, c->nmay, true);
	if (!fits(c))
		return false;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		set(c, low, middle, true);
		set(c, middle, high, false);
		if (fits(c))
			high = middle;
		else
			low = middle;
	}
	set(c, 0, high, true);
	set(c, high, c->nmay, false);
	return true;
}

/* Cuts all edges into each vertex at which more than `most` paths begin. */
static void
cut_walls(struct cutter *c, uint64_t most)
{
	const struct graph *g = c->g;

	set(c, 0, c->nmay, false);
	for (uint32_t i = 0; i < g->nvert; i++) {
		uint32_t v = c->up[i];

		c->num[v] = num_paths(c, v);
		for (uint32_t k = g->in_at[v]; k < g->in_at[v + 1] && c->num[v] > most; k++)
			c->cut[g->in[k]] |= !c->never[g->in[k]];
	}
}

static double
price(const struct cutter *c)
{
	double total = 0;

	for (uint32_t i = 0; i < c->nmay; i++)
		if (c->cut[c->may[i]])
			total += c->w[c->may[i]] * c->g->edge[c->may[i]].cost;
	return total;
}

/* Cuts the cheapest walls that are enough. False: none are. */
static bool
cut_cheapest_walls(struct cutter *c)
{
	double least = HUGE_VAL;
	uint64_t best = 0;

	for (uint64_t most = c->limit; most; most /= 2) {
		cut_walls(c, most);
		if (fits(c) && price(c) < least) {
			least = price(c);
			best = most;
		}
	}
	cut_walls(c, best ? best : c->limit);
	return best;
}

/* Joins edges [from, to) again, if there are not too many paths then. False: none of them was cut. */
static bool
join_block(struct cutter *c, uint32_t from, uint32_t to, bool *was)
{
	bool any = false;

	for (uint32_t i = from; i < to; i++)
		any |= was[i] = c->cut[c->may[i]];
	if (!any)
		return false;
	set(c, from, to, false);
	if (fits(c))
		return true;
	for (uint32_t i = from; i < to; i++)
		c->cut[c->may[i]] = was[i];
	return true;
}

/* Joins again the edges that need not be cut, the hottest first, in blocks that get smaller. At the end no edge by itself is cut in
 * vain. Work is bounded: in a graph of 2^20 edges few are tried. */
static void
join_again(struct cutter *c, struct pool *tmp)
{
	uint64_t tries = ((uint64_t)1 << 26) / c->g->nedge + 1;
	bool *was = pool_array(tmp, c->nmay, sizeof *was);

	for (uint32_t block = c->nmay / 2 + 1; block; block /= 2)
		for (uint32_t to = c->nmay; to && tries;) {
			uint32_t from = to > block ? to - block : 0;

			tries -= join_block(c, from, to, was);
			to = from;
		}
}

/* Makes one more choice of cuts, in addition to those that must be. False: it is not enough. */
static bool
cut_more(struct cutter *c, bool walls, struct pool *tmp)
{
	find_candidates(c, tmp);
	if (!(walls ? cut_cheapest_walls(c) : cut_coldest(c)))
		return false;
	join_again(c, tmp);
	return true;
}

/* ---- the DAG ---- */

/* The vertices, each after those that it leads to. EXIT comes first, because it leads nowhere; a search may have left other
 * vertices before it. */
static uint32_t *
bottom_up(const struct graph *g, const struct order *o)
{
	uint32_t *up = pool_array(g->pool, g->nvert, sizeof *up), n = 0;

	up[n++] = g->exit;
	for (uint32_t i = 0; i < o->nreached; i++)
		if (o->by_post[i] != g->exit)
			up[n++] = o->by_post[i];
	if (n != g->nvert)
		bug("%u of %u vertices are reached: the graph is not complete", n, g->nvert);
	return up;
}

static bool *
wanted_cuts(const struct graph *g, const struct order *o, const bool *cold, const char **why)
{
	bool *cut = pool_array(g->pool, g->nedge, sizeof *cut);

	for (uint32_t e = 0; e < g->nedge; e++) {
		const struct edge *d = &g->edge[e];

		if (e == g->close || d->phantom)
			continue;
		cut[e] = o->back[e] || (cold && cold[e] && d->to != g->exit);
		if (!cut[e] || !d->fixed)
			continue;
		*why = pool_printf(g->pool, "the edge %s -> %s %s and is fixed", graph_name(g, d->from),
		                   graph_name(g, d->to), o->back[e] ? "closes a loop" : "is to be cut");
		return NULL;
	}
	return cut;
}

static void
add_begin(struct dag *d, uint32_t v)
{
	if (v != d->g->root && d->begin[v] == GRAPH_NONE)
		d->begin[v] = graph_edge(d->graph, d->g->root, v);
}

static bool
is_free(const struct dag *d, uint32_t e)
{
	return e == d->close || d->graph->edge[e].phantom || d->graph->edge[e].to == d->graph->exit;
}

static void
build(struct dag *d, const double *w)
{
	const struct graph *g = d->g;

	d->graph = graph_new(g->pool, g->nvert, g->root, g->exit);
	d->graph->name = g->name;
	d->close = g->close;
	d->begin = pool_array(g->pool, g->nvert, sizeof *d->begin);
	memset(d->begin, 0xff, g->nvert * sizeof *d->begin);
	for (uint32_t e = 0; e < g->nedge; e++) {
		struct edge copy = g->edge[e];

		copy.to = d->cut[e] ? g->exit : copy.to;
		copy.fixed &= e != g->close;
		graph_edge(d->graph, copy.from, copy.to);
		d->graph->edge[e] = copy;
	}
	for (uint32_t e = 0; e < g->nedge; e++)
		if (d->cut[e])
			add_begin(d, g->edge[e].to);
	graph_index(d->graph);
	d->w = pool_array(g->pool, d->graph->nedge, sizeof *d->w);
	for (uint32_t e = 0; e < g->nedge; e++)
		d->w[e] = is_free(d, e) ? 0 : w[e] * g->edge[e].cost;
}

/* What counting a path costs, in additions. */
static const double RECORD = 3;

static double
running_cost(const struct dag *d, const double *w, double record)
{
	const char *why;
	struct paths *p = paths_number(d, &why);
	double cost = p ? p->probes->cost : 0;

	for (uint32_t e = 0; e < d->g->nedge; e++)
		cost += d->cut[e] ? record * w[e] * d->g->edge[e].cost : 0;
	return cost;
}

/* Cuts the graph in one of two ways, so that there are no more than `limit` paths. NULL: it fails. */
static struct dag *
cut_to(const struct dag *d, const double *w, uint64_t limit, bool walls)
{
	const struct graph *g = d->g;
	struct dag *more = pool_alloc(g->pool, sizeof *more);
	struct pool *tmp = pool_new();
	struct cutter c = {.g = g, .up = d->up, .w = w, .limit = limit};
	bool ok;

	*more = *d;
	c.cut = more->cut = pool_array(g->pool, g->nedge, sizeof *c.cut);
	memcpy(c.cut, d->cut, g->nedge * sizeof *c.cut);
	c.num = pool_array(tmp, g->nvert, sizeof *c.num);
	c.head = pool_array(tmp, g->nvert, sizeof *c.head);
	ok = fits(&c) || cut_more(&c, walls, tmp);
	pool_free(tmp);
	if (ok)
		build(more, w);
	return ok ? more : NULL;
}

/* Cold edges are the best cuts if there are enough of them, walls if all edges are warm. */
static struct dag *
keep_limit(const struct dag *d, const double *w, uint64_t limit, double record)
{
	struct dag *cold = cut_to(d, w, limit, false), *walls;

	if (cold && !memcmp(cold->cut, d->cut, d->g->nedge * sizeof *d->cut))
		return cold;
	walls = cut_to(d, w, limit, true);
	if (!cold || !walls)
		return cold ? cold : walls;
	return running_cost(walls, w, record) < running_cost(cold, w, record) ? walls : cold;
}

struct order *
dag_order(const struct graph *g, const bool *cut)
{
	struct graph *d = graph_new(g->pool, g->nvert, g->root, g->exit);

	for (uint32_t e = 0; e < g->nedge; e++) {
		if (e == g->close)
			graph_close(d);
		else
			graph_edge(d, g->edge[e].from, cut[e] ? g->exit : g->edge[e].to);
	}
	for (uint32_t e = 0; e < g->nedge; e++)
		if (cut[e])
			graph_edge(d, g->root, g->edge[e].to);
	graph_index(d);
	return order_dfs(d);
}

struct dag *
dag_new_priced(const struct graph *g, const struct order *o, const double *w, const bool *cold, uint64_t limit,
               double record, const char **why)
{
	struct dag *d = pool_alloc(g->pool, sizeof *d);

	d->g = g;
	d->up = bottom_up(g, o);
	d->cut = wanted_cuts(g, o, cold, why);
	if (!d->cut)
		return NULL;
	if (!limit) {
		build(d, w);
		return d;
	}
	d = keep_limit(d, w, limit, record);
	if (!d)
		*why = pool_printf(g->pool, "no cuts were found that leave %llu paths or less", (unsigned long long)limit);
	return d;
}

struct dag *
dag_new(const struct graph *g, const struct order *o, const double *w, const bool *cold, uint64_t limit,
        const char **why)
{
	return dag_new_priced(g, o, w, cold, limit, RECORD, why);
}

/* ---- what to weave ---- */

int64_t *
dag_potential(const struct dag *d, const int64_t *val, const char **why)
{
	struct graph *plain = pool_alloc(d->g->pool, sizeof *plain);
	struct events *ev;
	uint32_t bad;
	bool *tree;

	*plain = *d->graph;
	plain->edge = pool_array(plain->pool, plain->nedge, sizeof *plain->edge);
	memcpy(plain->edge, d->graph->edge, plain->nedge * sizeof *plain->edge);
	for (uint32_t e = 0; e < plain->nedge; e++)
		plain->edge[e].cost = 1; /* d->w has it */
	tree = span_max(plain, d->w, &bad);
	if (!tree) {
		*why = pool_printf(plain->pool, "the edge %s -> %s closes a cycle of fixed edges",
		                   graph_name(plain, plain->edge[bad].from), graph_name(plain, plain->edge[bad].to));
		return NULL;
	}
	ev = events_place(d->graph, tree, val, why);
	return ev ? ev->query : NULL;
}

void
probes_meet(struct probes *p, uint32_t v, bool known, int64_t value, bool *seen)
{
	if (!*seen)
		p->value[v] = value;
	p->known[v] = known && (!*seen || (p->known[v] && p->value[v] == value));
	*seen = true;
}

static void
know(const struct dag *d, struct probes *p, uint32_t v)
{
	const struct graph *g = d->g;
	bool seen = false;

	if (v == g->root || d->begin[v] != GRAPH_NONE)
		probes_meet(p, v, true, p->start[v], &seen);
	for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1]; i++) {
		uint32_t e = g->in[i], u = g->edge[e].from;

		if (e != d->close && !d->cut[e] && !g->edge[e].phantom)
			probes_meet(p, v, p->known[u], p->value[u] + p->add[e], &seen);
	}
	if (!seen) /* never runs */
		p->known[v] = true;
}

/* Nothing can be set on a fixed edge, so the sum is set before it. */
static void
hold(const struct dag *d, struct probes *p, uint32_t u)
{
	const struct graph *g = d->g;

	for (uint32_t i = g->out_at[u]; i < g->out_at[u + 1]; i++) {
		const struct edge *e = &g->edge[g->out[i]];

		if (e->to != g->exit && e->fixed && !e->phantom && !p->known[e->to])
			p->known[u] = false;
	}
}

static void
find_known(const struct dag *d, struct probes *p)
{
	for (uint32_t i = d->g->nvert; i-- > 0;)
		know(d, p, d->up[i]);
	for (uint32_t i = 0; i < d->g->nvert; i++)
		hold(d, p, d->up[i]);
}

static struct probes *
probes_new(const struct graph *g)
{
	struct probes *p = pool_alloc(g->pool, sizeof *p);

	p->start = pool_array(g->pool, g->nvert, sizeof *p->start);
	p->query = pool_array(g->pool, g->nvert, sizeof *p->query);
	p->value = pool_array(g->pool, g->nvert, sizeof *p->value);
	p->known = pool_array(g->pool, g->nvert, sizeof *p->known);
	return p;
}

/* The increments on a path sum to its value plus phi(root) - phi(EXIT). The closing edge makes up for these two. */
static bool
set_vertices(const struct dag *d, const int64_t *phi, struct probes *p)
{
	const struct graph *g = d->g;
	int64_t first = p->add[d->close];
	bool over = false;

	for (uint32_t v = 0; v < g->nvert; v++) {
		over |= __builtin_sub_overflow(phi[v], phi[g->exit], &p->query[v]);
		if (d->begin[v] != GRAPH_NONE)
			over |= __builtin_add_overflow(first, p->add[d->begin[v]], &p->start[v]);
	}
	p->start[g->root] = first;
	return !over;
}

struct probes *
dag_probes(const struct dag *d, const int64_t *val, const int64_t *phi)
{
	const struct graph *g = d->g;
	struct probes *p = probes_new(g);

	p->add = pool_array(g->pool, d->graph->nedge, sizeof *p->add);
	if (!events_increments(d->graph, val, phi, p->add) || !set_vertices(d, phi, p))
		return NULL;
	for (uint32_t e = 0; e < g->nedge; e++)
		if (!is_free(d, e) && p->add[e]) {
			p->n++;
			p->cost += d->w[e];
		}
	find_known(d, p);
	return p;
}

static struct path_act
act_on(const struct dag *d, const struct probes *p, uint32_t e)
{
	const struct edge *at = &d->g->edge[e];
	bool known = p->known[at->from];
	int64_t n = p->add[e] + (known ? p->value[at->from] : 0);
	struct path_act a = {0};

	if (d->cut[e] || at->to == d->g->exit) {
		a.record = known ? PATH_RECORD_KNOWN : PATH_RECORD_HELD;
		a.sum = n;
		a.next = at->to != d->g->exit && !p->known[at->to] ? PATH_SET : PATH_NOTHING;
		a.n = p->start[at->to];
	} else if (!p->known[at->to]) {
		a.next = known ? PATH_SET : PATH_ADD;
		a.n = n;
	}
	return a;
}

struct path_act *
dag_acts(const struct dag *d, const struct probes *p)
{
	struct path_act *act = pool_array(d->g->pool, d->g->nedge, sizeof *act);

	for (uint32_t e = 0; e < d->g->nedge; e++)
		if (e != d->close && !d->g->edge[e].phantom)
			act[e] = act_on(d, p, e);
	return act;
}

int64_t
dag_sum(const struct dag *d, const int64_t *val, uint32_t begin, const uint32_t *edge, uint32_t n)
{
	int64_t total = d->begin[begin] == GRAPH_NONE ? 0 : val[d->begin[begin]];

	for (uint32_t i = 0; i < n; i++)
		total += val[edge[i]];
	return total;
}

/* ---- numbers ---- */

static bool
number_vertex(struct paths *p, uint32_t v)
{
	const struct graph *g = p->dag->graph;

	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++) {
		uint32_t e = g->out[i];

		if (e == p->dag->close)
			continue;
		p->val[e] = (int64_t)p->num[v];
		p->num[v] += p->num[g->edge[e].to];
		if (p->num[v] > (uint64_t)1 << 32)
			return false;
	}
	return true;
}

struct paths *
paths_number(const struct dag *d, const char **why)
{
	const struct graph *g = d->graph;
	struct paths *p = pool_alloc(g->pool, sizeof *p);
	int64_t *phi;

	p->dag = d;
	p->num = pool_array(g->pool, g->nvert, sizeof *p->num);
	p->val = pool_array(g->pool, g->nedge, sizeof *p->val);
	p->num[g->exit] = 1;
	for (uint32_t i = 0; i < g->nvert; i++)
		if (!number_vertex(p, d->up[i])) {
			*why = "it has more than 2^32 paths";
			return NULL;
		}
	p->n = p->num[g->root];
	phi = dag_potential(d, p->val, why);
	if (!phi)
		return NULL;
	p->probes = dag_probes(d, p->val, phi);
	if (!p->probes)
		bug("2^32 paths of 2^32 edges, but some sum of theirs does not fit 64 bits");
	return p;
}

/* The edge out of v whose paths include the number. The first numbers of the edges ascend. */
static uint32_t
edge_for(const struct paths *p, uint32_t v, uint64_t number)
{
	const struct graph *g = p->dag->graph;
	uint32_t found = GRAPH_NONE;

	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
		if (g->out[i] != p->dag->close && (uint64_t)p->val[g->out[i]] <= number)
			found = g->out[i];
	return found;
}

uint32_t
paths_edges(const struct paths *p, uint64_t number, uint32_t *edge, uint32_t *n)
{
	const struct graph *g = p->dag->graph;
	uint32_t begin = g->root, v = g->root;

	if (number >= p->n)
		bug("path %llu of %llu", (unsigned long long)number, (unsigned long long)p->n);
	*n = 0;
	while (v != g->exit) {
		uint32_t e = edge_for(p, v, number);

		number -= (uint64_t)p->val[e];
		v = g->edge[e].to;
		if (e < p->dag->g->nedge)
			edge[(*n)++] = e;
		else
			begin = v;
	}
	return begin;
}

bool
dag_has(const struct dag *d, uint32_t begin, const uint32_t *edge, uint32_t n)
{
	const struct graph *g = d->graph;
	uint32_t v = begin;

	if (begin != g->root && d->begin[begin] == GRAPH_NONE)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (edge[i] == d->close || edge[i] >= d->g->nedge || g->edge[edge[i]].from != v)
			return false;
		v = g->edge[edge[i]].to;
	}
	return v == g->exit;
}

uint64_t
paths_find(const struct paths *p, uint32_t begin, const uint32_t *edge, uint32_t n)
{
	return dag_has(p->dag, begin, edge, n) ? (uint64_t)dag_sum(p->dag, p->val, begin, edge, n) : UINT64_MAX;
}
