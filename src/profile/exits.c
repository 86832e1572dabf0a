/* SPDX-License-Identifier: MIT */
/* Assigns records of exits and re-entries to the calls and interruption points where they were made. */
#include "profile/measure.h"

#include <inttypes.h>
#include <stdlib.h>

/* The place to which a call returns. */
struct back_at {
	uint64_t addr;
	uint32_t proc, call;
};

struct backs {
	struct back_at *at;
	size_t n;
};

static int
resumed_by_addr(const void *a, const void *b)
{
	const struct back_at *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->proc > y->proc) - (x->proc < y->proc);
}

static struct backs
collect(struct pool *pool, const struct map *map)
{
	struct backs b = {0};

	for (uint32_t i = 0; i < map->nproc; i++)
		b.n += map->proc[i].ncall;
	b.at = pool_array(pool, b.n, sizeof *b.at);
	b.n = 0;
	for (uint32_t i = 0; i < map->nproc; i++)
		for (uint32_t k = 0; k < map->proc[i].ncall; k++)
			if (map->proc[i].call[k].back)
				b.at[b.n++] = (struct back_at){map->proc[i].call[k].back, i, k};
	if (b.n)
		qsort(b.at, b.n, sizeof *b.at, resumed_by_addr);
	return b;
}

static const struct back_at *
find(const struct backs *b, uint64_t addr)
{
	size_t lo = 0, hi = b->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (b->at[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < b->n && b->at[lo].addr == addr ? &b->at[lo] : NULL;
}

static void
count_exit(struct pool *pool, const struct proc *p, uint32_t call, const struct exits *e, struct counts *c)
{
	if (!c->left) {
		c->left = pool_array(pool, p->ncall, sizeof *c->left);
		c->back = pool_array(pool, p->ncall, sizeof *c->back);
		c->passed = pool_array(pool, (size_t)p->ncall * CHORD_SUMS, sizeof *c->passed);
	}
	for (uint32_t k = 0; k < CHORD_SUMS; k++)
		c->passed[call * CHORD_SUMS + k] += e->reentry ? -e->sum[k] : e->sum[k];
	if (p->call[call].flags & CHORD_CALL_NORETURN && !e->reentry)
		return;
	if (!checked_add(e->reentry ? &c->back[call] : &c->left[call], e->count))
		c->why = "its counts do not fit 64 bits";
}

static void
count_cut(struct pool *pool, const struct cut *at, const struct exits *e, struct counts *c)
{
	struct cut *k = c->cut;

	while (k && k->addr != at->addr)
		k = k->next;
	if (!k) {
		k = pool_alloc(pool, sizeof *k);
		*k = *at;
		k->next = c->cut;
		c->cut = k;
	}
	if (!checked_add(e->reentry ? &k->back : &k->left, e->count))
		c->why = "its counts do not fit 64 bits";
}

/* Where a timer's handler is called, the counter of its event is complete, because the stub has added what was missing. Other
 * counters are not complete there. */
static bool
is_complete(const struct proc *p, uint64_t back, const struct woven_code *woven)
{
	return p->nevent == 1 && !p->ncounter && p->event[0].numbers == CHORD_WAYS_TIMED && woven->due(woven->ctx, back);
}

static const char *
lost_why(struct pool *pool, uint64_t n, uint64_t addr)
{
	if (n == 1)
		return pool_printf(pool, "an activation ended early at 0x%" PRIx64 ", where it makes no call", addr);
	return pool_printf(pool, "%" PRIu64 " activations ended early, one at 0x%" PRIx64 ", where it makes no call", n, addr);
}

/* An exit that is not at a call. If its place cannot be found, the measured procedure around the address, if any, is not known. */
static void
place_cut(struct pool *pool, const struct parts *parts, const struct map *map, const struct exits *e,
          const struct woven_code *woven, struct counts *counts)
{
	/* A return address may be just after the code. */
	const struct part_at *at = parts_find(parts, e->addr ? e->addr - 1 : 0);
	struct cut cut = {0};
	struct counts *c;

	if (!at || at->proc->refused)
		return;
	c = &counts[at->proc - map->proc];
	if (woven && cut_place(at->proc, e->addr - 1, woven, &cut)) {
		count_cut(pool, &cut, e, c);
		return;
	}
	if (woven && is_complete(at->proc, e->addr, woven))
		return;
	c->lost = saturating_add(c->lost, e->count);
	if (!c->why || c->lost > e->count)
		c->why = lost_why(pool, c->lost, e->addr);
}

/* The calls of all procedures, and their code; made when first needed. */
struct places {
	struct pool *pool;
	const struct map *map;
	struct parts parts;
	struct backs backs;
};

static void
find_places(struct places *x)
{
	if (x->backs.at)
		return;
	x->parts = map_parts(x->pool, x->map);
	x->backs = collect(x->pool, x->map);
}

bool
places_call(struct places *x, uint64_t addr, uint32_t *proc, uint32_t *call)
{
	const struct back_at *at;

	find_places(x);
	at = find(&x->backs, addr);
	if (!at)
		return false;
	*proc = at->proc;
	*call = at->call;
	return true;
}

void
exits_place(struct pool *pool, const struct map *map, const struct profile *p, const struct module *module,
            const struct woven_code *woven, struct counts *counts)
{
	struct places x = {.pool = pool, .map = map};

	for (size_t i = 0; p && i < p->exit.n; i++) {
		const struct exits *e = &p->exit.at[i];
		const struct back_at *at;

		if (&p->module.at[e->module] != module || e->handler)
			continue;
		find_places(&x);
		if ((at = find(&x.backs, e->addr)))
			count_exit(pool, &map->proc[at->proc], at->call, e, &counts[at->proc]);
		else
			place_cut(pool, &x.parts, map, e, woven, counts);
	}
	if (p)
		measures_place(pool, &x, p, module, counts);
}
