/* SPDX-License-Identifier: MIT */
/* The unknown ways form a forest, because the chords of a spanning tree have counters. The exit is the root of its tree. Let S(v)
 * be the number of activations that stand in the subtree of v, and B(v) the surplus of known flow in it. The way from v to its
 * parent has the flow B(v) - S(v), or S(v) - B(v) if it leads down. No flow is negative, so B(v) >= S(v) or B(v) <= S(v). These are
 * bounds of sums over nested sets, so one pass upward through the trees and one downward give the best bounds that exist. A tree
 * without the exit is closed: there S(root) = B(root).
 *
 * If counters do not determine all flow (every-block, blocks), the flow that they do determine has such bounds (flight_fold.c).
 * From these, bounds are passed from spot to spot until they no longer change. They hold, but may not be the best ones. */
#include "profile/flight.h"

#include <stdlib.h>
#include <string.h>

typedef __int128 wide;

uint32_t
flow_spot(struct flow *f, wide cap)
{
	VEC_PUSH(f->spot, (struct spot){.cap = cap});
	return (uint32_t)f->spot.n - 1;
}

uint32_t
flow_way(struct flow *f, uint32_t from, uint32_t to)
{
	VEC_PUSH(f->way, (struct way){.from = from, .to = to, .most = FLIGHT_MANY});
	return (uint32_t)f->way.n - 1;
}

uint32_t
flow_counted(struct flow *f, uint32_t from, uint32_t to, uint64_t count)
{
	VEC_PUSH(f->way, (struct way){from, to, true, count, count, count, 0});
	return (uint32_t)f->way.n - 1;
}

void
flow_free(struct flow *f)
{
	if (f->folded)
		flow_free(f->folded);
	free(f->way.at);
	free(f->spot.at);
}

static wide
min(wide a, wide b)
{
	return a < b ? a : b;
}

static wide
max(wide a, wide b)
{
	return a > b ? a : b;
}

/* A sum with a number that has no bound has no bound. */
static wide
plus(wide a, wide b)
{
	return a >= FLIGHT_MANY || b >= FLIGHT_MANY ? FLIGHT_MANY : a + b;
}

static wide
minus(wide a, wide b)
{
	return a >= FLIGHT_MANY ? FLIGHT_MANY : a - b;
}

/* ---- the forest ---- */

/* The unknown ways of each spot: those of v are at[v] .. at[v + 1). */
struct ends {
	uint32_t *at, *way;
};

static struct ends
index_ends(const struct flow *f, bool known)
{
	struct ends x = {pool_array(f->pool, f->spot.n + 2, sizeof *x.at), pool_array(f->pool, 2 * f->way.n + 1, sizeof *x.way)};

	for (size_t i = 0; i < f->way.n; i++)
		if (known || !f->way.at[i].known) {
			x.at[f->way.at[i].from + 2]++;
			x.at[f->way.at[i].to + 2]++;
		}
	for (size_t v = 0; v < f->spot.n; v++)
		x.at[v + 2] += x.at[v + 1];
	for (uint32_t i = 0; i < f->way.n; i++)
		if (known || !f->way.at[i].known) {
			x.way[x.at[f->way.at[i].from + 1]++] = i;
			x.way[x.at[f->way.at[i].to + 1]++] = i;
		}
	return x;
}

static uint32_t
other_end(const struct way *w, uint32_t v)
{
	return w->from == v ? w->to : w->from;
}

/* Puts the spots of root's tree into the order, parents first. False: there is a cycle. */
static bool
span_from(struct flow *f, const struct ends *x, uint32_t root, uint32_t *n, bool *seen)
{
	uint32_t at = *n;

	seen[root] = true;
	f->up[root] = UINT32_MAX;
	f->order[(*n)++] = root;
	for (; at < *n; at++) {
		uint32_t v = f->order[at];

		for (uint32_t i = x->at[v]; i < x->at[v + 1]; i++) {
			uint32_t w = x->way[i], to = other_end(&f->way.at[w], v);

			if (w == f->up[v])
				continue;
			if (seen[to])
				return false;
			seen[to] = true;
			f->up[to] = w;
			f->order[(*n)++] = to;
		}
	}
	return true;
}

static bool
span(struct flow *f)
{
	struct ends x = index_ends(f, false);
	bool *seen = pool_array(f->pool, f->spot.n, sizeof *seen), ok;
	uint32_t n = 0;

	f->up = pool_array(f->pool, f->spot.n, sizeof *f->up);
	f->order = pool_array(f->pool, f->spot.n, sizeof *f->order);
	ok = span_from(f, &x, f->exit, &n, seen);
	for (uint32_t v = 0; v < f->spot.n && ok; v++)
		if (!seen[v])
			ok = span_from(f, &x, v, &n, seen);
	return ok;
}

