/* SPDX-License-Identifier: MIT */
/* What functions executed together with everything that they called: cnt_P of Ball 1994, section 4, where counts determine it
 * exactly.
 *
 * The graph has the calls that were made, and a vertex for the world, which is all unmeasured code. The world calls a function if
 * it was called more often than measured calls explain, and a call into the world may come back through these functions. If nothing
 * that P led to was ever called by anyone else, everything that it executed was executed for P, whatever recursion there is. That
 * is so if P dominates everything that can be reached from it, that is, if no call leads out of P's part of the dominator tree.
 * Otherwise the sums of P's calls determine it, if they were counted (-fchord=calls) and P's activations are not nested: P is on no
 * cycle. */
#include "graph/graph.h"
#include "view/stacks.h"

#include <stdlib.h>
#include <string.h>

struct finder {
	const struct view_functions *all;
	const struct view_call_graph *links;
	struct pool *tmp;
	struct graph *g;         /* the functions, and the world as its root */
	uint32_t world;
	bool back;               /* the world calls more functions than main, which is called first of all */
	bool *entered;           /* by function: the world calls it */
	struct order *order;
	uint32_t *number;        /* by vertex: its number in reverse postorder; GRAPH_NONE: it did not run */
	uint32_t *dom;           /* by number: the number of its immediate dominator */
	uint32_t *cycle;         /* by vertex: its component, if that has other vertices or it calls itself; else GRAPH_NONE */
};

/* ---- the graph ---- */

static bool
is_known(const struct view_function *f)
{
	return !f->why && !f->counts->most && f->counts->activations_known;
}

static void
find_entered(struct finder *f)
{
	const struct view_call_graph *c = f->links;
	size_t at = 0;

	for (uint32_t i = 0; i < f->all->n; i++) {
		const struct view_function *v = &f->all->at[i];
		bool fits = true;
		uint64_t n = 0;

		for (; at < c->edge.n && c->edge.at[at].to == i; at++)
			fits &= c->edge.at[at].times_known && checked_add(&n, c->edge.at[at].times);
		f->entered[i] = !is_known(v) || !fits || n != v->counts->activations;
		f->back |= f->entered[i] && strcmp(v->proc->name, "main") != 0;
	}
}

static void
build(struct finder *f)
{
	const struct view_call_graph *c = f->links;

	f->world = (uint32_t)f->all->n;
	f->g = graph_new(f->tmp, f->world + 1, f->world, f->world);
	f->entered = pool_array(f->tmp, f->all->n, sizeof *f->entered);
	find_entered(f);
	for (size_t i = 0; i < c->edge.n; i++)
		graph_edge(f->g, c->edge.at[i].from, c->edge.at[i].to);
	for (uint32_t i = 0; i < f->all->n; i++) {
		if (f->entered[i])
			graph_edge(f->g, f->world, i);
		if (f->back && (c->outside[i] || f->all->at[i].why))
			graph_edge(f->g, i, f->world);
	}
	graph_index(f->g);
}

/* ---- dominators (Cooper, Harvey & Kennedy 2001) ---- */

static uint32_t
common(const struct finder *f, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (a > b)
			a = f->dom[a];
		while (b > a)
			b = f->dom[b];
	}
	return a;
}

static void
find_dominators(struct finder *f)
{
	uint32_t n = f->order->nreached;
	bool changed = true;

	f->number = pool_array(f->tmp, f->g->nvert, sizeof *f->number);
	f->dom = pool_array(f->tmp, n + 1u, sizeof *f->dom);
	for (uint32_t v = 0; v < f->g->nvert; v++)
		f->number[v] = f->order->post[v] == GRAPH_NONE ? GRAPH_NONE : n - 1 - f->order->post[v];
	for (uint32_t i = 1; i < n; i++)
		f->dom[i] = GRAPH_NONE;
	while (changed) {
		changed = false;
		for (uint32_t i = 1; i < n; i++) {
			uint32_t v = f->order->by_post[n - 1 - i], dom = GRAPH_NONE;

			for (uint32_t k = f->g->in_at[v]; k < f->g->in_at[v + 1]; k++) {
				uint32_t from = f->number[f->g->edge[f->g->in[k]].from];

				if (from != GRAPH_NONE && (!from || f->dom[from] != GRAPH_NONE))
					dom = dom == GRAPH_NONE ? from : common(f, dom, from);
			}
			changed |= dom != f->dom[i];
			f->dom[i] = dom;
		}
	}
}

/* ---- cycles ---- */

/* If components are begun in reverse postorder, a vertex that leads to v and has no component yet is in v's component
 * (Kosaraju). */
