/* SPDX-License-Identifier: MIT */
/* Bounds where the unknown ways form no forest, as with counters that determine only blocks. Spots on cycles of unknown ways are
 * joined to one spot; nothing follows from conservation for the ways inside it. The ways between joined spots form a forest, and
 * the bounds of that forest are the best ones that exist without regard to the ways inside. */
#include "profile/flight.h"

static __int128
plus(__int128 a, __int128 b)
{
	return a >= FLIGHT_MANY || b >= FLIGHT_MANY ? FLIGHT_MANY : a + b;
}

static uint32_t
find_classes(struct flow *f)
{
	struct graph *g = graph_new(f->pool, (uint32_t)f->spot.n, f->exit, f->exit);
	bool *known = pool_array(f->pool, f->way.n, sizeof *known);
	uint32_t n;

	for (uint32_t i = 0; i < f->way.n; i++) {
		graph_edge(g, f->way.at[i].from, f->way.at[i].to);
		known[i] = f->way.at[i].known;
	}
	f->class = bridge_classes(g, known, &n);
	return n;
}

static void
fold_ways(struct flow *f, struct flow *to)
{
	f->fold_way = pool_array(f->pool, f->way.n, sizeof *f->fold_way);
	for (size_t i = 0; i < f->way.n; i++) {
		const struct way *w = &f->way.at[i];
		uint32_t a = f->class[w->from], b = f->class[w->to];

		f->fold_way[i] = UINT32_MAX;
		if (a == b)
			continue;
		f->fold_way[i] = w->known ? flow_counted(to, a, b, w->count) : flow_way(to, a, b);
		to->way.at[f->fold_way[i]].floor = w->floor;
	}
}

bool
flow_fold(struct flow *f)
{
	uint32_t n = find_classes(f);
	struct flow *to = pool_alloc(f->pool, sizeof *to);

	if (f->folded)
		flow_free(f->folded);
	*to = (struct flow){.pool = f->pool, .exit = f->class[f->exit], .standing = f->standing};
	f->folded = to;
	for (uint32_t v = 0; v < n; v++)
		flow_spot(to, 0);
	for (size_t v = 0; v < f->spot.n; v++) {
		struct spot *s = &to->spot.at[f->class[v]];

		s->cap = plus(s->cap, f->spot.at[v].cap);
		s->source += f->spot.at[v].source;
	}
	fold_ways(f, to);
	return flow_bounds(to);
}

bool
flow_fold_sum(const struct flow *f, const struct flow_sum *sum, struct flow_sum *folded)
{
	const struct flow *to = f->folded;

	*folded = (struct flow_sum){
		.value = pool_array(f->pool, to->way.n, sizeof(int64_t)),
		.more = pool_array(f->pool, to->spot.n, sizeof(uint64_t)),
		.less = pool_array(f->pool, to->spot.n, sizeof(uint64_t)),
	};
	for (size_t i = 0; i < f->way.n; i++) {
		if (f->fold_way[i] != UINT32_MAX)
			folded->value[f->fold_way[i]] = sum->value[i];
		else if (f->way.at[i].known)
			folded->constant += (__int128)sum->value[i] * f->way.at[i].count;
		else if (sum->value[i])
			return false;
	}
	for (size_t v = 0; v < f->spot.n; v++) {
		uint64_t *more = &folded->more[f->class[v]], *less = &folded->less[f->class[v]];

		*more = sum->more[v] > *more ? sum->more[v] : *more;
		*less = sum->less[v] > *less ? sum->less[v] : *less;
	}
	flow_sum_bounds(to, folded);
	return true;
}
