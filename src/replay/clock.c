/* SPDX-License-Identifier: MIT */
/* The clock: how many instructions of measured code have been executed, by the counters of -fchord=events. With the PC and the
 * stack pointer it names a state (Mellor-Crummey and LeBlanc 1989; here it advances with every instruction, so that no state
 * has the name of another one). */
#include "process/control.h"
#include "replay/internal.h"
#include "run/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_EVENT "instructions"

/* A module that counts, where it is loaded. */
struct clocked {
	struct chord_live_module live;
	struct binary binary;
	struct where_index where;
	const struct event_counter *counter;
	bool open;               /* the file has been opened, and is that build */
};

struct clock {
	struct pool *pool;
	const struct tracee *t;
	struct chord_live live;
	VEC(struct clocked *) module; /* by number */
	VEC(uint64_t) base;      /* of regions, behind 0 */
};

struct clock *
clock_open(const struct tracee *t)
{
	struct clock *c = xcalloc(1, sizeof *c);

	c->pool = pool_new();
	c->t = t;
	return c;
}

static void
close_module(struct clocked *m)
{
	if (m->open)
		binary_close(&m->binary);
	m->open = false;
	m->counter = NULL;
}

void
clock_close(struct clock *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->module.n; i++)
		close_module(c->module.at[i]);
	free(c->module.at);
	free(c->base.at);
	pool_free(c->pool);
	free(c);
}

/* ---- modules ---- */

/* A name for the file that is mapped from an address on, or of the program itself. */
static const char *
file_at(struct clock *c, uint64_t bias)
{
	const char *maps = bias ? tracee_proc(c->t, c->pool, "maps") : NULL;
	const char *line = maps ? strstr(maps, pool_printf(c->pool, "%" PRIx64 "-", bias)) : NULL;
	size_t n = line ? strcspn(line, "\n") : 0;
	const char *path = line ? memchr(line, '/', n) : NULL;

	if (path)
		return pool_strndup(c->pool, path, (size_t)(line + n - path));
	return pool_printf(c->pool, "/proc/%d/exe", c->t->pid);
}

static const struct event_counter *
counter_of(const struct map *map)
{
	for (uint32_t i = 0; i < map->nproc; i++)
		for (uint32_t e = 0; e < map->proc[i].nevent; e++)
			if (!strcmp(map->proc[i].event[e].name, CLOCK_EVENT))
				return &map->proc[i].event[e];
	return NULL;
}

static void
open_module(struct clock *c, struct clocked *m)
{
	struct str id = {(const char *)m->live.id, m->live.idlen};
	const char *why;

	if (m->live.life != CHORD_LIFE_LOADED || m->live.idlen > sizeof m->live.id ||
	    !binary_open(c->pool, file_at(c, m->live.bias), &m->binary, &why))
		return;
	m->open = true;
	if (str_eq(image_build_id(m->binary.image), id)) {
		where_open(&m->where, c->pool, &m->binary);
		m->counter = counter_of(&m->binary.map);
	}
}

/* Reads what the runtime says of itself. False: the process counts nothing (yet). */
static bool
look(struct clock *c)
{
	if (!control_find(tracee_read, c->t, &c->live) || !c->live.magic)
		return false;
	for (uint32_t i = 0; i < c->live.nmodule; i++) {
		struct chord_live_module live;

		if (!control_item(tracee_read, c->t, c->live.modules, c->live.module_size, i, &live, sizeof live))
			return false;
		if (i == c->module.n)
			VEC_PUSH(c->module, (struct clocked *)pool_alloc(c->pool, sizeof **c->module.at));
		if (!memcmp(&c->module.at[i]->live, &live, sizeof live))
			continue;
		close_module(c->module.at[i]);
		c->module.at[i]->live = live;
		open_module(c, c->module.at[i]);
	}
	c->base.n = 0;
	VEC_PUSH(c->base, 0);
	for (uint32_t i = 0; i < c->live.nregion; i++) {
		struct chord_live_region r;

		if (control_item(tracee_read, c->t, c->live.regions, c->live.region_size, i, &r, sizeof r) && r.base)
			VEC_PUSH(c->base, r.base);
	}
	return true;
}

/* ---- counts ---- */

static uint64_t
count_at(const struct clock *c, const struct clocked *m, uint64_t base)
{
	uint64_t number[CHORD_NUMBERS_MOST];
	const struct event_counter *e = m->counter;

	if (!tracee_read(c->t, e->addr + m->live.bias + base, number, e->numbers * sizeof *number))
		return 0;
	return event_count(e, number, e->numbers);
}

uint64_t
clock_sum(struct clock *c)
{
	uint64_t sum = 0;

	if (!look(c))
		return 0;
	for (size_t i = 0; i < c->module.n; i++)
		for (size_t b = 0; c->module.at[i]->counter && b < c->base.n; b++)
			sum += count_at(c, c->module.at[i], c->base.at[b]);
	return sum;
}
