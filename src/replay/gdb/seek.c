/* SPDX-License-Identifier: MIT */
/* Going to a state by its number (an event of the log, a count of the clock, the beginning, the end), or to where memory changes.
 * gdb learns of the new state as of any other stop, when it next has the program go on. */
#include "replay/gdb/gdb.h"

/* Goes to the last node before state n. */
static bool
back_to_node(struct debugger *d, enum seek to, uint64_t n)
{
	for (;;) {
		if (!node_last(d))
			return false;
		if (d->node.n == 1 || (to == SOUGHT_EVENT ? d->r.event < n : to == SOUGHT_CLOCK && view_clock(d) < n))
			break;
		node_pop(d);
	}
	d->path.n = 0;
	return true;
}

static enum came
to_event(struct debugger *d, uint64_t n)
{
	enum moved moved = MOVED_ON;

	go_conditions(d, false, NULL);
	go_slice(0);
	while (d->r.event < n && moved == MOVED_ON) {
		moved = forward_move(d, false);
		if (moved == MOVED_ON)
			forward_node(d, false);
	}
	return moved == MOVED_LOST ? CAME_LOST : moved == MOVED_END ? CAME_END : CAME_SOUGHT;
}

/* The last so many instructions before a state are gone by breakpoints and steps. */
enum { NEAR = 50000 };

/* Runs to shortly before count n, taking 4 instructions for a nanosecond. If the program has gone too far, it runs for a shorter
 * time; if it has not run at all, as may happen on a busy machine, for a longer time. Nodes are left on the way. */
static enum moved
near_clock(struct debugger *d, uint64_t n)
{
	enum { LONGEST = 20000000, A_NANOSECOND = 4, TRIES = 200 };
	enum moved moved = MOVED_SLICE;
	unsigned care = 0, tries = 0;
	uint64_t now;

	go_conditions(d, false, NULL);
	while ((now = view_clock(d)) + NEAR < n && tries++ < TRIES) {
		uint64_t time = (n - now) / A_NANOSECOND >> care, event = d->r.event;

		go_slice(time < LONGEST ? time + 1 : LONGEST);
		moved = go_move(d, false);
		d->spent += time;
		if (moved == MOVED_LOST)
			break;
		if (view_clock(d) >= n) {
			care += care < 40;
			if (!node_reach(d))
				return MOVED_LOST;
			go_conditions(d, false, NULL);
			continue;
		}
		tries -= d->r.event != event;
		care -= care && view_clock(d) == now;
		if (d->r.event != event)
			node_hop(d, (struct hop){HOP_EVENT, .count = d->r.event});
		if (moved == MOVED_END || (moved == MOVED_SLICE && view_clock(d) != now && !node_inside(d)))
			break;
	}
	go_slice(0);
	return moved;
}

static enum came
to_clock(struct debugger *d, uint64_t n)
{
	const struct hop h = {HOP_CLOCK, .count = n};
	enum moved moved = near_clock(d, n);
	uint64_t steps;

	d->held = d->pending;
	if (moved == MOVED_END || moved == MOVED_LOST)
		return moved == MOVED_END ? CAME_END : CAME_LOST;
	if (view_clock(d) >= n)
		return CAME_SOUGHT;
	if (!leap(d, &h, view_pc(d), &steps))
		return d->r.ended ? CAME_END : CAME_LOST;
	path_add(&d->path, (struct hop){HOP_STEP, .count = steps});
	return node_reach(d) ? CAME_SOUGHT : CAME_LOST;
}

/* ---- where memory changes: the watchpoints by intervals of Mellor-Crummey and LeBlanc (1989) ---- */

/* Memory that is to change. A change that is undone before an interval ends is not seen. */
struct change {
	uint64_t at, n;
	uint64_t was;            /* check sum of what the memory had */
	uint64_t low, high;      /* clock: at `low` the memory had that, at `high` it has not */
};

static bool
has_changed(const struct debugger *d, const struct change *c)
{
	return go_memory(d, c->at, c->n) != c->was;
}

/* Goes from event to event until the memory has changed. *event, c->low: those at the beginning of the last interval. */
static enum came
find_interval(struct debugger *d, struct change *c, uint64_t *event)
{
	enum moved moved = MOVED_ON;

	go_conditions(d, false, NULL);
	go_slice(0);
	while (!has_changed(d, c)) {
		if (moved != MOVED_ON || d->r.ended)
			return moved == MOVED_LOST ? CAME_LOST : CAME_END;
		*event = d->r.event;
		c->low = view_clock(d);
		forward_node(d, false);
		moved = forward_move(d, false);
	}
	c->high = view_clock(d);
	return moved == MOVED_LOST ? CAME_LOST : CAME_SOUGHT;
}