static void
find_cycles(struct finder *f)
{
	const struct graph *g = f->g;
	uint32_t n = f->order->nreached, *stack = pool_array(f->tmp, g->nedge + 1u, sizeof *stack);
	bool *seen = pool_array(f->tmp, g->nvert, sizeof *seen);

	f->cycle = pool_array(f->tmp, g->nvert, sizeof *f->cycle);
	memset(f->cycle, 0xff, g->nvert * sizeof *f->cycle);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t root = f->order->by_post[n - 1 - i], depth = 0;

		if (seen[root])
			continue;
		seen[root] = true;
		stack[depth++] = root;
		while (depth) {
			uint32_t v = stack[--depth];

			for (uint32_t k = g->in_at[v]; k < g->in_at[v + 1]; k++) {
				uint32_t from = g->edge[g->in[k]].from;

				if (f->number[from] == GRAPH_NONE)
					continue;
				if (from == v)
					f->cycle[v] = root;
				if (seen[from])
					continue;
				seen[from] = true;
				f->cycle[from] = f->cycle[root] = root;
				stack[depth++] = from;
			}
		}
	}
}

/* ---- the sums ---- */

struct sum {
	uint64_t insns;
	int64_t out;             /* the number of calls that lead out of this part of the tree, and of unknown counts in it */
};

/* An edge leads out of the parts of all vertices that are above its source and not above its target. */
static void
mark_edge(const struct finder *f, struct sum *sum, uint32_t from, uint32_t to)
{
	uint32_t above = common(f, from, to);

	/* A call of a function that dominates the caller stays in that function's part. */
	sum[from].out++;
	sum[above == to ? to : f->dom[to]].out--;
}

static struct sum *
sum_parts(struct finder *f)
{
	uint32_t n = f->order->nreached;
	struct sum *sum = pool_array(f->tmp, n + 1u, sizeof *sum);

	for (uint32_t e = 0; e < f->g->nedge; e++)
		if (f->number[f->g->edge[e].from] != GRAPH_NONE)
			mark_edge(f, sum, f->number[f->g->edge[e].from], f->number[f->g->edge[e].to]);
	for (uint32_t i = n; i-- > 1;) {
		const struct view_function *v = &f->all->at[f->order->by_post[n - 1 - i]];

		if (v->why || v->counts->most || !checked_add(&sum[i].insns, v->counts->insns))
			sum[i].out++;
		/* If one of many sums does not fit, all above it are unknown, as they have to be. */
		if (!checked_add(&sum[f->dom[i]].insns, sum[i].insns))
			sum[f->dom[i]].out++;
		sum[f->dom[i]].out += sum[i].out;
	}
	return sum;
}

static struct view_inclusive
by_calls(const struct finder *f, uint32_t i)
{
	struct view_inclusive r = {.why = "others called what it called, too, and its calls have no sums (-fchord=calls)"};

	if (f->links->jumps[i])
		r.why = "others called what it called, too, and it was left by a jump into another function, which has no sum";
	if (f->links->outside[i] && f->back)
		r.why = "it called what is not known or not measured, which may have called others";
	if (!f->links->sums_known[i])
		return r;
	r.why = "it may have been called again before it returned";
	if (f->cycle[i] != GRAPH_NONE && f->all->at[i].counts->activations > 1)
		return r;
	r.insns = f->all->at[i].counts->insns;
	r.known = checked_add(&r.insns, f->links->sums[i]);
	return r;
}

static struct view_inclusive
of_function(const struct finder *f, const struct sum *sum, uint32_t i)
{
	const struct view_function *v = &f->all->at[i];

	if (v->why || v->counts->most)
		return (struct view_inclusive){.why = v->why ? v->why : "its own count is not known"};
	if (f->number[i] == GRAPH_NONE)
		return (struct view_inclusive){.known = true};
	if (!sum[f->number[i]].out)
		return (struct view_inclusive){.known = true, .insns = sum[f->number[i]].insns};
	return by_calls(f, i);
}

void
view_inclusive(struct run *run, struct view_functions *all)
{
	struct finder f = {.all = all, .tmp = pool_new()};
	struct view_call_graph links;
	struct view_listing l;
	struct sum *sum;

	view_listing(&l, run, NULL, NULL);
	view_call_graph(&links, run, all, &l);
	f.links = &links;
	build(&f);
	f.order = order_dfs(f.g);
	find_dominators(&f);
	find_cycles(&f);
	sum = sum_parts(&f);
	for (uint32_t i = 0; i < all->n; i++)
		all->at[i].inclusive = of_function(&f, sum, i);
	view_call_graph_free(&links);
	view_listing_free(&l);
	pool_free(f.tmp);
}
