/* SPDX-License-Identifier: MIT */
/* Counted events: totals, and exact counts at any instruction. */
#include "profile/internal.h"

#include <string.h>

/* Reads a number of a map that has been checked. */
static uint64_t
uleb(const unsigned char **at)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		unsigned char c = *(*at)++;

		v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return v;
	}
}

int64_t
event_added(const struct proc *p, uint32_t block, uint32_t i, uint32_t e)
{
	const unsigned char *at = p->event_block[(size_t)block * p->nevent + e].runs;
	uint64_t sum = 0;

	for (uint32_t left = i; left;) {
		uint64_t n = uleb(&at), each = uleb(&at);

		n = n < left ? n : left;
		sum += n * each;
		left -= (uint32_t)n;
	}
	return (int64_t)sum;
}

int64_t
event_query(const struct proc *p, uint32_t block, uint32_t i, uint32_t e)
{
	const struct event_block *b = &p->event_block[(size_t)block * p->nevent + e];
	uint64_t sum = (uint64_t)b->query + b->enter + (uint64_t)event_added(p, block, i, e);

	for (uint32_t k = 0; k < p->nevent_site; k++)
		if (p->event_site[k].block == block && p->event_site[k].insn <= i)
			sum -= (uint64_t)p->event_site[k].add[e];
	for (uint32_t k = 0; k < p->nevent_call; k++)
		if (p->event_call[k].block == block && p->event_call[k].insn < i)
			sum -= (uint64_t)p->event_call[k].add[e];
	return (int64_t)sum;
}

struct event_total *
event_total_of(struct event_totals *t, const char *name)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (!strcmp(t->at[i].name, name))
			return &t->at[i];
	t->at[t->n].name = name;
	return &t->at[t->n++];
}

struct seen {
	const struct event_counter **at;
	size_t n;
};

bool
event_counter_same(const struct event_counter *a, const struct event_counter *b)
{
	return a->addr == b->addr && !strcmp(a->name, b->name);
}

static bool
is_new(struct seen *s, const struct event_counter *c)
{
	for (size_t i = 0; i < s->n; i++)
		if (event_counter_same(s->at[i], c))
			return false;
	s->at[s->n++] = c;
	return true;
}

/* Activations that ended between calls had counted some events not yet, or too early. */
static void
add_cuts(struct event_totals *t, const struct proc *p, const struct counts *c, const struct woven_code *woven)
{
	bool known = !c->lost;
	int64_t query;

	for (const struct cut *cut = c->cut; cut; cut = cut->next)
		for (uint32_t e = 0; e < p->nevent; e++) {
			known &= cut_query(p, cut, e, woven, &query);
			event_total_of(t, p->event[e].name)->n += (cut->left - cut->back) * (uint64_t)query;
		}
	if (p->nevent && !known)
		t->why = "an activation ended where it cannot be told how much it had counted";
}

uint64_t
event_count(const struct event_counter *c, const uint64_t *number, uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < c->numbers && i < n; i++)
		sum += number[i] * (uint64_t)event_of_number(c, i);
	return sum;
}

/* The bounds of the difference between a counter and its events, wherever control is in a procedure. */
struct lag {
	int64_t least, most;
};

static void
widen(struct lag *l, int64_t n)
{
	l->least = n < l->least ? n : l->least;
	l->most = n > l->most ? n : l->most;
}

/* Between additions that are made together, and on an edge between blocks, the difference may be larger than between instructions,
 * but by no more than these additions. */
static void
add_lag(const struct proc *p, uint32_t e, struct lag *all)
{
	struct lag l = {0, 0};
	int64_t add = 0, wide;

	for (uint32_t b = 0; b < p->nblock; b++)
		for (uint32_t i = 0; i < p->block[b].ninsn; i++)
			widen(&l, event_query(p, b, i, e));
	for (uint32_t k = 0; k < p->nevent_site; k++) {
		int64_t n = p->event_site[k].add[e];

		add = n > add ? n : -n > add ? -n : add;
	}
	wide = l.most - l.least > add ? l.most - l.least : add;
	widen(all, l.least - wide);
	widen(all, l.most + wide);
}

/* How many threads of all processes in flight may be anywhere. At calls counters are exact. */
static uint64_t
threads_in_flight(const struct profile *p)
{
	uint64_t n = p ? p->standing : 0;

	for (size_t i = 0; p && i < p->flight.n; i++)
		if (!checked_add(&n, p->flight.at[i]->standing))
			return UINT32_MAX;
	return n < UINT32_MAX ? n : UINT32_MAX;
}

