/* SPDX-License-Identifier: MIT */
/* Measure trace: paths in the order in which they ran. Its maps are those of paths. Its counts are those of paths, too, once the
 * trace has been counted. */
#include "profile/measure.h"

static const char UNFILLED[] = "what ran is in the trace of its process, which is not beside the profile, is not whole, "
                               "or is not counted for a core file";

static const char UNFOLLOWED[] = "its trace has witnesses, and its code was not where it ran when they were counted";

static const char *
read_filled(struct profile *p, struct module *m, const struct chord_extent_head *h, const unsigned char *at)
{
	(void)p;
	(void)at;
	if (!m)
		return "damaged: it says of a module that is not there where its counters are from";
	m->filled = true;
	m->followed = h->a & 1;
	return NULL;
}

static void
write_filled(const struct module *m, uint32_t number, struct buf *out)
{
	if (!m->filled)
		return;
	profile_extent(out, (struct chord_extent_head){.type = CHORD_EXTENT_FILLED, .module = number, .a = m->followed}, 0, false);
	profile_fill_page(out);
}

/* NULL, or why the counts of a procedure are not known. */
static const char *
why_not(const struct module *m, const struct proc *p)
{
	if (!m || (m->filled && (!paths_are_followed(p->paths) || m->followed)))
		return NULL;
	return m->filled ? UNFOLLOWED : UNFILLED;
}

static const char *
solve(struct pool *pool, struct system *s, const struct profile *f, const struct module *m, const struct woven_code *woven,
      struct counts *c)
{
	const char *why = why_not(m, s->proc);

	return why ? why : solve_paths(pool, s, f, m, woven, c);
}

static void
solve_own(struct pool *pool, const struct proc *p, const struct profile *f, const struct module *m, struct counts *c)
{
	const char *why = why_not(m, p);

	if (why)
		c->why = why;
	else
		solve_ran(pool, p, f, m, c);
}

static const struct profile_extent extents[] = {
	{CHORD_EXTENT_FILLED, true, read_filled},
	{0},
};
const struct profile_measure profile_measure_trace = {
	.map = paths_map, .extents = extents, .write_module = write_filled, .begin = paths_begin, .solve = solve,
	.solve_own = solve_own, .longest = paths_longest, .before_calls = true,
};
