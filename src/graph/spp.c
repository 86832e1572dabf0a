/* SPDX-License-Identifier: MIT */
/* Selective path profiling (Apiwattanapong & Harrold 2002), made sound.
 *
 * The edges of all paths of interest are edges of interest, EI. A path is pure if it has only such edges; all paths of interest are
 * pure. A vertex with an edge in EI lies on a path of interest, and so does root. Wanted are values of edges such that a pure path
 * from root to EXIT has a sum that no other path has. Values are never negative.
 *
 * What is wrong with Fig. 4 as printed. Phase 1 gives the edges out of a vertex such values that the sums after them lie in
 * disjoint intervals. Phase 2 moves a value from the only edge into a vertex to the edges out of it. Phase 3 clears the value again
 * on those of them that are not in EI. So an interval is shifted for some of its paths only. Smallest case: 0->4, 0->3, 3->4, 3->5,
 * 4->5, of interest 0-3-5 and 0-4-5; at the end 0-4-5 and 0-3-4-5 have one sum (if 0->4 is visited before 0->3: the order is left
 * open). Here no values are made that have to be cleared. What moves values about afterwards is a potential: Val(e) + phi(u) -
 * phi(v) on e = u -> v changes all sums by the same constant. (Phase 2 without phase 3 is a potential, too.) There are three ways
 * to choose values, and the cheapest is taken.
 *
 * Dense. Pure paths are numbered 0 .. N-1 as by Ball and Larus in the graph of EI alone. An edge leaves EI if it is not in EI but
 * its source has an edge in EI: such an edge has the value N. All others have 0.
 *   Proof. Pure paths have different numbers, all less than N. A path that is not pure begins at
 *   root; let e be its first edge not in EI. The source of e is root or the end of an edge in EI,
 *   and some path of interest goes on from there. So e has the value N, and the sum is at least N.
 *
 * Intervals. Let Max(v) be the largest sum of any path from v to EXIT. The edges out of v are in classes: all that are not in EI
 * together, and each edge in EI. The sums of a class of value 0 lie in [0, the largest Max after it]. Classes get values in some
 * order, each the smallest above all sums of those before. So the sums of different classes are different (*). At a vertex without
 * edges in EI all have 0.
 *   Proof that a pure path p from v has a sum unlike any other path q from v: by induction on the
 *   DAG from EXIT, where there is one path. If p and q begin with the same edge, their rests have
 *   different sums, and the same value is added to both. If not, their first edges are of different
 *   classes, since that of p is in EI and thus a class by itself, and (*) holds.
 *
 * With NumPaths in the place of Max + 1 this is the paper's phase 1, with one difference: the class that is first in order, which
 * needs no probes, is here the one with the most weight, and in the paper that of the edges not in EI.
 *
 * Sparse. Some edges are seen; the others are silent and have 0. Let x be root, or the end of a seen edge in EI. Let y be EXIT, or
 * the source of a seen edge in EI. Enough edges are seen if, for all x and y, a pure silent path from x to y is the only silent
 * path from x to y. Seen edges in EI have such values that a sum tells them apart: bits. A path has at most one of the edges from
 * root where paths begin, and of those into EXIT: these have numbers in fields of bits. Seen edges not in EI have 2^top, above all
 * these.
 *   Proof. Let p be pure and let q have its sum. That sum is below 2^top, so all seen edges of q are
 *   in EI, and are those of p, in the order that the DAG has. From root to the first of them, from
 *   each to the next, and from the last to EXIT, both p and q go silently, and p purely. So they go
 *   the same way.
 *
 * All edges are seen at first. Then one after the other, the dearest first, becomes silent if enough are left. Paths with the same
 * seen edges have the same sum whatever the values are, so no values at all could do with less than the best such set. Over all
 * sets of paths of the DAGs of 5 vertices the cost is 1 % above that.
 *
 * Few and cold probes. The search for the potential begins at two points: zero, and the potential of the spanning tree of greatest
 * weight. From there each vertex in turn takes the potential for which those edges around it that add nothing weigh most, until
 * none gains. Where paths begin and end, code stands anyway, and values cost nothing. */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

