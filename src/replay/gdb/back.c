/* SPDX-License-Identifier: MIT */
/* Going forward and going back. To go back means to go forward from an earlier node to the last place before here where something
 * fired. */
#include "replay/gdb/gdb.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Lengths of slices of time, in ns. After each slice the debugger looks where the program is. In a virtual machine a shorter one
 * than the finest is mostly over before the program has begun to run. */
enum { SLICE_LONGEST = 20000000, SLICE_FINEST = 80000, SLICE_FINER = 4 };

enum {
	STEPS = 256,             /* so many single steps at a time; what is further away gets a node */
	SOON = 600,              /* so many steps take less time than leaving nodes */
	FEW = 16,                /* so many places that fire come after a new node */
};

static uint64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- along a path ---- */

/* Counts what has fired here. end: the path ends here; a breakpoint at its end does not count. */
static void
count(struct debugger *d, struct scan *s, bool end)
{
	for (int watch = 1; s && !s->stopped && watch >= 0; watch--) {
		struct condition *c = go_fired(d, watch);

		if (c && (watch || !end) && ++s->total == s->stop_at) {
			s->stopped = true;
			s->at = c;
		}
	}
}

/* Has the user a breakpoint at the PC at which the program stands? */
static bool
breaks_here(const struct debugger *d)
{
	for (size_t i = 0; i < d->user.n; i++) {
		const struct condition *c = &d->user.at[i];

		if (!c->watch && c->at == view_pc(d) && view_now(d) && expression_holds(c->expression, d->r.t))
			return true;
	}
	return false;
}

/* How much of the hop this move has gone. */
static uint64_t
part(struct debugger *d, const struct hop *h, enum moved moved)
{
	switch (h->kind) {
	case HOP_STEP: return 1;
	case HOP_EVENT: return d->r.event >= h->count ? h->count : 0;
	case HOP_CLOCK: return view_clock(d) >= h->count;
	default: return moved != MOVED_LOST && d->condition.at[d->users].fired;
	}
}

static void
forget_hits(struct debugger *d)
{
	for (size_t i = 0; i < d->users; i++)
		d->condition.at[i].hits = 0;
}

static bool
follow_hop(struct debugger *d, const struct hop *h, bool last, struct scan *s)
{
	uint64_t done = h->kind == HOP_EVENT && d->r.event >= h->count ? h->count : 0, event = d->r.event;

	go_hop(d, h);
	while (done < h->count && !(s && s->stopped)) {
		enum moved moved = go_move(d, h->kind == HOP_STEP);

		if (moved == MOVED_LOST)
			return false;
		if (moved == MOVED_SLICE)
			continue;
		if (d->r.event != event)
			forget_hits(d);
		event = d->r.event;
		done += part(d, h, moved);
		count(d, s, last && done >= h->count);
		if (moved == MOVED_END)
			return done >= h->count || (s && s->stopped);
	}
	return true;
}

bool
follow(struct debugger *d, const path *p, struct scan *s)
{
	go_slice(0);
	go_conditions(d, s, NULL);
	if (s && p->n && breaks_here(d) && ++s->total == s->stop_at)
		s->stopped = true;
	for (size_t i = 0; i < p->n && !(s && s->stopped); i++)
		if (!follow_hop(d, &p->at[i], i + 1 == p->n, s))
			return false;
	return true;
}

/* ---- forward ---- */

void
forward_node(struct debugger *d, bool inside)
{
	uint64_t since = d->spent - d->node.at[d->node.n - 1].when, begun = now();

	/* Copying a big program takes long, so it is done more rarely. */
	if (since < SLICE_LONGEST || since / 8 < d->price)
		return;
	if (inside)
		node_inside(d);
	else
		node_here(d);
	d->price = now() - begun;
}

enum moved
forward_move(struct debugger *d, bool step)
{
	uint64_t event = d->r.event, begun = now();
	enum moved moved = go_move(d, step);
	struct condition *c = go_fired(d, true);

	d->spent += now() - begun;
	c = c ? c : go_fired(d, false);
	if (d->r.event != event)
		node_hop(d, (struct hop){HOP_EVENT, .count = d->r.event});
	else if (step && moved != MOVED_SLICE)
		node_hop(d, (struct hop){HOP_STEP, .count = 1});
	else if (moved == MOVED_HIT && c)
		node_hop(d, hop_of(c, 1));
	return moved;
}

