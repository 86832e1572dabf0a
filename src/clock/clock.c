/* SPDX-License-Identifier: MIT */
/* The clock: together with the PC and the registers it names a state of a thread (Mellor-Crummey and LeBlanc 1989). In code that
 * counts its instructions (-fchord=events), that count is the clock: no instruction sees the same count twice. Otherwise the event
 * `clock` (-fchord=clock) is the clock, and the name is unique only together with the stack pointer. */
#include "clock/clock.h"
#include "process/control.h"
#include "run/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The events that can be a clock. If a procedure counts more than one, the first of them is its clock. */
static const char *const serves[] = {"instructions", "clock"};
enum { SERVE = sizeof serves / sizeof *serves };

/* The counters that a module has for one of these events. Its sources may have been built for different events, each with numbers
 * of its own. */
struct ticks {
	VEC(const struct event_counter *) counter;
	uint64_t due;            /* where its code asks for timers; 0: nowhere */
	uint64_t most;           /* the counter is wrong by this at most */
	struct countdown *countdown;
	bool looked;             /* countdown has been looked for */
};

/* A module that counts, where it is loaded. */
struct clocked {
	struct chord_live_module live;
	struct binary binary;
	struct ticks ticks[SERVE];
	bool open;               /* its file has been opened, and is of the same build */
	uint64_t *back;          /* where calls come back, by address at link time */
	size_t nback;
};

typedef VEC(uint64_t) numbers;

struct clock {
	struct pool *pool;
	struct tracee *t;
	struct chord_live live;
	VEC(struct clocked *) module; /* by number */
	numbers base;            /* bases of regions, after a 0 */
	bool still;              /* no system call is made: the modules stay as they are */
	bool none;               /* nothing counts, and no memory has been mapped since that could be a control block */
	bool told;               /* clock_mapped() reports what is mapped */
	bool fails;              /* a counter could not be read */
	uint64_t ways;           /* address of timers that are armed; 0: none */
	int64_t taken[CHORD_PAIRS_TIMED]; /* what was taken from each timer */
	uint32_t elder;          /* the process whose counts this one began with; 0: it counts for itself */
	bool away;               /* a thread is on a stack of the runtime's */
};

struct clock *
clock_open(struct tracee *t)
{
	struct clock *c = xcalloc(1, sizeof *c);

	c->pool = pool_new();
	c->t = t;
	return c;
}

void
clock_follow(struct clock *c, struct tracee *t)
{
	c->t = t;
}

static void
close_module(struct clocked *m)
{
	if (m->open)
		binary_close(&m->binary);
	free(m->back);
	for (int k = 0; k < SERVE; k++) {
		free(m->ticks[k].counter.at);
		countdown_free(m->ticks[k].countdown);
	}
	*m = (struct clocked){.live = m->live};
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

/* A name for the file that is mapped from an address on (0: for the program itself). */
static const char *
file_at(struct clock *c, uint64_t bias)
{
	const char *maps = bias ? tracee_proc(c->t, c->pool, "maps") : NULL;
	struct maps_line m;

	while (maps_next(&maps, &m))
		if (m.start == bias && str_starts(m.name, "/"))
			return pool_strndup(c->pool, m.name.at, m.name.n);
	return pool_printf(c->pool, "/proc/%d/exe", c->t->pid);
}

/* The procedure's event that is its clock, and in *k which of them it is. UINT32_MAX: it has none. */
static uint32_t
clock_event(const struct proc *p, int *k)
{
	for (*k = 0; *k < SERVE; ++*k)
		for (uint32_t e = 0; e < p->nevent; e++)
			if (!strcmp(p->event[e].name, serves[*k]))
				return e;
	return UINT32_MAX;
}

/* Adds the counter, if it is not there yet. */
static void
add_counter(struct ticks *t, const struct event_counter *c)
{
	for (size_t i = 0; i < t->counter.n; i++)
		if (event_counter_same(t->counter.at[i], c))
			return;
	VEC_PUSH(t->counter, c);
}

static int
by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Finds what a procedure counts, and where its calls come back. */
static void
find_places(struct clocked *m, const struct proc *p, numbers *back)
{
	struct walk w;
	int k;
	uint32_t e = clock_event(p, &k);

	if (e != UINT32_MAX)
		add_counter(&m->ticks[k], &p->event[e]);
	for (uint32_t b = 0; b < p->nblock; b++)
		for (walk_start(&w, p, NULL, b); walk_next(&w);) {
			if (e != UINT32_MAX) {
				int64_t q = event_query(p, b, w.i, e);
				uint64_t size = (uint64_t)(q < 0 ? -q : q);

				m->ticks[k].most = size > m->ticks[k].most ? size : m->ticks[k].most;
			}
			if ((w.kind == CHORD_INSN_CALL || w.kind == CHORD_INSN_ICALL) && w.addr)
				VEC_PUSH(*back, w.addr + (w.next_offset - w.offset));
		}
}

static void
find_all_places(struct clocked *m)
{
	numbers back = {0};

	for (uint32_t i = 0; i < m->binary.map.nproc; i++)
		if (!m->binary.map.proc[i].refused)
			find_places(m, &m->binary.map.proc[i], &back);
	if (back.n)
		qsort(back.at, back.n, sizeof *back.at, by_number);
	m->back = back.at;
	m->nback = back.n;
}

/* Finds the routine that code with timers calls. 0: there is none. */
static uint64_t
find_due(struct clock *c, const struct clocked *m, int k)
{
	const struct image_symbol *symbol;
	const char *name = pool_printf(c->pool, "__chord_due_%s", serves[k]);
	size_t n = 0;

	if (m->ticks[k].counter.n == 1 && m->ticks[k].counter.at[0]->numbers == CHORD_WAYS_TIMED)
		n = image_symbols(m->binary.image, &symbol);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(symbol[i].name, name))
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
	m->open = str_eq(image_build_id(m->binary.image), id);
	if (!m->open) {
		binary_close(&m->binary);
		return;
	}
	find_all_places(m);
	for (int k = 0; k < SERVE; k++)
		m->ticks[k].due = find_due(c, m, k);
}