bool
spp_add(const struct dag *d, bool *ei, uint32_t begin, const uint32_t *edge, uint32_t n)
{
	if (!dag_has(d, begin, edge, n))
		return false;
	if (d->begin[begin] != GRAPH_NONE)
		ei[d->begin[begin]] = true;
	for (uint32_t i = 0; i < n; i++)
		ei[edge[i]] = true;
	return true;
}

/* Limits of sparse values: sums of interest have up to MOST_BITS bits; the search takes the cube of the number of edges. */
enum { MOST_BITS = 40, MOST_EDGES = 500 };

struct select {
	const struct dag *d;
	const struct graph *g;   /* the DAG */
	const bool *ei;
	double *w;               /* by edge: d->w, but fixed edges outweigh all others together */
	int64_t *val;
	int64_t *max;            /* by vertex */
	bool over;
};

static double *
prices(const struct dag *d)
{
	const struct graph *g = d->graph;
	double *w = pool_array(g->pool, g->nedge, sizeof *w), sum = 1;

	for (uint32_t e = 0; e < g->nedge; e++)
		sum += d->w[e];
	for (uint32_t e = 0; e < g->nedge; e++)
		w[e] = g->edge[e].fixed && !g->edge[e].phantom ? sum : d->w[e];
	return w;
}

static int64_t
add(struct select *s, int64_t a, int64_t b)
{
	s->over |= __builtin_add_overflow(a, b, &a);
	return a;
}

/* The closing edge is part of no path. */
static bool
of_interest(const struct select *s, uint32_t e)
{
	return s->ei[e] && e != s->d->close;
}

static bool
has_interest(const struct select *s, uint32_t v)
{
	for (uint32_t i = s->g->out_at[v]; i < s->g->out_at[v + 1]; i++)
		if (of_interest(s, s->g->out[i]))
			return true;
	return false;
}

/* ---- intervals ---- */

/* The edge in EI of the heaviest class, or GRAPH_NONE for the class of those not in EI. */
static uint32_t
heaviest(const struct select *s, uint32_t v)
{
	uint32_t best = GRAPH_NONE;
	double other = 0, most = -1;
	bool any = false;

	for (uint32_t i = s->g->out_at[v]; i < s->g->out_at[v + 1]; i++) {
		uint32_t e = s->g->out[i];

		if (!of_interest(s, e)) {
			other += s->w[e];
			any |= e != s->d->close;
		} else if (s->w[e] > most) {
			best = e;
			most = s->w[e];
		}
	}
	return any && other > most ? GRAPH_NONE : best;
}

/* Gives a class the value `next`. The class is edge `class`, or all edges not in EI if that is GRAPH_NONE. Returns the value of the
 * next class. */
static int64_t
give(struct select *s, uint32_t v, uint32_t class, int64_t next)
{
	int64_t above = next;

	for (uint32_t i = s->g->out_at[v]; i < s->g->out_at[v + 1]; i++) {
		uint32_t e = s->g->out[i];
		int64_t end;

		if (e == s->d->close || (class == GRAPH_NONE ? s->ei[e] : e != class))
			continue;
		s->val[e] = next;
		end = add(s, next, s->max[s->g->edge[e].to]);
		s->max[v] = end > s->max[v] ? end : s->max[v];
		above = end >= above ? add(s, end, 1) : above;
	}
	return above;
}

static void
intervals_at(struct select *s, uint32_t v)
{
	uint32_t first = has_interest(s, v) ? heaviest(s, v) : GRAPH_NONE;
	int64_t next = give(s, v, first, 0);

	for (uint32_t i = s->g->out_at[v]; i < s->g->out_at[v + 1]; i++)
		if (of_interest(s, s->g->out[i]) && s->g->out[i] != first)
			next = give(s, v, s->g->out[i], next);
	if (first != GRAPH_NONE)
		give(s, v, GRAPH_NONE, next);
}