static enum came
came_by(struct debugger *d, enum moved moved)
{
	if (moved == MOVED_LOST || moved == MOVED_END)
		return moved == MOVED_LOST ? CAME_LOST : CAME_END;
	return go_fired(d, true) || go_fired(d, false) ? CAME_HIT : CAME_STEP;
}

/* A place where a slice of time is over can be named only by a copy. */
static bool
stop_here(struct debugger *d, enum moved moved)
{
	if (moved == MOVED_SLICE && !node_inside(d))
		return false;
	d->held = d->pending;
	return true;
}

enum came
forward_step(struct debugger *d)
{
	enum moved moved;

	go_slice(0);
	go_conditions(d, true, NULL);
	do {
		moved = forward_move(d, true);
		/* Interrupted while another process has its turn. */
		if (moved == MOVED_SLICE && stop_here(d, moved))
			return CAME_INTERRUPTED;
	} while (moved == MOVED_SLICE);
	return came_by(d, moved);
}

/* Is it the turn of that thread, or has another program begun? */
static bool
turn_of(const struct debugger *d, uint64_t thread, uint64_t programs)
{
	return view_programs(d) != programs || (thread && d->r.task && d->r.task->number == thread);
}

enum came
forward(struct debugger *d, uint64_t until)
{
	uint64_t programs = view_programs(d);

	go_conditions(d, true, NULL);
	for (;;) {
		uint64_t begun = now();
		enum moved moved;

		go_slice(SLICE_LONGEST);
		do
			moved = forward_move(d, false);
		while (moved == MOVED_ON && !turn_of(d, until, programs) && now() - begun < SLICE_LONGEST);
		if (moved != MOVED_ON && moved != MOVED_SLICE) {
			go_slice(0);
			return came_by(d, moved);
		}
		if (moved == MOVED_ON && turn_of(d, until, programs)) {
			go_slice(0);
			return CAME_STEP;
		}
		if (go_interrupted(d) && stop_here(d, moved)) {
			go_slice(0);
			return CAME_INTERRUPTED;
		}
		forward_node(d, moved == MOVED_SLICE);
	}
}

/* ---- the same place by steps ---- */

/* Counts the steps from here to the end of the hop. False: the end does not come, or not within `most` steps. */
static bool
steps_to(struct debugger *d, const struct hop *h, uint64_t most, uint64_t *n)
{
	enum moved moved = MOVED_STEP;

	go_slice(0);
	go_conditions(d, false, h);
	for (*n = 0; moved == MOVED_STEP && *n < most;) {
		moved = go_move(d, true);
		++*n;
		if (moved != MOVED_LOST && part(d, h, moved))
			return true;
	}
	return false;
}

/* A sum of the registers of the thread that runs. */
static uint64_t
state_here(const struct debugger *d)
{
	return d->r.t ? tracee_sum(d->r.t) : 0;
}

/* Runs to the end of a hop, and leaves nodes on the way. If the program has not moved in a slice, that was too short for it to
 * begin. */
static bool
run_in(struct debugger *d, const struct hop *h, uint64_t slice)
{
	uint64_t was, here = state_here(d);
	enum moved moved;

	go_conditions(d, false, h);
	do {
		go_slice(slice);
		moved = go_move(d, false);
		d->spent += slice;
		if (moved == MOVED_LOST)
			return false;
		if (part(d, h, moved)) {
			go_slice(0);
			node_hop(d, *h);
			return true;
		}
		was = here;
		here = state_here(d);
		if (moved == MOVED_SLICE && here == was)
			slice *= 2;
		else if (moved == MOVED_SLICE && !node_inside(d))
			slice = 0;
	} while (moved != MOVED_END);
	return false;
}

/* Removes the last part of the path's last hop. */
static void
shorten(path *p)
{
	struct hop *last = &p->at[p->n - 1];

	if (last->kind == HOP_EVENT || !--last->count)
		p->n--;
}

/* A state that the clock may name. */
struct named {
	struct state at;         /* pc 0: it does not */
	uint64_t event;
};

static struct named
named_here(const struct debugger *d)
{
	const struct task *t = d->r.task;
	struct named n = {.event = d->r.event};
	uint64_t pc = view_pc(d);

	if (t && view_now(d) && clock_at(t->group->space->clock, pc, &n.at.count))
		n.at.pc = pc;
	return n;
}

/* Runs from a place between two events to shortly before the end of the hop, at the speed of a countdown; nothing matters in
 * between. Afterwards the program is there, at a node, or where it was. */