static wide *
surpluses(const struct flow *f)
{
	wide *b = pool_array(f->pool, f->spot.n, sizeof *b);

	for (size_t v = 0; v < f->spot.n; v++)
		b[v] = f->spot.at[v].source;
	for (size_t i = 0; i < f->way.n; i++)
		if (f->way.at[i].known) {
			b[f->way.at[i].from] -= f->way.at[i].count;
			b[f->way.at[i].to] += f->way.at[i].count;
		}
	return b;
}

/* ---- bounds in the forest ---- */

/* By spot: its subtree. */
struct subtree {
	wide surplus;
	wide least, most;        /* of the number of activations that stand in it */
	wide child_least, child_most; /* sums over its children, before the rest of the tree is considered */
};

static uint32_t
parent(const struct flow *f, uint32_t v)
{
	return other_end(&f->way.at[f->up[v]], v);
}

static bool
leads_up(const struct flow *f, uint32_t v)
{
	return f->way.at[f->up[v]].from == v;
}

static bool
settle_subtree(const struct flow *f, struct subtree *t, uint32_t v)
{
	struct subtree *s = &t[v], *p;
	wide most = min(plus(s->child_most, f->spot.at[v].cap), f->standing);
	bool root = f->up[v] == UINT32_MAX, closed = root && v != f->exit;
	wide floor = root ? 0 : f->way.at[f->up[v]].floor;

	s->least = max(s->child_least, closed || (!root && !leads_up(f, v)) ? s->surplus + floor : 0);
	s->most = closed || (!root && leads_up(f, v)) ? min(most, s->surplus - floor) : most;
	if (!root) {
		p = &t[parent(f, v)];
		p->surplus += s->surplus;
		p->child_least += s->least;
		p->child_most = plus(p->child_most, s->most);
	}
	return s->least <= s->most;
}

/* All trees together have no more activations than may stand anywhere. */
static bool
settle_all(struct flow *f, struct subtree *t)
{
	wide closed = 0;

	for (uint32_t v = 0; v < f->spot.n; v++)
		if (f->up[v] == UINT32_MAX && v != f->exit)
			closed += t[v].least;
	t[f->exit].most = min(t[f->exit].most, minus(f->standing, closed));
	f->least = t[f->exit].least + closed;
	f->most = plus(t[f->exit].most, closed);
	return t[f->exit].least <= t[f->exit].most;
}

/* Narrows the bounds of v by its parent's bounds, less the least number that stands elsewhere in the parent's subtree. */
static void
narrow(const struct flow *f, struct subtree *t, uint32_t v)
{
	const struct subtree *p = &t[parent(f, v)];
	struct subtree *s = &t[v];
	wide others_least = p->child_least - s->least;
	wide others_most = s->most >= FLIGHT_MANY ? FLIGHT_MANY : minus(p->child_most, s->most), elsewhere;

	elsewhere = plus(others_most, f->spot.at[parent(f, v)].cap);
	if (p->child_most >= FLIGHT_MANY && s->most < FLIGHT_MANY)
		elsewhere = FLIGHT_MANY;
	s->most = min(s->most, minus(p->most, others_least));
	if (elsewhere < FLIGHT_MANY)
		s->least = max(s->least, p->least - elsewhere);
}

static void
settle_way(struct flow *f, const struct subtree *s, uint32_t v)
{
	struct way *w = &f->way.at[f->up[v]];

	if (leads_up(f, v)) {
		w->least = max(0, s->surplus - min(s->most, s->surplus));
		w->most = s->surplus - s->least;
	} else {
		w->least = max(0, s->least - s->surplus);
		w->most = minus(s->most, s->surplus);
	}
}

static bool
forest_bounds(struct flow *f)
{
	struct subtree *t = pool_array(f->pool, f->spot.n, sizeof *t);
	const wide *b = surpluses(f);
	bool ok = true;

	for (size_t v = 0; v < f->spot.n; v++)
		t[v].surplus = b[v];
	for (size_t i = f->spot.n; i-- > 0;)
		ok &= settle_subtree(f, t, f->order[i]);
	if (!ok || !settle_all(f, t))
		return false;
	for (size_t i = 0; i < f->spot.n; i++) {
		uint32_t v = f->order[i];
		struct spot *s = &f->spot.at[v];

		if (f->up[v] != UINT32_MAX) {
			narrow(f, t, v);
			settle_way(f, &t[v], v);
		}
		s->least = t[v].child_most >= FLIGHT_MANY ? 0 : max(0, t[v].least - t[v].child_most);
		s->most = min(s->cap, minus(t[v].most, t[v].child_least));
	}
	return true;
}

