/* SPDX-License-Identifier: MIT */
/* The counts of a map, from the profiles of one process or of many. Processes that recorded their activations when they ended are
 * solved as one. Each of the others is solved by itself, and its counts are added. So what is not known of one process does not
 * affect the others. */
#include "profile/measure.h"

#include <string.h>

static bool
is_solved(const struct proc *p, struct counts *c)
{
	if (p->refused)
		c->why = "it was not measured";
	else if (!measures_with(p->measures, CHORD_FLOW))
		c->why = SOLVE_EVENTS_ONLY;
	return c->why;
}

/* Did activations end at places that are not known? They may be anywhere in the procedure. */
static bool
is_placed_nowhere(const struct proc *p, const struct counts *c)
{
	return c->lost && !measure_solving(p);
}

static struct counts *
counts_new(struct pool *pool, const struct map *map, const struct profile *p, const struct module *m,
           const struct woven_code *woven)
{
	struct counts *c = pool_array(pool, map->nproc, sizeof *c);

	for (uint32_t i = 0; i < map->nproc; i++)
		measures_begin(pool, &map->proc[i], &c[i]);
	exits_place(pool, map, p, m, woven, c);
	return c;
}

/* ---- sums ---- */

static void
plus(uint64_t *sum, uint64_t n)
{
	*sum = saturating_add(*sum, n);
}

static void
add_counts(const struct proc *p, struct counts *sum, const struct counts *c)
{
	for (uint32_t v = 0; v < p->nblock; v++) {
		struct walk w;

		plus(&sum->block[v], c->block[v]);
		for (walk_start(&w, p, c, v); walk_next(&w);)
			plus(&sum->insn[v][w.i], w.count);
	}
	for (uint32_t i = 0; i < p->narc; i++) {
		plus(&sum->arc[i], c->arc[i]);
		sum->arc_known[i] &= c->arc_known[i];
	}
	plus(&sum->insns, c->insns);
	plus(&sum->blocks, c->blocks);
	plus(&sum->activations, c->activations);
	plus(&sum->jumps, c->jumps);
	plus(&sum->call_insns, c->call_insns);
	sum->activations_known &= c->activations_known;
	sum->jumps_known &= c->jumps_known;
}

static void
begin_sum(struct pool *pool, const struct proc *p, struct counts *c)
{
	c->block = pool_array(pool, p->nblock, sizeof *c->block);
	c->insn = pool_array(pool, p->nblock, sizeof *c->insn);
	for (uint32_t v = 0; v < p->nblock; v++)
		c->insn[v] = pool_array(pool, p->block[v].ninsn, sizeof *c->insn[v]);
	c->arc = pool_array(pool, p->narc, sizeof *c->arc);
	c->arc_known = pool_array(pool, p->narc, sizeof *c->arc_known);
	memset(c->arc_known, true, p->narc * sizeof *c->arc_known);
	c->activations_known = c->jumps_known = true;
	c->insns = c->blocks = c->activations = c->jumps = c->call_insns = 0;
	c->why = NULL;
}

static void
begin_sums(struct pool *pool, const struct map *map, struct counts *c)
{
	for (uint32_t i = 0; i < map->nproc; i++) {
		if (is_solved(&map->proc[i], &c[i]) || measured_partly(&map->proc[i]))
			continue;
		begin_sum(pool, &map->proc[i], &c[i]);
		c[i].most = pool_alloc(pool, sizeof *c[i].most);
		begin_sum(pool, &map->proc[i], c[i].most);
	}
}

static bool
is_exact(const struct proc *p, const struct counts *c)
{
	const struct counts *m = c->most;

	for (uint32_t v = 0; v < p->nblock; v++)
		if (c->block[v] != m->block[v] || memcmp(c->insn[v], m->insn[v], p->block[v].ninsn * sizeof *c->insn[v]))
			return false;
	return (!p->narc || !memcmp(c->arc, m->arc, p->narc * sizeof *c->arc)) && c->insns == m->insns &&
	       c->activations == m->activations && c->blocks == m->blocks && c->jumps == m->jumps && c->call_insns == m->call_insns;
}

