/* SPDX-License-Identifier: MIT */
/* Measure events: additions on the chords of a spanning tree of their own (events.c) to numbers that a module shares
 * (numbers.c). Queries and timers (query.c, timer.c) are what these counters are good for, and no measures. */
#include "weave/measure.h"

static uint32_t
count_refused(const struct plan *l)
{
	uint32_t n = 0;

	for (size_t i = 0; i < l->u->procs.n; i++)
		n += l->u->procs.at[i].reason != NULL;
	return n;
}

static void
place_all_events(struct plan *l)
{
	const uint32_t *order = local_order(l->u, l->woven);

	for (uint32_t i = 0; i < l->u->procs.n; i++)
		if (!l->woven[order[i]].proc->reason)
			place_events(l->u, &l->woven[order[i]], l->woven, &l->o->events, &l->way);
}

/* Where calls or timers need counters right at every call, no procedure is local. Nor if one is refused now: it may call
 * others, and does not say what is not counted yet. */
static void
plan_text(struct plan *l)
{
	uint32_t refused = count_refused(l), way = l->way;
	bool exact = at_calls(l->o);

	for (uint32_t e = 0; e < l->o->events.n; e++)
		exact |= l->o->events.at[e].timed;
	if (!exact)
		local_find(l->u, l->woven);
	place_all_events(l);
	if (exact || count_refused(l) == refused)
		return;
	for (uint32_t i = 0; i < l->u->procs.n; i++)
		forget_events(&l->woven[i]);
	l->way = way;
	place_all_events(l);
}

static void
tail(struct buf *b, const struct weave_options *o)
{
	emit_numbers(b, &o->events, at_calls(o));
	emit_timers(b, o);
}

const struct weave_measure weave_events = {.plan_text = plan_text, .tail = tail};