/* Goes to the last node that is not after that count of the clock. */
static enum came
to_node(struct debugger *d, uint64_t clock)
{
	return settle(d) && back_to_node(d, SOUGHT_CLOCK, clock + 1) ? CAME_SOUGHT : CAME_LOST;
}

/* Halves the interval by the clock until the rest can be stepped. Afterwards the program is at the beginning of the rest, or at a
 * node before it. */
static enum came
halve(struct debugger *d, struct change *c)
{
	while (c->high - c->low > 2 * NEAR) {
		uint64_t middle = c->low + (c->high - c->low) / 2, now;
		enum moved moved;

		if (to_node(d, middle) != CAME_SOUGHT)
			return CAME_LOST;
		moved = near_clock(d, middle);
		d->held = d->pending;
		if (moved == MOVED_LOST || moved == MOVED_END)
			return moved == MOVED_LOST ? CAME_LOST : CAME_END;
		now = view_clock(d);
		if (has_changed(d, c))
			c->high = now;
		else if (now > c->low)
			c->low = now;
		else
			break;
	}
	return to_node(d, c->low);
}

/* The node may lie before the interval, where the memory may have been different: only a change from `was` counts. */
static enum came
step_to_change(struct debugger *d, const struct change *c)
{
	bool changed = has_changed(d, c), before;

	for (;;) {
		enum came came = forward_step(d);

		if (came == CAME_LOST || came == CAME_END)
			return came;
		before = changed;
		changed = has_changed(d, c);
		if (changed && !before)
			return CAME_SOUGHT;
	}
}

/* Goes to the beginning of the interval, which is after that event, and makes it a node. */
static enum came
to_interval(struct debugger *d, uint64_t event)
{
	enum came came = settle(d) && back_to_node(d, SOUGHT_EVENT, event) ? to_event(d, event) : CAME_LOST;

	if (came == CAME_SOUGHT)
		node_here(d);
	return came;
}

static enum came
to_change(struct debugger *d)
{
	struct change c = {.at = d->sought, .n = d->bytes, .was = d->was};
	uint64_t first = d->r.event, event = first;
	enum came came;

	if (has_changed(d, &c))
		return CAME_SOUGHT;
	node_here(d);
	came = find_interval(d, &c, &event);
	if (came == CAME_SOUGHT && event > first)
		came = to_interval(d, event);
	if (came == CAME_SOUGHT)
		came = halve(d, &c);
	return came == CAME_SOUGHT ? step_to_change(d, &c) : came;
}

/* ---- where a comparison begins to hold ---- */

/* The processor's registers report each change, so a comparison that holds for one instruction only is found, too. */
static enum came
to_truth(struct debugger *d)
{
	const struct comparison *becomes = d->becomes;
	struct condition one = {.watch = true, .at = becomes->at, .n = becomes->n, .kind = 2, .becomes = becomes};
	struct condition *user = d->user.at;
	size_t n = d->user.n, cap = d->user.cap;
	enum came came;

	d->user.at = &one;
	d->user.n = 1;
	came = d->backwards ? back(d) : forward(d, 0);
	d->user.at = user;
	d->user.n = n;
	d->user.cap = cap;
	return came == CAME_HIT ? CAME_SOUGHT : came;
}

enum came
seek(struct debugger *d)
{
	enum seek to = d->seek;
	uint64_t n = d->sought;

	d->seek = SOUGHT_NOT;
	if (to == SOUGHT_CHANGE || to == SOUGHT_END || to == SOUGHT_TRUE)
		d->ended = false;
	if (to == SOUGHT_CHANGE)
		return settle(d) ? to_change(d) : CAME_LOST;
	if (to == SOUGHT_TRUE)
		return d->backwards || !d->r.ended ? to_truth(d) : CAME_END;
	if (to == SOUGHT_END) {
		return d->r.ended ? CAME_END : to_event(d, UINT64_MAX);
	}
	if (!settle(d) || !back_to_node(d, to, n))
		return CAME_LOST;
	switch (to) {
	case SOUGHT_EVENT: return to_event(d, n);
	case SOUGHT_CLOCK: return to_clock(d, n);
	default: return CAME_BEGIN;
	}
}
