/* SPDX-License-Identifier: MIT */
/* Code that ran was reached. Conservation of flow alone would allow a loop to run that nobody entered. If code that ran can only be
 * reached by one way, that way was taken at least once. Such ways lead to spots that dominate the code. */
#include "profile/flight.h"

#include <stdlib.h>

enum { NONE = UINT32_MAX };

struct reach {
	struct flow *f;
	struct pool *pool;
	uint32_t *in_at, *in;    /* usable ways into spot v: in[in_at[v] .. in_at[v + 1]) */
	uint32_t *out_at, *out;
	uint32_t *order, *number, n; /* spots in reverse postorder; by spot, its index in `order` */
	uint32_t *dom;           /* by number: the immediate dominator, among the spots where control does not begin */
};

static bool
is_usable(const struct way *w)
{
	return w->most > 0 && w->from != w->to;
}

static void
index_side(struct reach *r, bool in, uint32_t **at, uint32_t **way)
{
	const struct flow *f = r->f;

	*at = pool_array(r->pool, f->spot.n + 2, sizeof **at);
	*way = pool_array(r->pool, f->way.n + 1, sizeof **way);
	for (size_t i = 0; i < f->way.n; i++)
		if (is_usable(&f->way.at[i]))
			(*at)[(in ? f->way.at[i].to : f->way.at[i].from) + 2]++;
	for (size_t v = 0; v < f->spot.n; v++)
		(*at)[v + 2] += (*at)[v + 1];
	for (uint32_t i = 0; i < f->way.n; i++)
		if (is_usable(&f->way.at[i]))
			(*way)[(*at)[(in ? f->way.at[i].to : f->way.at[i].from) + 1]++] = i;
}

/* Depth-first search from a spot where control may begin. Numbers are given from the end. */
static void
visit(struct reach *r, uint32_t root, uint32_t *next, uint32_t *stack)
{
	uint32_t depth = 1;

	stack[0] = root;
	r->number[root] = 0;
	while (depth) {
		uint32_t v = stack[depth - 1], to = NONE;

		while (next[v] < r->out_at[v + 1] && to == NONE) {
			to = r->f->way.at[r->out[next[v]++]].to;
			to = r->number[to] == NONE ? to : NONE;
		}
		if (to != NONE) {
			r->number[to] = 0;
			stack[depth++] = to;
		} else {
			r->order[--r->n] = v;
			depth--;
		}
	}
}

static void
number_all(struct reach *r)
{
	size_t nspot = r->f->spot.n;
	uint32_t *next = pool_array(r->pool, nspot, sizeof *next), *stack = pool_array(r->pool, nspot + 1, sizeof *stack), n;

	r->order = pool_array(r->pool, nspot, sizeof *r->order);
	r->number = pool_array(r->pool, nspot, sizeof *r->number);
	for (uint32_t v = 0; v < nspot; v++) {
		next[v] = r->out_at[v];
		r->number[v] = NONE;
	}
	r->n = (uint32_t)nspot;
	for (uint32_t v = 0; v < nspot; v++)
		if (r->f->spot.at[v].start && r->number[v] == NONE)
			visit(r, v, next, stack);
	n = (uint32_t)nspot - r->n;
	for (uint32_t i = 0; i < n; i++) {
		r->order[i] = r->order[r->n + i];
		r->number[r->order[i]] = i;
	}
	r->n = n;
}

/* The nearest spot that dominates both; NONE: there is none. */
static uint32_t
common(const struct reach *r, uint32_t a, uint32_t b)
{
	while (a != b && a != NONE && b != NONE) {
		while (a != NONE && b != NONE && a > b)
			a = r->dom[a];
		while (a != NONE && b != NONE && b > a)
			b = r->dom[b];
	}
	return a == b ? a : NONE;
}

/* dom[] is NONE for spots where control may begin, and UINT32_MAX - 1 until it is known. */
static void
find_dominators(struct reach *r)
{
	const uint32_t later = NONE - 1;
	bool changed = true;

	r->dom = pool_array(r->pool, r->n + 1, sizeof *r->dom);
	for (uint32_t i = 0; i < r->n; i++)
		r->dom[i] = r->f->spot.at[r->order[i]].start ? NONE : later;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < r->n; i++) {
			uint32_t v = r->order[i], dom = later;

			for (uint32_t k = r->in_at[v]; k < r->in_at[v + 1] && !r->f->spot.at[v].start; k++) {
				uint32_t from = r->number[r->f->way.at[r->in[k]].from];

				if (from == NONE || (r->dom[from] == later && from >= i))
					continue;
				dom = dom == later ? from : common(r, dom, from);
			}
			if (!r->f->spot.at[v].start && dom != r->dom[i]) {
				r->dom[i] = dom;
				changed = true;
			}
		}
	}
}

static bool
dominates(const struct reach *r, uint32_t a, uint32_t b)
{
	while (b != NONE && b > a)
		b = r->dom[b];
	return a == b;
}

/* The only way into spot number i from a spot that it does not dominate; NONE: there is none, or several. */
static uint32_t
only_way(const struct reach *r, uint32_t i)
{
	uint32_t v = r->order[i], only = NONE;

	for (uint32_t k = r->in_at[v]; k < r->in_at[v + 1]; k++) {
		uint32_t from = r->number[r->f->way.at[r->in[k]].from];

		if (from == NONE || dominates(r, i, from))
			continue;
		if (only != NONE)
			return NONE;
		only = r->in[k];
	}
	return only;
}

/* By number: did something run that the spot dominates? */
static bool *
what_ran(const struct reach *r)
{
	bool *ran = pool_array(r->pool, r->n + 1, sizeof *ran);

	for (size_t i = 0; i < r->f->way.n; i++) {
		const struct way *w = &r->f->way.at[i];

		/* Standing activations get to the exit by no way. */
		if (w->least > 0 && w->from != r->f->exit && r->number[w->from] != NONE)
			ran[r->number[w->from]] = true;
	}
	for (size_t v = 0; v < r->f->spot.n; v++)
		if (r->f->spot.at[v].ended && r->number[v] != NONE)
			ran[r->number[v]] = true;
	for (uint32_t i = r->n; i-- > 0;)
		if (ran[i] && r->dom[i] < r->n)
			ran[r->dom[i]] = true;
	return ran;
}

bool
flow_reach(struct flow *f)
{
	struct reach r = {.f = f, .pool = f->pool};
	bool found = false, *ran;

	index_side(&r, true, &r.in_at, &r.in);
	index_side(&r, false, &r.out_at, &r.out);
	number_all(&r);
	find_dominators(&r);
	ran = what_ran(&r);
	for (uint32_t i = 0; i < r.n; i++) {
		uint32_t w = ran[i] && !f->spot.at[r.order[i]].start ? only_way(&r, i) : NONE;

		if (w == NONE || f->way.at[w].least > 0)
			continue;
		f->way.at[w].floor = 1;
		found = true;
	}
	return found;
}