static bool
come_near(struct debugger *d, const struct hop *h, const struct named *end)
{
	const struct task *t = d->r.task;
	uint64_t now;

	if (!end->at.pc || !d->r.resumed || end->event != d->r.event || !t || !view_now(d))
		return true;
	go_conditions(d, false, NULL);
	go_slice(0);
	now = view_clock(d);
	if (state_near(d->r.t, d->r.clock, &end->at) != STOP_SIGNAL)
		return node_reach(d);
	if (view_clock(d) == now)
		return true;
	if (!node_inside(d) || !run_in(d, h, 0))
		return false;
	shorten(&d->path);
	return node_reach(d);
}

/* Runs to the end of the hop in slices, and goes back to the last node before it. *end: the PC at the hop's end. */
static bool
narrow_by(struct debugger *d, const struct hop *h, uint64_t slice, uint64_t *end, struct named *named)
{
	if (!run_in(d, h, slice))
		return false;
	*end = view_pc(d);
	*named = named_here(d);
	shorten(&d->path);
	return node_reach(d);
}

/* Leaves nodes on a hop, ever nearer to its end, by slices of that length and then finer ones. How long the finest take is chance:
 * when VAIN in a row have ended behind the end, the last node is near. Afterwards the program is at the last node but one, so that
 * some steps are left before the end. */
static bool
narrow_from(struct debugger *d, const struct hop *h, uint64_t slice, uint64_t *end, struct named *named)
{
	enum { VAIN = 8 };
	uint64_t way = d->way;

	for (unsigned vain = 0; vain < VAIN; d->way = way) {
		const struct checkpoint *last = d->node.at[d->node.n - 1].c;

		if (!narrow_by(d, h, slice, end, named))
			return false;
		if (slice > SLICE_FINEST)
			slice /= SLICE_FINER;
		else
			vain = last == d->node.at[d->node.n - 1].c ? vain + 1 : 0;
	}
	d->way = way + 1;
	if (d->node.n > 1 && d->node.at[d->node.n - 1].inside && d->node.at[d->node.n - 1].way == way &&
	    d->node.at[d->node.n - 2].way == way && d->node.at[d->node.n - 2].inside && !d->path.n) {
		node_pop(d);
		return node_last(d);
	}
	return true;
}

/* Leaves nodes on a hop, and goes near to its end. *end: the PC there. */
static bool
narrow(struct debugger *d, const struct hop *h, uint64_t *end)
{
	struct named named;

	return narrow_from(d, h, SLICE_LONGEST, end, &named) && come_near(d, h, &named);
}

/* ---- leaping: breakpoints where the program has just been, for in loops it comes by there again ---- */

enum { PLACES = 2, STOPS_MOST = 4000 };
typedef VEC(uint64_t) addresses;

static int
by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Steps to the end of the hop, but SOON steps at most, and notes the PCs on the way. */
static bool
step_along(struct debugger *d, const struct hop *h, addresses *pc, uint64_t *n)
{
	enum moved moved = MOVED_STEP;

	go_slice(0);
	go_conditions(d, false, h);
	pc->n = 0;
	for (*n = 0; moved == MOVED_STEP && *n < SOON; ++*n) {
		VEC_PUSH(*pc, view_pc(d));
		moved = go_move(d, true);
		if (moved != MOVED_LOST && part(d, h, moved)) {
			++*n;
			return true;
		}
	}
	return false;
}

/* The places that were passed least often, but more than once, in this order; their number. */
static size_t
find_places(addresses *pc, uint64_t place[PLACES])
{
	uint64_t often[PLACES];
	size_t n = 0;

	qsort(pc->at, pc->n, sizeof *pc->at, by_value);
	for (size_t i = 0, next; i < pc->n; i = next) {
		size_t j;

		for (next = i; next < pc->n && pc->at[next] == pc->at[i]; next++)
			;
		for (j = 0; j < n && often[j] <= next - i; j++)
			;
		if (j == PLACES || next - i == 1)
			continue;
		n += n < PLACES;
		memmove(&place[j + 1], &place[j], (n - j - 1) * sizeof *place);
		memmove(&often[j + 1], &often[j], (n - j - 1) * sizeof *often);
		place[j] = pc->at[i];
		often[j] = next - i;
	}
	return n;
}

/* Runs to the end of the hop, but STOPS_MOST stops at most, with breakpoints at a place and at the PC where the hop ends. *last:
 * which of them was passed last, and how often; count 0: none. *there: the program stands at it. */