/* ---- dense ---- */

/* Numbers the pure paths from v; the heaviest edge gets 0. Returns how many there are. */
static int64_t
number_pure(struct select *s, int64_t *num, uint32_t v)
{
	uint32_t first = GRAPH_NONE;
	int64_t n = v == s->g->exit;

	for (uint32_t i = s->g->out_at[v]; i < s->g->out_at[v + 1]; i++) {
		uint32_t e = s->g->out[i];

		if (of_interest(s, e) && (first == GRAPH_NONE || s->w[e] > s->w[first]))
			first = e;
	}
	if (first != GRAPH_NONE)
		n = num[s->g->edge[first].to];
	for (uint32_t i = s->g->out_at[v]; i < s->g->out_at[v + 1]; i++) {
		uint32_t e = s->g->out[i];

		if (!of_interest(s, e) || e == first)
			continue;
		s->val[e] = n;
		n = add(s, n, num[s->g->edge[e].to]);
	}
	return n;
}

static void
top_sum(struct select *s, uint32_t v)
{
	for (uint32_t i = s->g->out_at[v]; i < s->g->out_at[v + 1]; i++) {
		uint32_t e = s->g->out[i];
		int64_t end = e == s->d->close ? 0 : add(s, s->val[e], s->max[s->g->edge[e].to]);

		s->max[v] = end > s->max[v] ? end : s->max[v];
	}
}

static void
mark_leaving(struct select *s, uint32_t v, int64_t pure)
{
	for (uint32_t i = s->g->out_at[v]; i < s->g->out_at[v + 1] && has_interest(s, v); i++)
		if (!s->ei[s->g->out[i]])
			s->val[s->g->out[i]] = pure;
	top_sum(s, v);
}

/* Returns the number of pure paths. */
static int64_t
dense(struct select *s)
{
	struct pool *tmp = pool_new();
	int64_t *num = pool_array(tmp, s->g->nvert, sizeof *num), n;

	for (uint32_t i = 0; i < s->g->nvert; i++)
		num[s->d->up[i]] = number_pure(s, num, s->d->up[i]);
	n = num[s->g->root];
	for (uint32_t i = 0; i < s->g->nvert; i++)
		mark_leaving(s, s->d->up[i], n);
	pool_free(tmp);
	return n;
}

/* ---- sparse ---- */

/* Which edges are seen; the others are silent. */
struct sparse {
	struct select *s;
	bool *seen;
	bool *pure, *start;      /* by vertex: a pure silent path leads here; a silent path begins here */
	uint8_t *ways;           /* by vertex: silent paths to here: 0, 1, or 2 for more */
};

static bool
seen_of_interest(const struct sparse *sp, uint32_t v)
{
	const struct graph *g = sp->s->g;

	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
		if (sp->seen[g->out[i]] && of_interest(sp->s, g->out[i]))
			return true;
	return v == g->exit;
}

/* Goes one vertex further on all silent paths. False: a pure one may end here and is not the only one. */
static bool
walk_on(struct sparse *sp, uint32_t v)
{
	const struct graph *g = sp->s->g;

	if (sp->pure[v] && sp->ways[v] > 1 && seen_of_interest(sp, v))
		return false;
	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1] && sp->ways[v]; i++) {
		uint32_t e = g->out[i], to = g->edge[e].to;

		if (sp->seen[e] || e == sp->s->d->close)
			continue;
		sp->ways[to] = sp->ways[to] + sp->ways[v] > 1 ? 2 : 1;
		sp->pure[to] |= sp->pure[v] && of_interest(sp->s, e);
	}
	return true;
}

