/* SPDX-License-Identifier: MIT */
/* What a process counts: opens its modules, and finds the requested events. */
#include "process/query.h"

#include "asm/event.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- modules ---- */

static int
by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The return addresses of a procedure's calls. */
static size_t
returns_of(const struct proc *p, uint64_t *at)
{
	struct walk w;
	size_t n = 0;

	for (uint32_t b = 0; b < p->nblock; b++)
		for (walk_start(&w, p, NULL, b); walk_next(&w);)
			if ((w.kind == CHORD_INSN_CALL || w.kind == CHORD_INSN_ICALL) && w.addr)
				at[n++] = w.addr + (w.next_offset - w.offset);
	return n;
}

static void
find_returns(struct query *q, struct counted *c)
{
	size_t most = 0;

	for (uint32_t i = 0; i < c->binary.map.nproc; i++)
		for (uint32_t b = 0; b < c->binary.map.proc[i].nblock; b++)
			most += c->binary.map.proc[i].block[b].ninsn;
	c->back = pool_array(q->pool, most, sizeof *c->back);
	for (uint32_t i = 0; i < c->binary.map.nproc; i++)
		c->nback += returns_of(&c->binary.map.proc[i], c->back + c->nback);
	if (c->nback)
		qsort(c->back, c->nback, sizeof *c->back, by_number);
}

/* Opens the file, if it has that build id. */
static bool
open_build(struct query *q, const char *path, struct str id, struct counted *c)
{
	const char *why;

	if (!binary_open(q->pool, path, &c->binary, &why))
		return false;
	if (str_eq(image_build_id(c->binary.image), id))
		return true;
	binary_close(&c->binary);
	return false;
}

/* Opens a module of the profile: the program itself, or a library by its path, below the root of the process. */
static void
open_module(struct query *q, const struct process *p, const struct module *m)
{
	struct str id = {(const char *)m->id, m->nid};
	struct counted *c = pool_alloc(q->pool, sizeof *c);

	if (!open_build(q, pool_printf(q->pool, "/proc/%d/exe", p->alive), id, c) &&
	    !open_build(q, pool_printf(q->pool, "/proc/%d/root%s", p->alive, m->path), id, c)) {
		VEC_PUSH(q->unknown, (struct named){pool_strdup(q->pool, m->path), "this build of it is not there any more"});
		return;
	}
	c->binary.path = pool_strdup(q->pool, m->path);
	where_open(&c->where, q->pool, &c->binary);
	find_returns(q, c);
	VEC_PUSH(q->counted, c);
}

bool
counted_returns(const struct counted *c, uint64_t addr)
{
	return c->nback && bsearch(&addr, c->back, c->nback, sizeof addr, by_number);
}

struct counted *
query_counted(const struct query *q, struct str id)
{
	for (size_t i = 0; i < q->counted.n; i++)
		if (str_eq(image_build_id(q->counted.at[i]->binary.image), id))
			return q->counted.at[i];
	return NULL;
}

static bool
is_unknown(const struct query *q, const char *path)
{
	for (size_t i = 0; i < q->unknown.n; i++)
		if (!strcmp(q->unknown.at[i].name, path))
			return true;
	return false;
}

/* ---- events ---- */

static uint32_t
number_of(const struct query *q, struct str name)
{
	for (uint32_t i = 0; i < q->event.n; i++)
		if (str_is(name, q->event.at[i]))
			return i;
	return UINT32_MAX;
}

/* Notes in how many blocks the linker replaced instructions that the requested events count. */
static void
find_replaced(struct query *q, struct counted *c)
{
	static const char how[] = "%s: in %" PRIu32 " block%s of %s the linker replaced instructions; they are counted as they "
	                          "were assembled";

	for (uint32_t e = 0; e < q->event.n; e++) {
		uint32_t n = replaced_blocks(q->pool, &c->binary, q->event.at[e]);

		if (n)
			VEC_PUSH(c->replaced, pool_printf(q->pool, how, q->event.at[e], n, n == 1 ? "" : "s",
			                                  base_name(c->binary.path)));
	}
}