static bool
last_place(struct debugger *d, const struct hop *h, uint64_t place, uint64_t end, struct hop *last, bool *there)
{
	size_t first;

	go_slice(0);
	go_conditions(d, false, h);
	first = d->condition.n;
	VEC_PUSH(d->condition, (struct condition){.at = place});
	VEC_PUSH(d->condition, (struct condition){.at = end});
	*last = (struct hop){0};
	*there = false;
	for (unsigned stops = 0; stops < STOPS_MOST; stops++) {
		enum moved moved = go_move(d, false);

		if (moved == MOVED_LOST)
			return false;
		*there = false;
		if (part(d, h, moved))
			return true;
		if (moved == MOVED_END)
			return false;
		for (size_t i = first; i < d->condition.n; i++)
			if (d->condition.at[i].fired) {
				*last = hop_of(&d->condition.at[i], d->condition.at[i].hits);
				*there = true;
			}
	}
	return true;
}

/* Goes to where the first of these places that is passed at all was passed last before the end of the hop, and makes it a node.
 * *far: there are more stops to the end. */
static bool
leap_once(struct debugger *d, const struct hop *h, addresses *pc, uint64_t end, bool *far)
{
	uint64_t place[PLACES];
	size_t n = find_places(pc, place);
	struct hop last = {0};
	bool there = true;

	for (size_t i = 0; i < n && !last.count; i++)
		if ((i && !node_reach(d)) || !last_place(d, h, place[i], end, &last, &there))
			return false;
	*far = there && last.count;
	if (last.count)
		path_add(&d->path, last);
	if (!there && !node_reach(d))
		return false;
	node_here(d);
	return true;
}

bool
leap(struct debugger *d, const struct hop *h, uint64_t end, uint64_t *n)
{
	addresses pc = {0};
	bool ok = true, there = false, far;
	struct named named;

	while (ok && !there) {
		there = step_along(d, h, &pc, n);
		if (there)
			break;
		path_add(&d->path, (struct hop){HOP_STEP, .count = *n});
		node_here(d);
		ok = leap_once(d, h, &pc, end, &far);
		if (ok && far && h->kind != HOP_CLOCK)
			ok = narrow_from(d, h, SLICE_FINEST, &end, &named);
	}
	free(pc.at);
	return ok;
}

/* How many steps it takes to the end of the hop, from here or from a node further on, to which the program is taken. */
static bool
count_steps(struct debugger *d, const struct hop *h, uint64_t *n)
{
	uint64_t end;

	return steps_to(d, h, SOON, n) || (node_reach(d) && narrow(d, h, &end) && leap(d, h, end, n));
}

/* The program stands at a node inside of a hop: replaces the node by a path of steps from the node before it. */
static bool
name_inside(struct debugger *d)
{
	struct node *last = &d->node.at[d->node.n - 1];
	struct hop end = last->rest.at[0];
	uint64_t behind, all;

	if (!steps_to(d, &end, UINT64_MAX, &behind))
		return false;
	path_copy(&d->path, &last->before);
	node_pop(d);
	if (!node_reach(d) || !steps_to(d, &end, UINT64_MAX, &all))
		return false;
	path_add(&d->path, (struct hop){HOP_STEP, .count = all - behind});
	/* If both nodes are at one place, the one before may have to be named, too, and the program is at the end of the hop. */
	return all != behind || node_reach(d);
}

/* The last event before that one at which the program stood. Events of processes that are not seen may lie between the two. The
 * path leads from the last node to that event. False: the replay is lost. */
static bool
event_before(struct debugger *d, uint64_t event, uint64_t *before)
{
	*before = event - 1;
	if (d->r.all.groups < 2)
		return true;
	if (!node_last(d))
		return false;
	go_slice(0);
	go_conditions(d, false, NULL);
	while (d->r.event < event)
		if (go_move(d, false) == MOVED_LOST)
			return false;
	*before = d->before;
	return true;
}

/* Changes the path so that it ends with steps. False: the program is at its beginning, or the replay is lost (*lost). */
static bool
as_steps(struct debugger *d, bool *lost)
{
	*lost = false;
	for (;;) {
		struct node *last = &d->node.at[d->node.n - 1];
		struct hop h;
		uint64_t n = 0;

		if (d->path.n && d->path.at[d->path.n - 1].kind == HOP_STEP)
			return true;
		if (!d->path.n && d->node.n == 1)
			return false;
		if (!d->path.n && last->inside) {
			*lost = !name_inside(d);
		} else if (!d->path.n) {
			path_copy(&d->path, &last->link);
			node_pop(d);
		} else {
			uint64_t before = 0;

			h = d->path.at[d->path.n - 1];
			shorten(&d->path);
			if (h.kind != HOP_EVENT)
				h.count = 1;
			else
				*lost = !event_before(d, h.count, &before);
			if (before > checkpoint_event(last->c))
				path_add(&d->path, (struct hop){HOP_EVENT, .count = before});
			*lost = *lost || !node_reach(d);
			if (!*lost)
				node_here(d);
			*lost = *lost || !count_steps(d, &h, &n);
			path_add(&d->path, (struct hop){HOP_STEP, .count = n});
		}
		if (*lost)
			return false;
	}
}

