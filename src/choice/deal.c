/* SPDX-License-Identifier: MIT */
/* Divides paths of interest among several builds, each of which counts only its part.
 *
 * The cost of a part depends on the edges of its paths, so paths with common edges should be in the same part (Apiwattanapong &
 * Harrold 2002, section 6, leave open how). These ways are tried:
 *
 *   round-robin  each procedure's paths in turn
 *   prefix       each procedure's paths in runs of neighbours in the numbering: they have the same beginning
 *   greedy       each path in the part to which it adds the fewest edges of interest, while there is room
 *   procedure    whole procedures, the most expensive first, in the part that has least so far */
#include "choice/choice.h"

#include <stdlib.h>
#include <string.h>

const char *const deal_way_name[DEAL_WAYS] = {"round-robin", "prefix", "greedy", "procedure"};

/* ---- costs of parts ---- */

/* The counts of edges or, where they are not known, the guess. */
static double *
weights(struct pool *pool, const struct view_paths_proc *p)
{
	const struct dag *d = p->graph->dag;
	double *w = pool_array(pool, d->graph->nedge, sizeof *w);
	double *guess = NULL;

	if (p->counts->why || !p->counts->blocks) {
		struct order *o = order_dfs(d->g);

		guess = weight_heuristic(d->g, o, loops_find(d->g, o));
	}
	for (uint32_t e = 0; e < d->g->nedge; e++)
		w[e] = d->w[e] * (guess ? guess[e] : e < p->proc->narc ? (double)p->counts->arc[e] : 0);
	return w;
}

static void
price(const struct deal *s, size_t proc, uint32_t number, struct part *part)
{
	struct pool *pool = pool_new();
	size_t n;
	const struct spp_code *code = choice_code(pool, s->c, proc, s->part[proc], number, s->w[proc], &n);

	part->procs += n != 0;
	part->paths += n;
	part->probes += code ? code->probes->n : 0;
	part->cost += code ? code->probes->cost : 0;
	if (n && !code)
		part->unfit = s->c->report.proc.at[proc].proc;
	pool_free(pool);
}

static void
price_all(struct deal *s)
{
	for (uint32_t i = 0; i < s->nparts; i++) {
		s->of[i] = (struct part){.load = s->of[i].load};
		for (size_t k = 0; k < s->c->report.proc.n; k++)
			price(s, k, i, &s->of[i]);
	}
}

/* ---- dealing ---- */

static uint32_t
least_loaded(const struct deal *s)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < s->nparts; i++)
		if (s->of[i].load < s->of[best].load)
			best = i;
	return best;
}

/* The weight of a path is the weight of its edges, because there may be probes on them. */
static double
weight_of(const struct deal *s, size_t proc, const struct chosen *path)
{
	double sum = 1;

	for (uint32_t i = 0; i < path->n; i++)
		sum += s->w[proc][path->edge[i]];
	return sum;
}

static void
deal_round_robin(struct deal *s, size_t proc, uint32_t *next)
{
	for (size_t k = 0; k < s->c->of[proc].path.n; k++)
		s->part[proc][k] = (*next)++ % s->nparts;
}

/* Runs of neighbours, whose lengths differ by one at most. The parts that have least so far come first. */
static void
deal_prefix(struct deal *s, size_t proc)
{
	size_t n = s->c->of[proc].path.n, runs = n < s->nparts ? n : s->nparts;

	for (size_t r = 0; r < runs; r++) {
		uint32_t to = least_loaded(s);

		for (size_t k = n * r / runs; k < n * (r + 1) / runs; k++) {
			s->part[proc][k] = to;
			s->of[to].load += weight_of(s, proc, &s->c->of[proc].path.at[k]);
		}
	}
}

/* The weight of the edges that a path adds to a part's edges of the procedure. */
static double
added(const struct deal *s, size_t proc, const struct chosen *path, const bool *has)
{
	double sum = 0;

	for (uint32_t i = 0; i < path->n; i++)
		sum += has[path->edge[i]] ? 0 : 1 + s->w[proc][path->edge[i]];
	return sum;
}