void
clock_mapped(struct clock *c, uint64_t at, uint64_t n)
{
	c->told = true;
	c->none &= !control_may_be(at, n);
}

static bool
look_at_modules(struct clock *c)
{
	if (c->none || !control_find(tracee_read, c->t, &c->live))
		return false;
	/* There may be further calls between the mapping and the moment when the magic is there. */
	c->none = !c->live.magic && c->told && control_absent(tracee_read, c->t);
	if (!c->live.magic)
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
	return true;
}

/* Looks each time, because a thread that begins may get a region without a system call. */
static bool
look_at_regions(struct clock *c)
{
	if (!control_find(tracee_read, c->t, &c->live) || !c->live.magic)
		return false;
	c->base.n = 0;
	c->away = false;
	VEC_PUSH(c->base, 0);
	for (uint32_t i = 0; i < c->live.nregion; i++) {
		struct chord_live_region r;

		if (!control_item(tracee_read, c->t, c->live.regions, c->live.region_size, i, &r, sizeof r))
			continue;
		c->away |= r.program_sp != 0;
		if (r.base)
			VEC_PUSH(c->base, r.base);
	}
	return true;
}

/* Reads what the runtime says of itself. False: the process counts nothing (yet). In a forked process the counts that it has from
 * its parent go on changing until it has counters of its own. */
static bool
look(struct clock *c)
{
	bool counts = (c->still || look_at_modules(c)) && look_at_regions(c);

	if (counts && c->elder && c->elder != c->live.pid && c->live.nregion && !c->away)
		c->elder = 0;
	return counts && !c->elder;
}

void
clock_begin_as(struct clock *c, struct clock *parent)
{
	c->elder = look(parent) ? parent->live.pid : parent->elder;
}

void
clock_copy(struct clock *c, const struct clock *of)
{
	c->elder = of->elder;
}

/* ---- counts ---- */

/* Reports this once. The memory of a process that was killed is gone: that process has no clock then, and nothing is reported. */
static void
cannot_read(struct clock *c, uint64_t addr)
{
	const char *why = strerror(errno);
	struct chord_live live;

	if (c->fails || !control_find(tracee_read, c->t, &live) || !live.magic)
		return;
	c->fails = true;
	say_error(pool_printf(c->pool, "process %d", c->t->pid), "its counter at 0x%" PRIx64 " cannot be read: %s", addr, why);
}

/* Has the library been closed? The runtime will notice that when it next looks for modules. The program itself may be linked at its
 * addresses, and then has no bias. */
static bool
is_unmapped(const struct clock *c, const struct clocked *m)
{
	char magic[4];

	return m->live.bias &&
	       (!tracee_read(c->t, m->live.bias, magic, sizeof magic) || memcmp(magic, "\x7f" "ELF", sizeof magic) != 0);
}

static uint64_t
count_in(struct clock *c, const struct clocked *m, const struct event_counter *e, uint64_t base)
{
	uint64_t number[CHORD_NUMBERS_MOST], addr = e->addr + m->live.bias + base;

	errno = EFAULT;
	if (tracee_read(c->t, addr, number, e->numbers * sizeof *number))
		return event_count(e, number, e->numbers);
	/* A region that the runtime is about to move or to give back counts nothing meanwhile. */
	if (!c->live.owner && !is_unmapped(c, m))
		cannot_read(c, addr);
	return 0;
}