/* Are pure silent paths from the vertex with place `at` in d->up the only ones between their ends? */
static bool
only_ways(struct sparse *sp, uint32_t at)
{
	const struct graph *g = sp->s->g;
	const uint32_t *up = sp->s->d->up;
	bool ok = true;

	memset(sp->ways, 0, g->nvert * sizeof *sp->ways);
	memset(sp->pure, 0, g->nvert * sizeof *sp->pure);
	sp->ways[up[at]] = sp->pure[up[at]] = 1;
	for (uint32_t i = at + 1; i-- > 0 && ok;)
		ok = walk_on(sp, up[i]);
	return ok;
}

/* Is each pure path determined by its seen edges? */
static bool
enough(struct sparse *sp)
{
	const struct graph *g = sp->s->g;
	bool ok = true;

	memset(sp->start, 0, g->nvert * sizeof *sp->start);
	sp->start[g->root] = true;
	for (uint32_t e = 0; e < g->nedge; e++)
		if (sp->seen[e] && of_interest(sp->s, e))
			sp->start[g->edge[e].to] = true;
	for (uint32_t i = 0; i < g->nvert && ok; i++)
		ok = !sp->start[sp->s->d->up[i]] || only_ways(sp, i);
	return ok;
}

static int
dearer(const void *pa, const void *pb, void *weights)
{
	const double *w = weights;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	if (w[a] < w[b] || w[a] > w[b])
		return w[a] > w[b] ? -1 : 1;
	return (a > b) - (a < b);
}

/* Makes edges silent, the dearest first, while enough are seen. Fixed edges cannot be seen. False: all edges are not enough. */
static bool
look_away(struct sparse *sp, struct pool *tmp)
{
	const struct select *s = sp->s;
	uint32_t *edge = pool_array(tmp, s->g->nedge, sizeof *edge), n = 0;

	for (uint32_t e = 0; e < s->g->nedge; e++) {
		sp->seen[e] = e != s->d->close && (!s->g->edge[e].fixed || s->g->edge[e].phantom);
		if (sp->seen[e] && s->w[e] > 0)
			edge[n++] = e;
	}
	if (!enough(sp))
		return false;
	qsort_r(edge, n, sizeof *edge, dearer, s->w);
	for (uint32_t i = 0; i < n; i++) {
		sp->seen[edge[i]] = false;
		sp->seen[edge[i]] = !enough(sp);
	}
	return true;
}

static bool
ends_path(const struct select *s, uint32_t e)
{
	return s->g->edge[e].to == s->g->exit;
}

/* Bits of a number from 0 to n. */
static uint32_t
bits(uint32_t n)
{
	return n ? 32 - (uint32_t)__builtin_clz(n) : 0;
}

/* Gives a bit to each seen edge of interest, but numbers to the edges where a path begins and to those where it ends. The edges
 * that leave EI get a value above all these. False: that takes too many bits. */
static bool
give_bits(struct sparse *sp)
{
	struct select *s = sp->s;
	uint32_t n = 0, nbegin = 0, nend = 0, first = s->d->g->nedge, top;

	for (uint32_t e = 0; e < s->g->nedge; e++)
		if (sp->seen[e] && of_interest(s, e))
			*(e >= first ? &nbegin : ends_path(s, e) ? &nend : &n) += 1;
	top = n + bits(nbegin) + bits(nend);
	if (top > MOST_BITS)
		return false;
	for (uint32_t e = s->g->nedge, k = 0, begin = 0, end = 0; e-- > 0;) {
		if (!sp->seen[e])
			continue;
		if (!of_interest(s, e))
			s->val[e] = (int64_t)1 << top;
		else if (e >= first)
			s->val[e] = (int64_t)++begin << n;
		else if (ends_path(s, e))
			s->val[e] = (int64_t)++end << (n + bits(nbegin));
		else
			s->val[e] = (int64_t)1 << k++;
	}
	return true;
}