/* Leaves a node near the end of a long path of steps, because a user who goes back one step often does so again. */
static bool
come_closer(struct debugger *d)
{
	struct hop *last = d->path.n ? &d->path.at[d->path.n - 1] : NULL;
	uint64_t left;

	if (!last || last->kind != HOP_STEP || (d->path.n == 1 && last->count <= STEPS))
		return true;
	left = last->count <= STEPS ? last->count : STEPS / 2;
	last->count -= left;
	d->path.n -= !last->count;
	if (!node_reach(d))
		return false;
	node_here(d);
	path_add(&d->path, (struct hop){HOP_STEP, .count = left});
	return true;
}

bool
settle(struct debugger *d)
{
	path here = {0};
	uint64_t event = d->r.event;
	bool ok = true;

	if (!d->pending)
		return true;
	path_copy(&here, &d->path);
	go_conditions(d, false, NULL);
	go_slice(0);
	while (ok && d->r.event == event)
		ok = go_move(d, false) != MOVED_LOST;
	node_hop(d, (struct hop){HOP_EVENT, .count = d->r.event});
	path_copy(&d->path, &here);
	path_free(&here);
	return ok;
}

/* Goes back one instruction, or one event, of any thread. */
static enum came
back_one(struct debugger *d)
{
	bool lost = !settle(d);

	if (lost)
		return CAME_LOST;
	if (!as_steps(d, &lost))
		return lost || !node_reach(d) ? CAME_LOST : CAME_BEGIN;
	shorten(&d->path);
	return come_closer(d) && node_reach(d) ? CAME_STEP : CAME_LOST;
}

/* ---- back ---- */

/* Goes from the last node to the firing with number s->stop_at. */
static bool
to_fired(struct debugger *d, struct scan *s)
{
	uint64_t begun, event;

	if (!node_last(d))
		return false;
	begun = event = d->r.event;
	go_slice(0);
	go_conditions(d, true, NULL);
	s->stopped = breaks_here(d) && ++s->total == s->stop_at;
	while (!s->stopped) {
		enum moved moved = go_move(d, false);

		if (moved == MOVED_LOST || moved == MOVED_END)
			return false;
		if (d->r.event != event)
			forget_hits(d);
		event = d->r.event;
		count(d, s, false);
	}
	d->path.n = 0;
	if (event != begun)
		path_add(&d->path, (struct hop){HOP_EVENT, .count = event});
	if (s->at)
		path_add(&d->path, hop_of(s->at, s->at->hits));
	return true;
}

/* The same, with a node on the way if it is long, because a user who goes back here often does so again. */
static enum came
back_to(struct debugger *d, uint64_t which)
{
	struct scan near = {.stop_at = which - FEW}, s = {0};

	if (which > 2 * FEW) {
		if (!to_fired(d, &near))
			return CAME_LOST;
		/* A breakpoint at the node itself counts once more. */
		if (node_here(d))
			which = near.at && near.at->watch ? FEW : FEW + 1;
	}
	s.stop_at = which;
	if (!to_fired(d, &s))
		return CAME_LOST;
	d->fired = s.at ? *s.at : (struct condition){0};
	if (!d->fired.watch)
		return CAME_HIT;
	/* gdb expects the state before the instruction that writes. */
	return back_one(d) == CAME_LOST ? CAME_LOST : CAME_HIT;
}

/* Removes the last node; the path becomes the one that led to it from the node before. *after: how often the user's conditions fire
 * between the removed node and the end of that path. */
static bool
one_back(struct debugger *d, uint64_t *after)
{
	struct node *last = &d->node.at[d->node.n - 1];
	struct scan s = {0};
	bool ok = !last->inside || (node_last(d) && follow(d, &last->rest, &s));

	*after = s.total;
	path_copy(&d->path, &last->link);
	node_pop(d);
	return ok;
}