static uint64_t
count_of(struct clock *c, const struct clocked *m, const struct ticks *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->counter.n; i++)
		for (size_t b = 0; b < c->base.n; b++)
			sum += count_in(c, m, t->counter.at[i], c->base.at[b]);
	return sum;
}

bool
clock_fails(const struct clock *c)
{
	return c->fails;
}

uint64_t
clock_sum(struct clock *c)
{
	uint64_t sum = 0;

	if (!look(c))
		return 0;
	for (size_t i = 0; i < c->module.n; i++)
		for (int k = 0; k < SERVE; k++)
			sum += count_of(c, c->module.at[i], &c->module.at[i]->ticks[k]);
	return sum;
}

/* ---- states ---- */

/* The module that has code with a clock at the PC, and its counters in *ticks. NULL: there is none. */
static struct clocked *
module_at(const struct clock *c, uint64_t pc, struct ticks **ticks)
{
	for (size_t i = 0; i < c->module.n; i++) {
		struct clocked *m = c->module.at[i];
		const struct part_at *part = m->open ? parts_find(&m->binary.parts, pc - m->live.bias) : NULL;
		int k;

		if (!part || part->proc->refused || clock_event(part->proc, &k) == UINT32_MAX)
			continue;
		*ticks = &m->ticks[k];
		return m;
	}
	return NULL;
}

bool
clock_at(struct clock *c, uint64_t pc, uint64_t *count)
{
	struct ticks *ticks;
	const struct clocked *m = look(c) ? module_at(c, pc, &ticks) : NULL;

	*count = m ? count_of(c, m, ticks) : 0;
	return m;
}

uint64_t
clock_return(struct clock *c, uint64_t sp)
{
	enum { WORDS = 8192 };
	uint64_t *word = look(c) ? xmalloc(WORDS * sizeof *word) : NULL, found = 0;
	size_t n = word ? tracee_read_some(c->t, sp, word, WORDS * sizeof *word) / sizeof *word : 0;

	for (size_t i = 0; i < n && !found; i++) {
		struct ticks *ticks;
		const struct clocked *m = module_at(c, word[i], &ticks);
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

/* Can the timers be armed? If the program itself has set none, they are far from 0. */
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
	struct ticks *ticks;
	const struct clocked *m = look(c) ? module_at(c, pc, &ticks) : NULL;
	struct { struct way way[CHORD_PAIRS_TIMED]; uint64_t seq; } timer;
	uint64_t at, share;

	if (!m || !ticks->due || left < 4 * ticks->most + 64)
		return 0;
	at = ticks->counter.at[0]->addr + m->live.bias + tracee_word(c->t, c->t->machine->counters);
	if (!tracee_read(c->t, at, &timer, sizeof timer) || !can_arm(timer.way, timer.seq))
		return 0;
	share = (left - 3 * ticks->most) / CHORD_PAIRS_TIMED;
	for (int i = 0; i < CHORD_PAIRS_TIMED; i++) {
		c->taken[i] = timer.way[i].way + (int64_t)share;
		timer.way[i].way -= c->taken[i];
		timer.way[i].rest += c->taken[i];
	}
	c->ways = at;
	return tracee_write(c->t, at, timer.way, sizeof timer.way) ? ticks->due : 0;
}

bool
clock_asks(struct clock *c)
{
	struct way way[CHORD_PAIRS_TIMED];

	if (!c->ways || !tracee_read(c->t, c->ways, way, sizeof way))
		return false;
	for (int i = 0; i < CHORD_PAIRS_TIMED; i++)
		if (way[i].way >= 0)
			return true;
	return false;
}

bool
clock_has_timers(struct clock *c)
{
	if (!look(c))
		return false;
	for (size_t i = 0; i < c->module.n; i++)
		for (int k = 0; k < SERVE; k++)
			if (c->module.at[i]->ticks[k].due)
				return true;
	return false;
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

/* ---- without timers ---- */

struct countdown *
clock_countdown(struct clock *c, uint64_t pc)
{
	struct ticks *ticks;
	struct clocked *m = look(c) ? module_at(c, pc, &ticks) : NULL;
	additions found = {0};

	if (!m)
		return NULL;
	if (!ticks->looked && additions_find(&m->binary, m->live.bias, ticks->counter.at, ticks->counter.n, &found))
		ticks->countdown = countdown_new(&found);
	ticks->looked = true;
	free(found.at);
	return ticks->countdown;
}