/* ---- where the unknown ways form no forest ---- */

enum { ROUNDS = 40 };

struct side {
	wide least, most;
	uint32_t many;           /* the number of ways without a bound */
};

static struct side
look(const struct flow *f, const struct ends *x, uint32_t v, bool in)
{
	struct side s = {0};

	for (uint32_t i = x->at[v]; i < x->at[v + 1]; i++) {
		const struct way *w = &f->way.at[x->way[i]];

		if ((in ? w->to : w->from) != v || w->from == w->to)
			continue;
		s.least += w->least;
		s.many += w->most >= FLIGHT_MANY;
		s.most += w->most >= FLIGHT_MANY ? 0 : w->most;
	}
	return s;
}

/* The sum of one side of a vertex is between low and high. So each way of that side is within these bounds, less the other ways. */
static bool
narrow_side(struct flow *f, const struct ends *x, uint32_t v, bool in, wide low, wide high)
{
	struct side s = look(f, x, v, in);
	bool changed = false;

	for (uint32_t i = x->at[v]; i < x->at[v + 1]; i++) {
		struct way *w = &f->way.at[x->way[i]];
		bool many = w->most >= FLIGHT_MANY;
		wide most, least;

		if ((in ? w->to : w->from) != v || w->from == w->to || w->known)
			continue;
		most = minus(high, s.least - w->least);
		least = s.many > many ? 0 : low - (s.most - (many ? 0 : w->most));
		changed |= most < w->most || least > w->least;
		w->most = min(w->most, most);
		w->least = max(w->least, least);
	}
	return changed;
}

static bool
narrow_spot(struct flow *f, const struct ends *x, uint32_t v)
{
	struct spot *p = &f->spot.at[v];
	struct side in = look(f, x, v, true), out = look(f, x, v, false);
	wide in_most = in.many ? FLIGHT_MANY : in.most, out_most = out.many ? FLIGHT_MANY : out.most;
	wide cap = min(p->cap, f->standing);
	bool changed;

	if (v == f->exit) /* standing activations come out of the exit */
		changed = narrow_side(f, x, v, false, in.least + p->source, plus(plus(in_most, p->source), f->standing));
	else
		changed = narrow_side(f, x, v, false, cap >= FLIGHT_MANY ? 0 : in.least + p->source - cap,
		                      plus(in_most, p->source));
	if (v == f->exit)
		return changed | narrow_side(f, x, v, true, f->standing >= FLIGHT_MANY ? 0 : out.least - p->source - f->standing,
		                             minus(out_most, p->source));
	p->least = out_most >= FLIGHT_MANY ? 0 : max(0, in.least + p->source - out_most);
	p->most = max(0, min(cap, in_most >= FLIGHT_MANY ? FLIGHT_MANY : in_most + p->source - out.least));
	return changed | narrow_side(f, x, v, true, out.least - p->source, plus(minus(out_most, p->source), cap));
}

static bool
spread_bounds(struct flow *f)
{
	struct ends x = index_ends(f, true);
	bool changed = true;

	if (!flow_fold(f))
		return false;
	for (size_t i = 0; i < f->way.n; i++) {
		struct way *w = &f->way.at[i];
		const struct way *folded = f->fold_way[i] == UINT32_MAX ? NULL : &f->folded->way.at[f->fold_way[i]];

		if (w->known)
			continue;
		w->least = folded ? folded->least : w->floor;
		w->most = folded ? folded->most : FLIGHT_MANY;
	}
	for (int round = 0; changed && round < ROUNDS; round++) {
		changed = false;
		for (uint32_t k = 0; k < f->spot.n; k++)
			changed |= narrow_spot(f, &x, round % 2 ? (uint32_t)f->spot.n - 1 - k : k);
	}
	for (size_t i = 0; i < f->way.n; i++)
		if (f->way.at[i].least > f->way.at[i].most)
			return false;
	f->least = f->folded->least;
	f->most = f->folded->most;
	return true;
}

bool
flow_bounds(struct flow *f)
{
	f->forest = span(f);
	return f->forest ? forest_bounds(f) : spread_bounds(f);
}

/* ---- sums ---- */