static bool
sparse(struct select *s)
{
	struct pool *tmp = pool_new();
	uint32_t n = s->g->nvert;
	struct sparse sp = {
		.s = s,
		.seen = pool_array(tmp, s->g->nedge, sizeof(bool)),
		.pure = pool_array(tmp, n, sizeof(bool)),
		.start = pool_array(tmp, n, sizeof(bool)),
		.ways = pool_array(tmp, n, sizeof(uint8_t)),
	};
	bool ok = s->g->nedge <= MOST_EDGES && look_away(&sp, tmp) && give_bits(&sp);

	for (uint32_t i = 0; i < n && ok; i++)
		top_sum(s, s->d->up[i]);
	pool_free(tmp);
	return ok && !s->over;
}

/* ---- potentials ---- */

struct wish {
	int64_t phi;
	double w;
};

static int
by_phi(const void *pa, const void *pb)
{
	const struct wish *a = pa, *b = pb;

	return (a->phi > b->phi) - (a->phi < b->phi);
}

/* The potentials of v with which one of its edges would add nothing. */
static uint32_t
wishes(const struct select *s, const int64_t *phi, uint32_t v, struct wish *wish)
{
	const struct graph *g = s->g;
	uint32_t n = 0;

	for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1]; i++) {
		uint32_t e = g->in[i];

		if (s->w[e] > 0 && !__builtin_add_overflow(phi[g->edge[e].from], s->val[e], &wish[n].phi))
			wish[n++].w = s->w[e];
	}
	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++) {
		uint32_t e = g->out[i];

		if (s->w[e] > 0 && !__builtin_sub_overflow(phi[g->edge[e].to], s->val[e], &wish[n].phi))
			wish[n++].w = s->w[e];
	}
	qsort(wish, n, sizeof *wish, by_phi);
	return n;
}

static bool
improve(const struct select *s, int64_t *phi, uint32_t v, struct wish *wish)
{
	uint32_t n = wishes(s, phi, v, wish);
	double now = 0, most = 0;
	int64_t best = phi[v];

	for (uint32_t i = 0, j; i < n; i = j) {
		double w = 0;

		for (j = i; j < n && wish[j].phi == wish[i].phi; j++)
			w += wish[j].w;
		if (wish[i].phi == phi[v])
			now = w;
		if (w > most) {
			most = w;
			best = wish[i].phi;
		}
	}
	if (most <= now * (1 + 1e-9)) /* so that rounding does not lead back and forth */
		return false;
	phi[v] = best;
	return true;
}

enum { SWEEPS = 16 };

static void
descend(const struct select *s, int64_t *phi)
{
	struct pool *tmp = pool_new();
	struct wish *wish = pool_array(tmp, (size_t)s->g->nedge + 1, sizeof *wish);
	bool gained = true;

	for (int i = 0; i < SWEEPS && gained; i++) {
		gained = false;
		for (uint32_t k = 0; k < s->g->nvert; k++)
			gained |= improve(s, phi, s->d->up[i & 1 ? k : s->g->nvert - 1 - k], wish);
	}
	pool_free(tmp);
}

/* Does any fixed edge that may run add something? */
static bool
fixed_adds(const struct select *s, const struct probes *p)
{
	for (uint32_t e = 0; e < s->d->g->nedge; e++)
		if (e != s->d->close && s->g->edge[e].fixed && !s->g->edge[e].phantom && p->add[e])
			return true;
	return false;
}

/* The cheapest probes found for these values; NULL: *why. */
static struct probes *
cheapest(const struct select *s, const char **why)
{
	int64_t *phi[] = {pool_array(s->g->pool, s->g->nvert, sizeof **phi), dag_potential(s->d, s->val, why)};
	struct probes *best = NULL;

	for (int i = 0; i < 2; i++) {
		struct probes *p;

		if (!phi[i])
			continue;
		descend(s, phi[i]);
		p = dag_probes(s->d, s->val, phi[i]);
		if (!p || fixed_adds(s, p))
			continue;
		if (!best || p->cost < best->cost * (1 - 1e-9) || (p->cost <= best->cost && p->n < best->n))
			best = p;
	}
	if (!best && phi[1])
		*why = "the sums of its paths do not fit 64 bits";
	return best;
}

