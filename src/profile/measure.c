/* SPDX-License-Identifier: MIT */
/* Calls of all measures, and the sections of a map record: each is read by its measure. */
#include "profile/measure.h"

#include <stdlib.h>
#include <string.h>

#define ROW(id, lower, ...) [CHORD_##id] = &profile_measure_##lower,
static const struct profile_measure *const list[CHORD_MEASURES] = {CHORD_MEASURE_LIST(ROW)};

/* ---- profiles ---- */

#define EACH(function, ...) \
	for (uint32_t m_ = 0; m_ < CHORD_MEASURES; m_++) \
		if (list[m_]->function) \
			list[m_]->function(__VA_ARGS__)

const struct profile_extent *
measures_extent(uint32_t type)
{
	for (uint32_t m = 0; m < CHORD_MEASURES; m++)
		for (const struct profile_extent *x = list[m]->extents; x && x->type; x++)
			if (x->type == type)
				return x;
	return NULL;
}

void
measures_waiting(struct profile *p, uint32_t module, const struct chord_waiting *w)
{
	for (uint32_t m = 0; m < CHORD_MEASURES; m++)
		if (list[m]->waiting)
			list[m]->waiting(p, module, w);
}

const char *
measures_settle(struct profile *p, const uint32_t *to, uint32_t n)
{
	const char *why = NULL;

	for (uint32_t m = 0; m < CHORD_MEASURES && !why; m++)
		why = list[m]->settle ? list[m]->settle(p, to, n) : NULL;
	return why;
}

bool
measures_add_up(const struct module *a, const struct module *b)
{
	bool all = true;

	for (uint32_t m = 0; m < CHORD_MEASURES; m++)
		all &= !list[m]->add_up || list[m]->add_up(a, b);
	return all;
}

bool
measures_merge(struct profile *sum, const struct profile *p, const uint32_t *to)
{
	bool fits = true;

	for (uint32_t m = 0; m < CHORD_MEASURES; m++)
		fits &= !list[m]->merge || list[m]->merge(sum, p, to);
	return fits;
}

void
measures_keep_below(struct profile *p, uint32_t n)
{
	EACH(keep_below, p, n);
}

void
measures_copy_module(struct profile *p, struct module *m)
{
	EACH(copy_module, p, m);
}

void
measures_write_module(const struct module *m, uint32_t number, struct buf *out)
{
	EACH(write_module, m, number, out);
}

void
measures_write(const struct profile *p, uint64_t of, struct buf *out)
{
	EACH(write, p, of, out);
}

void
measures_forget(struct profile *p)
{
	EACH(forget, p);
}

void
profile_take_map(struct profile *p, struct module *m, const struct map *map)
{
	EACH(take_map, p, m, map);
}

void
profile_doubt(struct profile *p, const struct module *m, uint32_t number, const unsigned char *at)
{
	EACH(doubt, p, m, number, at);
}

void
profile_add_slot(struct profile *p, uint32_t module, uint64_t addr, uint64_t bias, uint64_t word)
{
	EACH(add_slot, p, module, addr, bias, word);
}

/* ---- counts ---- */

void
measures_begin(struct pool *pool, const struct proc *p, struct counts *c)
{
	for (uint32_t m = 0; m < CHORD_MEASURES; m++)
		if (measures_have(p->measures, m) && list[m]->begin)
			list[m]->begin(pool, c);
}

void
measures_place(struct pool *pool, struct places *x, const struct profile *p, const struct module *module, struct counts *counts)
{
	EACH(place, pool, x, p, module, counts);
}

const struct profile_measure *
measure_solving(const struct proc *p)
{
	for (uint32_t m = 0; m < CHORD_MEASURES; m++)
		if (measures_have(p->measures, m) && list[m]->solve)
			return list[m];
	return NULL;
}

bool
measured_partly(const struct proc *p)
{
	const struct profile_measure *x = measure_solving(p);

	return x && x->is_partly && x->is_partly(p);
}

const struct counts_partly *
measure_partly(uint32_t m)
{
	return list[m]->partly;
}

bool
counts_by_design(const struct counts *c)
{
	bool is = c->why == SOLVE_EVENTS_ONLY;

	for (uint32_t m = 0; m < CHORD_MEASURES && c->why; m++)
		is |= list[m]->partly && c->why == list[m]->partly->why;
	return is;
}

/* ---- maps ---- */

/* Reads which registers woven code uses to find counters. */
static void
get_bases(struct in *in, struct proc *p, const struct record *r)
{
	uint32_t n = in_number(in, 2);

	p->base = pool_array(in->pool, BASES, sizeof *p->base);
	for (uint32_t i = 0; i < n && !in->bad; i++) {
		uint32_t reg = in_below(in, BASES, "a base in no register");
		uint32_t what = in_below(in, r->nevent + 1ull, "a base of no event");

		if (in->bad)
			return;
		if (what)
			memcpy(&p->base[reg], r->event + 8 * (size_t)(what - 1), 8);
		else
			p->base[reg] = p->counters;
	}
}