struct item {
	wide value;              /* what one activation there adds to the sum */
	wide least, most;        /* how many activations may stand there */
};

static int
by_value(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return (x->value < y->value) - (x->value > y->value);
}

/* The largest sum for a number of activations between least and most, where each place has bounds of its own. */
static wide
best(struct item *at, size_t n, wide least, wide most)
{
	wide sum = 0;

	for (size_t i = 0; i < n; i++) {
		sum += at[i].value * at[i].least;
		least -= at[i].least;
		most = minus(most, at[i].least);
	}
	qsort(at, n, sizeof *at, by_value);
	for (size_t i = 0; i < n && most > 0 && (at[i].value > 0 || least > 0); i++) {
		wide more = min(minus(at[i].most, at[i].least), at[i].value > 0 ? most : min(most, least));

		if (more >= FLIGHT_MANY && at[i].value > 0)
			return FLIGHT_MANY;
		sum += at[i].value * more;
		least -= more;
		most = minus(most, more);
	}
	return sum;
}

/* The sum if no activation stands anywhere. Ways may have negative counts then. */
static wide
sum_without(const struct flow *f, const int64_t *value)
{
	wide *b = surpluses(f), sum = 0;

	for (size_t i = 0; i < f->way.n; i++)
		if (f->way.at[i].known)
			sum += (wide)value[i] * f->way.at[i].count;
	for (size_t i = f->spot.n; i-- > 0;) {
		uint32_t v = f->order[i], up = f->up[v];

		if (up == UINT32_MAX)
			continue;
		sum += value[up] * (leads_up(f, v) ? b[v] : -b[v]);
		b[parent(f, v)] += b[v];
	}
	return sum;
}

static void
forest_sum(const struct flow *f, struct flow_sum *sum)
{
	size_t n = f->spot.n;
	wide *by = pool_array(f->pool, n, sizeof *by), base = sum_without(f, sum->value);
	struct item *item = pool_array(f->pool, n, sizeof *item);

	for (size_t i = 0; i < n; i++) {
		uint32_t v = f->order[i];

		if (f->up[v] != UINT32_MAX)
			by[v] = by[parent(f, v)] + (leads_up(f, v) ? -sum->value[f->up[v]] : sum->value[f->up[v]]);
	}
	for (size_t v = 0; v < n; v++)
		item[v] = (struct item){by[v] + sum->more[v], f->spot.at[v].least, f->spot.at[v].most};
	sum->most = plus(base, best(item, n, f->least, f->most));
	for (size_t v = 0; v < n; v++)
		item[v] = (struct item){(wide)sum->less[v] - by[v], f->spot.at[v].least, f->spot.at[v].most};
	sum->least = best(item, n, f->least, f->most);
	sum->least = sum->least >= FLIGHT_MANY ? -FLIGHT_MANY : base - sum->least;
}

/* Bounds each way by itself. */
static void
spread_sum(const struct flow *f, struct flow_sum *sum)
{
	struct item *more = pool_array(f->pool, f->spot.n, sizeof *more), *less = pool_array(f->pool, f->spot.n, sizeof *less);

	for (size_t v = 0; v < f->spot.n; v++) {
		more[v] = (struct item){(wide)sum->more[v], 0, f->spot.at[v].most};
		less[v] = (struct item){(wide)sum->less[v], 0, f->spot.at[v].most};
	}
	sum->most = best(more, f->spot.n, 0, f->most);
	sum->least = best(less, f->spot.n, 0, f->most);
	sum->least = sum->least >= FLIGHT_MANY ? -FLIGHT_MANY : -sum->least;
	for (size_t i = 0; i < f->way.n; i++) {
		const struct way *w = &f->way.at[i];

		if (!sum->value[i])
			continue;
		sum->least += sum->value[i] * w->least;
		sum->most = w->most >= FLIGHT_MANY ? FLIGHT_MANY : plus(sum->most, sum->value[i] * w->most);
	}
}

static void
folded_sum(const struct flow *f, struct flow_sum *sum)
{
	struct flow_sum folded;

	if (!flow_fold_sum(f, sum, &folded))
		return;
	sum->least = max(sum->least, folded.least);
	sum->most = min(sum->most, folded.most);
}

void
flow_sum_bounds(const struct flow *f, struct flow_sum *sum)
{
	if (f->forest)
		forest_sum(f, sum);
	else
		spread_sum(f, sum);
	if (!f->forest)
		folded_sum(f, sum);
	sum->least = max(0, sum->least + sum->constant);
	sum->most = plus(sum->most, sum->constant);
}