/* Counts what fires from a node inside of a hop to the hop's end. False: the replay is lost. */
static bool
count_behind(struct debugger *d, size_t node, uint64_t *n)
{
	struct scan s = {0};

	d->ended = false;
	if (!checkpoint_back(&d->r, d->node.at[node].c) || !follow(d, &d->node.at[node].rest, &s))
		return false;
	*n = s.total;
	return true;
}

/* The nodes from `first` on are inside of one hop. Removes the last ones between which nothing fires: as many as can be, by halves.
 * *after: as one_back() has it. False: the replay is lost. */
static bool
skip_nodes(struct debugger *d, size_t first, uint64_t *after)
{
	size_t lo = first - 1, hi = d->node.n - 1;

	if (!count_behind(d, hi, after))
		return false;
	while (hi - lo > 1) {
		size_t middle = lo + (hi - lo) / 2;
		uint64_t n;

		if (!count_behind(d, middle, &n))
			return false;
		if (n > *after)
			lo = middle;
		else
			hi = middle;
	}
	path_copy(&d->path, &d->node.at[hi].link);
	while (d->node.n > hi)
		node_pop(d);
	return true;
}

/* Removes the last nodes, which are inside of one hop, if nothing fires between them; the path then leads to the hop's end. *some:
 * any have been removed. *after: as one_back() has it. False: the replay is lost. */
static bool
skip_way(struct debugger *d, bool *some, uint64_t *after)
{
	size_t first = d->node.n - 1;
	struct scan s = {0};

	while (first && d->node.at[first - 1].inside && d->node.at[first - 1].way == d->node.at[first].way)
		first--;
	*some = first && first + 2 < d->node.n && d->node.at[first].inside && d->node.at[first].rest.n;
	if (!*some)
		return true;
	d->ended = false;
	if (!checkpoint_back(&d->r, d->node.at[first - 1].c) || !follow(d, &d->node.at[first].before, NULL))
		return false;
	if (!follow(d, &d->node.at[first].rest, &s))
		return false;
	if (s.total)
		return skip_nodes(d, first, after);
	*after = 0;
	path_copy(&d->path, &d->node.at[first].link);
	while (d->node.n > first)
		node_pop(d);
	return true;
}

/* Goes back to the last place that fires, but no further than to event `bound` (CAME_STEP); 0: to the beginning. */
static enum came
back_down_to(struct debugger *d, uint64_t bound)
{
	const path to = {.at = &(struct hop){HOP_EVENT, .count = bound}, .n = 1};
	uint64_t after = 0;

	if (!settle(d))
		return CAME_LOST;
	for (;;) {
		struct scan s = {0}, sooner = {0};
		bool skipped, inside = bound > checkpoint_event(d->node.at[d->node.n - 1].c);

		if (!node_last(d) || !follow(d, &d->path, &s) || (inside && (!node_last(d) || !follow(d, &to, &sooner))))
			return CAME_LOST;
		if (s.total > after + sooner.total)
			return back_to(d, s.total - after);
		if (inside) {
			path_copy(&d->path, &to);
			return node_reach(d) ? CAME_STEP : CAME_LOST;
		}
		if (d->node.n == 1) {
			d->path.n = 0;
			return node_last(d) ? CAME_BEGIN : CAME_LOST;
		}
		if (!skip_way(d, &skipped, &after) || (!skipped && !one_back(d, &after)))
			return CAME_LOST;
	}
}

/* The event at which the program that now runs began: breakpoints belong to that program. */
static uint64_t
program_at(const struct debugger *d)
{
	const struct task *t = view_any(d);

	return t && t->group->programs ? t->group->program_at : 0;
}

enum came
back(struct debugger *d)
{
	return back_down_to(d, program_at(d));
}

enum came
back_step(struct debugger *d, uint64_t thread)
{
	uint64_t programs = view_programs(d);
	const struct task *t = view_thread(d, thread);

	thread = t ? t->number : 0;
	for (;;) {
		bool waits = t && t != d->r.task;
		uint64_t bound = program_at(d);
		enum came came;

		if (d->alone && waits)
			return CAME_STEP;
		/* The thread has just been begun. */
		if (waits && !t->left)
			return CAME_BEGIN;
		if (waits && t->left > bound)
			bound = t->left;
		came = waits ? back_down_to(d, bound) : back_one(d);
		t = view_thread(d, thread);
		if (came != CAME_STEP || !t || d->alone || (t == d->r.task && !t->in_call) || view_programs(d) != programs)
			return came;
	}
}