static void
take_lags(struct pool *pool, struct event_totals *t, const struct map *map, uint64_t threads)
{
	struct lag *lag = pool_array(pool, t->n, sizeof *lag);

	for (uint32_t i = 0; i < map->nproc && threads; i++)
		for (uint32_t e = 0; e < map->proc[i].nevent; e++)
			add_lag(&map->proc[i], e, &lag[event_total_of(t, map->proc[i].event[e].name) - t->at]);
	for (uint32_t i = 0; i < t->n; i++) {
		uint64_t less = threads * (uint64_t)-lag[i].least, more = threads * (uint64_t)lag[i].most;
		/* A counter slightly below 0 was being updated. */
		int64_t n = (int64_t)t->at[i].n;

		t->at[i].most = n < 0 && (uint64_t)-n > more ? t->at[i].n : t->at[i].n + more;
		t->at[i].n = n < 0 && (uint64_t)-n <= more ? 0 : n >= 0 && less > t->at[i].n ? 0 : t->at[i].n - less;
	}
}

struct event_totals
profile_events(struct pool *pool, const struct map *map, const struct profile *p, const struct module *m,
               const struct counts *counts, const struct woven_code *woven)
{
	struct event_totals t = {0};
	struct seen seen = {0};
	size_t most = 0;

	for (uint32_t i = 0; i < map->nproc; i++)
		most += map->proc[i].nevent;
	t.at = pool_array(pool, most, sizeof *t.at);
	seen.at = pool_array(pool, most, sizeof *seen.at);
	for (uint32_t i = 0; i < map->nproc; i++)
		for (uint32_t e = 0; e < map->proc[i].nevent; e++) {
			const struct event_counter *c = &map->proc[i].event[e];
			uint64_t at = m ? (c->addr - m->base) / 8 : 0;

			if (!is_new(&seen, c))
				continue;
			if (m && (c->addr < m->base || (c->addr - m->base) % 8 || at + c->numbers > m->ncount))
				t.why = "the profile does not hold the counters of events";
			else
				event_total_of(&t, c->name)->n += m && m->count ? event_count(c, m->count + at, c->numbers) : 0;
		}
	for (uint32_t i = 0; i < map->nproc; i++)
		add_cuts(&t, &map->proc[i], &counts[i], woven);
	take_lags(pool, &t, map, m ? threads_in_flight(p) : 0);
	for (uint32_t i = 0; i < t.n; i++)
		if (t.at[i].n > INT64_MAX)
			t.why = "the counter of an event was on its way below 0 when the process ended";
	return t;
}

/* ---- sums of calls ---- */

void
map_sums(struct map *map, struct str bytes, uint64_t addr)
{
	int32_t distance;

	map->nsum = 0;
	for (size_t at = 0; at + sizeof distance <= bytes.n && map->nsum < CHORD_SUMS; at += sizeof distance) {
		uint64_t counter;
		uint32_t i;

		memcpy(&distance, bytes.at + at, sizeof distance);
		if (!distance)
			continue;
		counter = addr + at + (uint64_t)(int64_t)distance;
		for (i = map->nsum++; i > 0 && map->sum[i - 1] > counter; i--)
			map->sum[i] = map->sum[i - 1];
		map->sum[i] = counter;
	}
}

/* The number of a counter among those whose values are in exit records. */
static bool
sum_number(const struct map *map, uint64_t addr, uint32_t *number)
{
	for (*number = 0; *number < map->nsum; ++*number)
		if (map->sum[*number] == addr)
			return true;
	return false;
}

bool
call_sum(const struct map *map, const struct proc *p, const struct counts *c, const struct module *m, uint32_t call,
         uint32_t event, uint64_t *n)
{
	uint64_t at = (p->counters - (m ? m->base : 0)) / 8 + p->call[call].sum - 1 + event;
	uint32_t number;

	*n = 0;
	if (!m || !m->count)
		return true;
	if (!p->counters || p->counters < m->base || at >= m->ncount || !sum_number(map, p->event[event].addr, &number))
		return false;
	*n = m->count[at] + (c->passed ? c->passed[(size_t)call * CHORD_SUMS + number] : 0);
	return *n <= INT64_MAX; /* otherwise one of the calls is under way */
}