static void
deal_greedy(struct deal *s, size_t proc)
{
	struct pool *pool = pool_new();
	size_t n = s->c->of[proc].path.n, room = (n + s->nparts - 1) / s->nparts;
	uint32_t narc = s->c->report.proc.at[proc].proc->narc;
	size_t *has = pool_array(pool, s->nparts, sizeof *has);
	bool *edges = pool_array(pool, (size_t)narc * s->nparts, sizeof *edges);

	for (size_t k = 0; k < n; k++) {
		const struct chosen *path = &s->c->of[proc].path.at[k];
		uint32_t best = UINT32_MAX;
		double least = 0;

		for (uint32_t i = 0; i < s->nparts; i++) {
			double more = added(s, proc, path, &edges[(size_t)narc * i]);

			if (has[i] < room &&
			    (best == UINT32_MAX || more < least || (more <= least && s->of[i].load < s->of[best].load))) {
				best = i;
				least = more;
			}
		}
		s->part[proc][k] = best;
		s->of[best].load += weight_of(s, proc, path);
		has[best]++;
		for (uint32_t i = 0; i < path->n; i++)
			edges[(size_t)narc * best + path->edge[i]] = true;
	}
	pool_free(pool);
}

struct whole {
	size_t proc;
	double cost;
	bool unfit;
};

static int
dearer(const void *a, const void *b)
{
	const struct whole *x = a, *y = b;

	if (x->cost > y->cost || x->cost < y->cost)
		return x->cost > y->cost ? -1 : 1;
	return (x->proc > y->proc) - (x->proc < y->proc);
}

/* If not all paths of a procedure can be in one build, they are divided. */
static void
deal_procedures(struct deal *s)
{
	size_t n = s->c->report.proc.n;
	struct whole *whole = xcalloc(n, sizeof *whole);

	for (size_t i = 0; i < n; i++) {
		struct part part = {0};

		price(s, i, 0, &part); /* all are in part 0 at first */
		whole[i] = (struct whole){i, part.cost + (double)part.paths, part.unfit};
	}
	qsort(whole, n, sizeof *whole, dearer);
	for (size_t i = 0; i < n; i++) {
		uint32_t to = least_loaded(s);

		if (whole[i].unfit) {
			deal_prefix(s, whole[i].proc);
			continue;
		}
		for (size_t k = 0; k < s->c->of[whole[i].proc].path.n; k++)
			s->part[whole[i].proc][k] = to;
		s->of[to].load += whole[i].cost;
	}
	free(whole);
}

void
deal(struct deal *s, enum deal_way way)
{
	uint32_t next = 0;

	memset(s->of, 0, s->nparts * sizeof *s->of);
	for (size_t i = 0; i < s->c->report.proc.n; i++) {
		memset(s->part[i], 0, s->c->of[i].path.n * sizeof **s->part);
		if (way == DEAL_ROUND_ROBIN)
			deal_round_robin(s, i, &next);
		else if (way == DEAL_PREFIX)
			deal_prefix(s, i);
		else if (way == DEAL_GREEDY)
			deal_greedy(s, i);
	}
	if (way == DEAL_PROCEDURE)
		deal_procedures(s);
	price_all(s);
}

void
deal_open(struct deal *d, struct choices *c, uint32_t nparts)
{
	size_t n = c->report.proc.n;

	*d = (struct deal){.c = c, .nparts = nparts};
	d->part = pool_array(c->pool, n, sizeof *d->part);
	d->w = pool_array(c->pool, n, sizeof *d->w);
	d->of = pool_array(c->pool, nparts, sizeof *d->of);
	for (size_t i = 0; i < n; i++) {
		d->part[i] = pool_array(c->pool, c->of[i].path.n, sizeof **d->part);
		d->w[i] = c->of[i].path.n ? weights(c->pool, &c->report.proc.at[i]) : NULL;
	}
}
