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
	uint64_t *back;          /* where calls come back, by address at link time */
	size_t nback;
	uint64_t due;            /* where its code asks for timers; 0: it does not */
	uint64_t most;           /* the counter may be wrong by at most so much */
};

struct clock {
	struct pool *pool;
	struct tracee *t;
	struct chord_live live;
	VEC(struct clocked *) module; /* by number */
	VEC(uint64_t) base;      /* of regions, behind 0 */
	bool still;              /* no system call is made: all that stays as it is */
	uint64_t ways;           /* address of those that are armed; 0: none */
	int64_t taken[CHORD_PAIRS_TIMED]; /* from each */
};

struct clock *
clock_open(struct tracee *t)
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
	free(m->back);
	m->back = NULL;
	m->nback = 0;
	m->due = m->most = 0;
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

static int
by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Where the procedures' calls come back, and by how much their counters may be wrong. */
static void
find_places(struct clocked *m)
{
	VEC(uint64_t) back = {0};

	for (uint32_t i = 0; i < m->binary.map.nproc; i++) {
		const struct proc *p = &m->binary.map.proc[i];
		struct walk w;

		for (uint32_t b = 0; b < p->nblock; b++)
			for (walk_start(&w, p, NULL, b); walk_next(&w);) {
				if (p->nevent) {
					int64_t q = event_query(p, b, w.i, 0);
					uint64_t size = (uint64_t)(q < 0 ? -q : q);

					m->most = size > m->most ? size : m->most;
				}
				if ((w.kind == CHORD_INSN_CALL || w.kind == CHORD_INSN_ICALL) && w.addr)
					VEC_PUSH(back, w.addr + (w.next_offset - w.offset));
			}
	}
	if (back.n)
		qsort(back.at, back.n, sizeof *back.at, by_number);
	m->back = back.at;
	m->nback = back.n;
}

/* The routine that code with timers calls. */
static uint64_t
find_due(const struct clocked *m)
{
	const struct image_symbol *symbol;
	size_t n = m->counter && m->counter->numbers == CHORD_WAYS_TIMED ? image_symbols(m->binary.image, &symbol) : 0;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(symbol[i].name, "__chord_due_" CLOCK_EVENT))
			return symbol[i].addr + m->live.bias;
	return 0;
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
		find_places(m);
		m->due = find_due(m);
	}
}

/* Reads what the runtime says of itself. False: the process counts nothing (yet). */
static bool
look(struct clock *c)
{
	if (c->still)
		return true;
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

/* ---- states ---- */

static struct clocked *
module_at(const struct clock *c, uint64_t pc)
{
	for (size_t i = 0; i < c->module.n; i++) {
		struct clocked *m = c->module.at[i];
		const struct part_at *part = m->counter ? parts_find(&m->binary.parts, pc - m->live.bias) : NULL;

		if (part && !part->proc->refused && part->proc->nevent)
			return m;
	}
	return NULL;
}

static uint64_t
count_of(const struct clock *c, const struct clocked *m)
{
	uint64_t sum = 0;

	for (size_t b = 0; b < c->base.n; b++)
		sum += count_at(c, m, c->base.at[b]);
	return sum;
}

bool
clock_at(struct clock *c, uint64_t pc, uint64_t *count)
{
	const struct clocked *m = look(c) ? module_at(c, pc) : NULL;

	*count = m ? count_of(c, m) : 0;
	return m;
}

uint64_t
clock_return(struct clock *c, uint64_t sp)
{
	enum { WORDS = 8192 };
	uint64_t *word = look(c) ? xmalloc(WORDS * sizeof *word) : NULL, found = 0;
	size_t n = word ? tracee_read_some(c->t, sp, word, WORDS * sizeof *word) / sizeof *word : 0;

	for (size_t i = 0; i < n && !found; i++) {
		const struct clocked *m = module_at(c, word[i]);
		uint64_t at = m ? word[i] - m->live.bias : 0;

		if (m && m->nback && bsearch(&at, m->back, m->nback, sizeof at, by_number))
			found = word[i];
	}
	free(word);
	return found;
}

bool
clock_still(struct clock *c, bool still)
{
	c->still = false;
	c->still = still && look(c);
	return c->still;
}

/* ---- timers ---- */

struct way {
	int64_t way, rest;
};

/* What the program itself has set is far from 0, if it has set no timer. */
static bool
can_arm(const struct way way[CHORD_PAIRS_TIMED], uint64_t seq)
{
	for (int i = 0; i < CHORD_PAIRS_TIMED; i++)
		if (way[i].way > -(1ll << 40))
			return false;
	return !(seq & 1);
}

uint64_t
clock_arm(struct clock *c, uint64_t pc, uint64_t left)
{
	const struct clocked *m = look(c) ? module_at(c, pc) : NULL;
	struct { struct way way[CHORD_PAIRS_TIMED]; uint64_t seq; } timer;
	uint64_t at, share;

	if (!m || !m->due || left < 4 * m->most + 64)
		return 0;
	at = m->counter->addr + m->live.bias + tracee_word(c->t, c->t->machine->counters);
	if (!tracee_read(c->t, at, &timer, sizeof timer) || !can_arm(timer.way, timer.seq))
		return 0;
	share = (left - 3 * m->most) / CHORD_PAIRS_TIMED;
	for (int i = 0; i < CHORD_PAIRS_TIMED; i++) {
		c->taken[i] = timer.way[i].way + (int64_t)share;
		timer.way[i].way -= c->taken[i];
		timer.way[i].rest += c->taken[i];
	}
	c->ways = at;
	return tracee_write(c->t, at, timer.way, sizeof timer.way) ? m->due : 0;
}

void
clock_disarm(struct clock *c)
{
	struct way way[CHORD_PAIRS_TIMED];

	if (!c->ways || !tracee_read(c->t, c->ways, way, sizeof way))
		return;
	for (int i = 0; i < CHORD_PAIRS_TIMED; i++) {
		way[i].way += c->taken[i];
		way[i].rest -= c->taken[i];
	}
	tracee_write(c->t, c->ways, way, sizeof way);
	c->ways = 0;
}
