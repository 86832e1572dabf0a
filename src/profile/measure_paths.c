/* SPDX-License-Identifier: MIT */
/* Measure paths: its sections of maps and profiles, and how counts are solved (path_*.c). */
#include "profile/measure.h"

#include <stdlib.h>
#include <string.h>

/* ---- profiles ---- */

static void
copy_module(struct profile *p, struct module *m)
{
	const struct path_table *table = m->table;

	m->table = pool_array(p->pool, m->ntable, sizeof *m->table);
	if (m->ntable)
		memcpy(m->table, table, m->ntable * sizeof *m->table);
}

/* Replaces a record's module number in the file. False: there is no such module. */
static bool
renumber(uint32_t *module, const uint32_t *to, uint32_t n)
{
	if (*module >= n)
		return false;
	*module = to[*module];
	return true;
}

static const char *
settle(struct profile *p, const uint32_t *to, uint32_t n)
{
	const char *why;
	bool there = true;

	for (size_t i = 0; i < p->hashed.n && there; i++)
		there = renumber(&p->hashed.at[i].module, to, n);
	for (size_t i = 0; i < p->unfinished.n && there; i++)
		there = renumber(&p->unfinished.at[i].module, to, n);
	if (!there)
		return "damaged: a path in a module that is not there";
	why = paths_check(p);
	return why ? why : paths_join(p) ? NULL : "its counts do not fit 64 bits";
}

static bool
merge(struct profile *sum, const struct profile *p, const uint32_t *to)
{
	for (size_t i = 0; i < p->hashed.n; i++) {
		struct hashed h = p->hashed.at[i];

		h.module = to[h.module];
		VEC_PUSH(sum->hashed, h);
	}
	for (size_t i = 0; i < p->unfinished.n; i++) {
		struct unfinished u = p->unfinished.at[i];

		u.module = to[u.module];
		VEC_PUSH(sum->unfinished, u);
	}
	return paths_join(sum);
}

static void
keep_below(struct profile *p, uint32_t n)
{
	KEEP_BELOW(p->hashed, n);
	KEEP_BELOW(p->unfinished, n);
}

/* A slot keeps a path register. If the register has a counter's address, or will have it once the rest of the sum has been added,
 * the slot has the address in memory. */
static void
add_slot(struct profile *p, uint32_t module, uint64_t addr, uint64_t bias, uint64_t word)
{
	const uint64_t beside = 1 << 30;
	const struct module *m = &p->module.at[module];
	bool of_counter = word - (m->base + bias - beside) < m->ncount * 8 + 2 * beside;
	uint64_t path = word - (of_counter ? bias : 0);

	VEC_PUSH(p->unfinished, (struct unfinished){.module = module, .addr = addr, .path = path,
	                                            .bias = of_counter ? paths_bias(path, word | 1ull << 63) : 0, .count = 1});
}

static void
forget(struct profile *p)
{
	free(p->hashed.at);
	free(p->unfinished.at);
}

/* ---- counts ---- */

/* How far activations had come on their paths, apart from exits. Where there is no call, that is not known. */
static void
place(struct pool *pool, struct places *x, const struct profile *p, const struct module *module, struct counts *counts)
{
	for (size_t i = 0; i < p->unfinished.n; i++) {
		const struct unfinished *u = &p->unfinished.at[i];
		struct path_counts *pc;
		struct stopped *s;
		uint32_t proc, call;

		if (&p->module.at[u->module] != module || !places_call(x, u->addr, &proc, &call) || !counts[proc].paths)
			continue;
		pc = counts[proc].paths;
		s = pool_alloc(pool, sizeof *s);
		*s = (struct stopped){pc->stopped, call, u->reentry, u->path, u->bias, u->count, NULL};
		pc->stopped = s;
	}
}

static void
waiting(struct profile *p, uint32_t module, const struct chord_waiting *w)
{
	if (w->has_path)
		VEC_PUSH(p->unfinished, (struct unfinished){module, false, CHORD_EXIT_ADDR(w->key), w->path,
		                                            paths_bias(w->path, w->raw), 1});
}

static bool
is_partly(const struct proc *p)
{
	return p->paths->kind == CHORD_PATH_SELECTED;
}

static const struct profile_extent extents[] = {
	{CHORD_EXTENT_TABLES, true, paths_read_tables},
	{CHORD_EXTENT_PATHS, false, paths_read_hashed},
	{CHORD_EXTENT_UNFINISHED, false, paths_read_unfinished},
	{0},
};
static const struct counts_partly some = {
	.why = SOLVE_PATHS_ONLY,
	.one = "procedure is not in the counts: only some of its paths are counted (chord paths)",
	.more = "procedures are not in the counts: only some of their paths are counted (chord paths)",
};
const struct profile_measure profile_measure_paths = {
	.map = paths_map, .extents = extents, .settle = settle, .add_up = paths_same_tables, .merge = merge,
	.waiting = waiting, .keep_below = keep_below,
	.copy_module = copy_module, .write_module = paths_write_tables, .write = paths_write, .forget = forget,
	.take_map = paths_take_tables, .doubt = paths_doubt_tables, .add_slot = add_slot,
	.begin = paths_begin, .place = place, .solve = solve_paths, .solve_own = solve_ran, .longest = paths_longest,
	.is_partly = is_partly, .partly = &some,
};