static int
cells_by_counter(const void *a, const void *b)
{
	const struct cells *x = a, *y = b;

	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Reads which counters consist of cells. */
static void
get_cells(struct in *in, struct proc *p)
{
	p->cells = in_below(in, p->ncounter, "a counter that is not there");
	p->ncells = in_below(in, (p->ncounter - p->cells) / CHORD_CELLS + 1ull, "a counter that is not there");
	if (!p->ncells)
		in_bad(in, "no counter of cells");
	if (in->bad)
		return;
	p->cells_of = pool_array(in->pool, p->ncells, sizeof *p->cells_of);
	for (uint32_t i = 0; i < p->ncells; i++)
		p->cells_of[i] = (struct cells){in_below(in, p->cells + 1ull, "cells of a counter that is not there"), i};
	qsort(p->cells_of, p->ncells, sizeof *p->cells_of, cells_by_counter);
}

static int
promoted_by_counter(const void *a, const void *b)
{
	const struct promoted *x = a, *y = b;

	return (x->counter > y->counter) - (x->counter < y->counter);
}

/* Reads for which counters registers count. */
static void
get_promoted(struct in *in, struct proc *p)
{
	p->npromoted = in_number(in, 2);
	if (!p->npromoted)
		in_bad(in, "no counter of a register");
	if (in->bad)
		return;
	p->promoted = pool_array(in->pool, p->npromoted, sizeof *p->promoted);
	for (uint32_t i = 0; i < p->npromoted; i++) {
		p->promoted[i].counter = in_below(in, p->ncounter, "a counter that is not there") + 1;
		p->promoted[i].open = in_below(in, p->ncounter, "a counter that is not there") + 1;
	}
	if (in->bad)
		return;
	qsort(p->promoted, p->npromoted, sizeof *p->promoted, promoted_by_counter);
	for (uint32_t i = 0; i < p->npromoted; i++)
		if (p->promoted[i].counter == p->promoted[i].open || (i && p->promoted[i].counter == p->promoted[i - 1].counter))
			in_bad(in, "a counter of several registers, or of itself");
}

/* The readers of counts are told that there is more. */
static void
add_unknown(struct in *in, struct proc *p, const char *tag)
{
	if (!(p->nunknown & (p->nunknown + 1))) {
		const char **more = pool_array(in->pool, 2 * (size_t)p->nunknown + 2, sizeof *more);

		if (p->nunknown)
			memcpy(more, p->unknown, p->nunknown * sizeof *more);
		p->unknown = more;
	}
	p->unknown[p->nunknown++] = tag;
}

static void
get_section(struct in *in, struct proc *p, const struct record *r)
{
	const char *tag = in_string(in);
	uint32_t n = in_number(in, 1), m = measure_named(str_of(tag));
	struct in part = *in;

	part.end = in->at + n;
	if (in->bad)
		return;
	if (m == CHORD_MEASURES && !strcmp(tag, CHORD_MAP_BASES)) {
		if (p->base)
			in_bad(&part, "two sections of one kind");
		get_bases(&part, p, r);
	} else if (m == CHORD_MEASURES && !strcmp(tag, CHORD_MAP_CELLS)) {
		if (p->ncells)
			in_bad(&part, "two sections of one kind");
		get_cells(&part, p);
	} else if (m == CHORD_MEASURES && !strcmp(tag, CHORD_MAP_PROMOTED)) {
		if (p->npromoted)
			in_bad(&part, "two sections of one kind");
		get_promoted(&part, p);
	} else if (m == CHORD_MEASURES) {
		add_unknown(in, p, tag);
		part.at = part.end;
	} else {
		if (measures_have(p->measures, m))
			in_bad(&part, "two sections of one kind");
		p->measures |= 1u << m;
		if (list[m]->map && !part.bad)
			list[m]->map(&part, p, r);
	}
	if (in_left(&part))
		in_bad(&part, "bytes left over");
	in->at += n;
	if (part.bad)
		in_bad(in, part.bad);
}

void
sections_read(struct in *in, struct proc *p, const struct record *r)
{
	uint32_t a, b;

	while (in_left(in) && !in->bad)
		get_section(in, p, r);
	if (!in->bad && measures_clash(p->measures, &a, &b))
		in_bad(in, "measures that do not go together");
	if (!in->bad && r->nevent && !p->nevent)
		in_bad(in, "another number of events than of their counters");
	if (!in->bad && p->summed && !measures_with(p->measures, CHORD_AT_CALLS))
		in_bad(in, "sums of no measure");
}
