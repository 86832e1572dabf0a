/* SPDX-License-Identifier: MIT */
/* Going to a state by its number: an event of the log, a count of the clock, the beginning, the end. gdb learns of it as of any
 * other stop, when it has the program go on next. */
#include "replay/gdb/gdb.h"

/* To the last node that is not behind that. */
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

/* Runs to not far before it, at 4 instructions in a nanosecond: for a shorter time where it has gone too far, and for a longer one
 * where it has not run at all, as a busy machine has it. Nodes are left on the way. */
static enum moved
near_clock(struct debugger *d, uint64_t n)
{
	enum { NEAR = 50000, LONGEST = 20000000, A_NANOSECOND = 4, TRIES = 200 };
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

enum came
seek(struct debugger *d)
{
	enum seek to = d->seek;
	uint64_t n = d->sought;

	d->seek = SOUGHT_NOT;
	if (to == SOUGHT_END) {
		d->ended = false;
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