static void
find_counters(struct query *q, struct counted *c)
{
	const struct map *map = &c->binary.map;

	if (c->event)
		return;
	find_replaced(q, c);
	c->event = pool_array(q->pool, map->nproc, sizeof *c->event);
	for (uint32_t i = 0; i < map->nproc; i++) {
		const struct proc *p = &map->proc[i];

		c->event[i] = pool_array(q->pool, p->nevent, sizeof **c->event);
		for (uint32_t e = 0; e < p->nevent; e++) {
			uint32_t number = number_of(q, str_of(p->event[e].name));
			bool fresh = number != UINT32_MAX;

			c->event[i][e] = number;
			for (size_t k = 0; k < c->counter.n; k++)
				fresh &= !event_counter_same(c->counter.at[k].at, &p->event[e]);
			if (fresh)
				VEC_PUSH(c->counter, (struct counter){&p->event[e], number});
		}
	}
}

static void
take_all(struct query *q)
{
	for (size_t i = 0; i < q->counted.n; i++) {
		const struct map *map = &q->counted.at[i]->binary.map;

		for (uint32_t k = 0; k < map->nproc; k++)
			for (uint32_t e = 0; e < map->proc[k].nevent; e++)
				if (number_of(q, str_of(map->proc[k].event[e].name)) == UINT32_MAX)
					VEC_PUSH(q->event, map->proc[k].event[e].name);
	}
}

static bool
not_counted(const struct query *q, struct str name)
{
	struct buf b = {0};

	for (size_t i = 0; i < q->event.n; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", q->event.at[i]);
	say_error(pool_strndup(q->pool, name.at, name.n), "not counted by process %s, which counts %.*s", q->pid, (int)b.n, b.at);
	buf_free(&b);
	return false;
}

/* Keeps only the requested events, in the requested order. */
static bool
choose(struct query *q)
{
	const char **chosen = pool_array(q->pool, q->event.n, sizeof *chosen);
	size_t n = 0;

	for (const char *at = q->wanted;; at++) {
		struct str name = {at, event_list_item(at)};
		uint32_t have = number_of(q, name);
		bool twice = false;

		if (have == UINT32_MAX)
			return not_counted(q, name);
		for (size_t i = 0; i < n; i++)
			twice |= chosen[i] == q->event.at[have];
		if (!twice)
			chosen[n++] = q->event.at[have];
		at += name.n;
		if (!*at)
			break;
	}
	memcpy(q->event.at, chosen, n * sizeof *chosen);
	q->event.n = n;
	return true;
}

/* Modules that could not be read may count events. */
static bool
no_events(const struct query *q, const struct process *p)
{
	if (process_ended(p))
		say_error(q->pid, "it has ended");
	else if (q->unknown.n)
		say_error(q->pid, "its events are not known: %s: %s", q->unknown.at[0].name, q->unknown.at[0].reason);
	else
		say_error(q->pid, "it counts no events: build it with -fchord=events");
	return false;
}

bool
query_events(struct query *q, const struct process *p)
{
	take_all(q);
	if (!q->event.n)
		return no_events(q, p);
	return !q->wanted || choose(q);
}

void
query_modules(struct query *q, const struct process *process, const struct profile *p)
{
	for (size_t i = 0; i < p->module.n; i++) {
		const struct module *m = &p->module.at[i];

		if (!query_counted(q, (struct str){(const char *)m->id, m->nid}) && !is_unknown(q, m->path)) {
			if (m->nid)
				open_module(q, process, m);
			else
				VEC_PUSH(q->unknown, (struct named){pool_strdup(q->pool, m->path),
				                                    "it has no build id: link it with -Wl,--build-id"});
		}
	}
	for (size_t i = 0; q->event.n && i < q->counted.n; i++)
		find_counters(q, q->counted.at[i]);
}