/* ---- the choice ---- */

static struct select
select_new(const struct dag *d, const bool *ei, double *w)
{
	struct pool *p = d->graph->pool;

	return (struct select){
		.d = d,
		.g = d->graph,
		.ei = ei,
		.w = w,
		.val = pool_array(p, d->graph->nedge, sizeof(int64_t)),
		.max = pool_array(p, d->graph->nvert, sizeof(int64_t)),
	};
}

static struct spp *
spp_new(const struct select *s, int64_t n, const char **why)
{
	struct spp *spp = pool_alloc(s->g->pool, sizeof *spp);

	if (s->over)
		*why = "the sums of its paths do not fit 64 bits";
	spp->val = s->val;
	spp->dense = (uint64_t)n;
	spp->probes = s->over ? NULL : cheapest(s, why);
	return spp->probes ? spp : NULL;
}

/* The cheaper of two; a, if neither is: its sums are smaller. */
static struct spp *
cheaper(struct spp *a, struct spp *b)
{
	if (!a || !b)
		return a ? a : b;
	return b->probes->cost < a->probes->cost * (1 - 1e-9) ? b : a;
}

struct spp *
spp_place(const struct dag *d, const bool *ei, bool dense_only, const char **why)
{
	double *w = prices(d);
	struct select a = select_new(d, ei, w), b = select_new(d, ei, w), c = select_new(d, ei, w);
	int64_t n = dense(&a);
	struct spp *best = spp_new(&a, n, why);

	if (dense_only)
		return best;
	for (uint32_t i = 0; i < d->graph->nvert; i++)
		intervals_at(&b, d->up[i]);
	best = cheaper(best, spp_new(&b, 0, why));
	return sparse(&c) ? cheaper(best, spp_new(&c, 0, why)) : best;
}

/* ---- Fig. 4, as printed ---- */

static uint64_t
phase1_at(const struct dag *d, const bool *ei, const uint64_t *num, int64_t *val, uint32_t v)
{
	const struct graph *g = d->graph;
	uint64_t n = v == g->exit;

	for (int in = 0; in < 2; in++)
		for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++) {
			uint32_t e = g->out[i];

			if (e == d->close || ei[e] != in)
				continue;
			val[e] = (int64_t)n;
			if (!checked_add(&n, num[g->edge[e].to]) || n > INT64_MAX)
				return 0;
		}
	return n;
}

static void
phase2_at(const struct dag *d, int64_t *val, uint32_t v)
{
	const struct graph *g = d->graph;
	uint32_t in = g->in_at[v];

	if (v == g->root || g->in_at[v + 1] - in != 1 || !val[g->in[in]])
		return;
	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
		if (g->out[i] != d->close)
			val[g->out[i]] += val[g->in[in]];
	val[g->in[in]] = 0;
}

int64_t *
spp_printed(const struct dag *d, const bool *ei, int phases)
{
	const struct graph *g = d->graph;
	struct pool *tmp = pool_new();
	uint64_t *num = pool_array(tmp, g->nvert, sizeof *num);
	int64_t *val = pool_array(g->pool, g->nedge, sizeof *val);

	for (uint32_t i = 0; i < g->nvert && val; i++) {
		num[d->up[i]] = phase1_at(d, ei, num, val, d->up[i]);
		val = num[d->up[i]] ? val : NULL;
	}
	for (uint32_t i = g->nvert; i-- > 0 && val && (phases & SPP_PHASE2);)
		phase2_at(d, val, d->up[i]);
	for (uint32_t e = 0; e < g->nedge && val && (phases & SPP_PHASE3); e++)
		val[e] = ei[e] ? val[e] : 0;
	pool_free(tmp);
	return val;
}