static void
end_sums(const struct map *map, struct counts *c)
{
	for (uint32_t i = 0; i < map->nproc; i++)
		if (c[i].most && !c[i].why && is_exact(&map->proc[i], &c[i]))
			c[i].most = NULL;
}

/* ---- the parts of a sum ---- */

/* What procedures may have done in a process in which none of their counters counted: the same in all such processes. */
struct idle {
	struct pool *pool;
	uint64_t standing, stack;
	struct counts **counts;  /* by procedure, made when first needed */
};

static bool
is_idle(const struct proc *p, const struct module *m, const struct counts *c)
{
	return !c->left && !c->cut && !c->why && !measure_solving(p) && proc_is_zero(m, p);
}

static const struct counts *
idle_counts(struct idle *idle, const struct map *map, uint32_t i, const struct profile *part, const struct module *m,
            const struct woven_code *woven)
{
	struct counts **c = &idle->counts[i];
	struct profile shallow = *part;

	if (!*c) {
		/* It may have been entered. That it came back to itself without passing any counter is not considered. */
		shallow.stack = 1;
		*c = pool_alloc(idle->pool, sizeof **c);
		solve_one(idle->pool, &map->proc[i], &shallow, m, woven, *c);
	}
	return *c;
}

static void
add_part(const struct map *map, const struct profile *part, const struct module *m, const struct woven_code *woven,
         struct idle *idle, struct counts *sum)
{
	struct pool *pool = pool_new();
	struct counts *own = counts_new(pool, map, part, m, woven);

	if (part->standing != idle->standing || part->stack != idle->stack)
		*idle = (struct idle){idle->pool, part->standing, part->stack,
		                      pool_array(idle->pool, map->nproc, sizeof *idle->counts)};
	for (uint32_t i = 0; i < map->nproc; i++) {
		const struct proc *p = &map->proc[i];
		const struct counts *c = &own[i];

		if (!sum[i].most)
			continue;
		if (part->standing && is_idle(p, m, c))
			c = idle_counts(idle, map, i, part, m, woven);
		else if (!c->why || is_placed_nowhere(p, c))
			solve_one(pool, p, part, m, woven, &own[i]);
		if (c->why) {
			/* The part's pool is freed below. */
			sum[i].why = sum[i].why ? sum[i].why : pool_strdup(idle->pool, c->why);
			continue;
		}
		add_counts(p, &sum[i], c);
		plus(&sum[i].active, c->active);
		sum[i].unplaced |= c->unplaced;
		sum[i].lacks |= c->lacks;
		add_counts(p, sum[i].most, c->most ? c->most : c);
	}
	pool_free(pool);
}

/* A process that did not have the module did nothing in it. */
static void
add_parts(struct pool *pool, const struct map *map, const struct profile *p, const struct module *module,
          const struct woven_code *woven, struct counts *sum)
{
	struct str id = {(const char *)module->id, module->nid};
	struct idle idle = {.pool = pool};
	const struct module *m;

	for (size_t i = 0; i <= p->flight.n; i++) {
		const struct profile *part = i ? p->flight.at[i - 1] : p->rest;

		if (i)
			progress("solving processes", i - 1, p->flight.n);
		if (part && (m = profile_module(part, id)))
			add_part(map, part, m, woven, &idle, sum);
	}
	progress("solving processes", p->flight.n, p->flight.n);
}

struct counts *
profile_solve(struct pool *pool, const struct map *map, const struct profile *p, const struct module *module,
              const struct woven_code *woven)
{
	struct counts *c = counts_new(pool, map, p, module, woven);
	bool apart = p && p->flight.n && module;

	for (uint32_t i = 0; i < map->nproc; i++) {
		const struct proc *proc = &map->proc[i];
		const struct profile_measure *records = measure_solving(proc);

		if (!is_solved(proc, &c[i])) {
			if (!apart || records)
				solve_one(pool, proc, p, module, woven, &c[i]);
		} else if (c[i].lost && records && !proc->refused) {
			records->solve_own(pool, proc, p, module, &c[i]);
		}
	}
	if (apart) {
		begin_sums(pool, map, c);
		add_parts(pool, map, p, module, woven, c);
		end_sums(map, c);
	}
	return c;
}
