/* SPDX-License-Identifier: MIT */
/* Reads a stream as the actions of its threads. Each path says where in which procedure it begins and how it ends, so a stack of
 * activations can be kept. If a path begins where none of the activations stands, something has happened that left no trace (a jump
 * out of other activations, another stack). The stack is then repaired, and the user is told. */
#include "trace/internal.h"

#include "graph/graph.h"

#include <stdlib.h>

static struct replay_frame *
top(struct replay *r)
{
	return replay_top(r);
}

static void
leave(struct replay *r, enum replay_how how)
{
	const struct replay_frame *f = top(r);

	if (f->broken && f->path && (f->path->end == REPLAY_RETURNS || f->path->end == REPLAY_TAIL))
		how = how == REPLAY_BY_JUMP ? REPLAY_BY_EITHER : REPLAY_UNSURE;
	if (r->leaves_frame)
		r->leaves_frame(r, how);
	r->stack.n--;
}

static void
leave_all(struct replay *r, enum replay_how how)
{
	while (r->stack.n)
		leave(r, how);
}

static void
enter(struct replay *r, const struct replay_path *p, enum replay_how how)
{
	VEC_PUSH(r->stack, (struct replay_frame){.proc = p->proc, .module = p->module, .next = GRAPH_NONE, .since = r->insns});
	r->told = true;
	if (r->index)
		trace_index_enters(r->index, r, p->proc, p->module);
	if (r->enters)
		r->enters(r, how);
}

void
replay_leave_tails(struct replay *r)
{
	while (r->stack.n && top(r)->at == REPLAY_LEFT_BY_TAIL_CALL)
		leave(r, REPLAY_BY_RETURN);
}

static void
enter_procedure(struct replay *r, const struct replay_path *p)
{
	struct replay_frame *f = top(r);
	bool tail = f && f->at == REPLAY_LEFT_BY_TAIL_CALL;

	if (f && r->leaves) {
		f->jumps = true;
		f->ended = r->ended;
	}
	if (r->strikes) {
		r->strikes--;
		enter(r, p, REPLAY_FROM_NOWHERE);
		top(r)->unseen = r->unseen;
		top(r)->perhaps = r->perhaps;
		r->unseen = r->perhaps = 0;
		return;
	}
	r->struck = (struct replay_strike){0};
	if (tail)
		leave(r, REPLAY_BY_TAIL_CALL);
	if (tail)
		enter(r, p, REPLAY_BY_TAIL_CALL);
	else if (!f)
		enter(r, p, REPLAY_FROM_OUTSIDE);
	else
		enter(r, p, f->at == REPLAY_RUNS ? REPLAY_FROM_NOWHERE : REPLAY_BY_CALL);
}

static bool
is_of(const struct replay_frame *f, const struct replay_path *p)
{
	return f->proc == p->proc && f->module == p->module;
}

/* Is the activation at the place where the path begins? */
static bool
goes_on(const struct replay_frame *f, const struct replay_path *p)
{
	return is_of(f, p) && f->next == p->from && f->at != REPLAY_LEFT_BY_TAIL_CALL;
}

/* The innermost activation to which the path may belong, plus 1. `exactly`: the activation is where the path begins. 0: none. */
static size_t
find_frame(const struct replay *r, const struct replay_path *p, bool exactly)
{
	size_t n = r->stack.n;

	while (n && !(exactly ? goes_on(&r->stack.at[n - 1], p) : is_of(&r->stack.at[n - 1], p)))
		n--;
	return n;
}

bool
replay_has(const struct replay *r, const struct replay_path *p)
{
	return find_frame(r, p, false);
}

/* An exception does not come back to the landing pad from which it was passed on. */
static size_t
find_landing(const struct replay *r, const struct replay_path *p)
{
	size_t n = r->stack.n;

	while (n) {
		const struct replay_frame *f = &r->stack.at[n - 1];
		bool passed_on = f->last && f->last->begin == REPLAY_LANDS && f->next == GRAPH_NONE && f->at == REPLAY_AT_CALL;

		if (is_of(f, p) && !passed_on)
			break;
		n--;
	}
	return n;
}

/* The activation to which a marked jump leads, as far as that is known. The mark also counts activations that have written
 * nothing. */
static size_t
find_marked(struct replay *r, const struct replay_path *p)
{
	uint64_t ended = 0, perhaps = 0;

	for (size_t n = r->stack.n; r->leaves && n && ended <= r->ended; n--) {
		const struct replay_frame *f = &r->stack.at[n - 1];

		if (r->ended - ended <= perhaps && is_of(f, p))
			return n;
		ended += 1 + (uint64_t)f->unseen;
		perhaps += f->perhaps;
	}
	return 0;
}

static void
resume(struct replay *r, const struct replay_path *p)
{
	size_t n;
	bool any;

	replay_end_tails(r);
	n = find_marked(r, p);
	if (!n)
		n = p->begin == REPLAY_GOES_ON ? find_frame(r, p, true) : find_landing(r, p);
	if (!n)
		n = find_frame(r, p, false);
	any = n && r->stack.n > n;
	while (n && r->stack.n > n)
		leave(r, REPLAY_BY_JUMP);
	if (any) {
		top(r)->path = top(r)->ahead = NULL;
		top(r)->waits = top(r)->broken = false;
	}
	if (!n)
		enter(r, p, REPLAY_FOUND);
}

/* ---- what is reported ---- */

static bool
is_before(struct replay_point a, struct replay_point b)
{
	return a.block != b.block ? a.block < b.block : a.insn < b.insn;
}

uint64_t
replay_insns(const struct replay_path *p, struct replay_point from, struct replay_point to)
{
	uint64_t n = to.insn;

	if (!from.block && !from.insn && to.block == p->n)
		return p->insns;
	for (uint32_t i = from.block; i < to.block; i++)
		n += p->proc->block[p->block[i]].ninsn;
	return n - from.insn;
}

static void
tell(struct replay *r, const struct replay_path *p, struct replay_point to)
{
	struct replay_point from = top(r)->done;

	top(r)->done = to;
	if (r->runs)
		r->runs(r, p, from, to);
	r->insns += replay_insns(p, from, to);
}

void
replay_run_to(struct replay *r, struct replay_point to)
{
	const struct replay_path *p = top(r)->path ? top(r)->path : top(r)->ahead;

	if (is_before(top(r)->done, to))
		tell(r, p, to);
}

void
replay_finish_one(struct replay *r)
{
	static const enum replay_at at[] = {
		[REPLAY_CUT] = REPLAY_RUNS, [REPLAY_CALLS] = REPLAY_AT_CALL, [REPLAY_TAIL] = REPLAY_LEFT_BY_TAIL_CALL,
		[REPLAY_STOPS] = REPLAY_STOPPED,
	};
	const struct replay_path *p = top(r)->path;
	struct replay_frame *f;

	tell(r, p, (struct replay_point){p->n, 0});
	f = top(r);
	f->path = NULL;
	f->waits = f->broken = false;
	f->done = (struct replay_point){0};
	if (p->end == REPLAY_RETURNS) {
		leave(r, REPLAY_BY_RETURN);
		return;
	}
	f->at = at[p->end];
	f->next = p->next;
	f->last = p;
}

void
replay_finish(struct replay *r)
{
	while (r->stack.n && top(r)->path && !r->stop)
		replay_finish_one(r);
}

void
replay_end_tails(struct replay *r)
{
	while (r->stack.n && top(r)->at == REPLAY_LEFT_BY_TAIL_CALL && !r->stop) {
		replay_leave_tails(r);
		replay_finish(r);
	}
}

/* The innermost activation ended its path with an indirect jump. Was that a tail call? The path of another activation follows. */
static bool
has_left(const struct replay *r, const struct replay_frame *f, const struct replay_path *p)
{
	bool may = f && f->at == REPLAY_RUNS && f->last && f->last->may_leave;

	return may && !r->strikes && !r->leaves && !f->jumps && !goes_on(f, p);
}

void
replay_arrive(struct replay *r, const struct replay_path *p)
{
	struct replay_frame *f = top(r);

	if (has_left(r, f, p))
		f->at = REPLAY_LEFT_BY_TAIL_CALL;

	/* The activation that a handler interrupted has jumped, after the handler returned. */
	if (p->begin != REPLAY_ENTERS && !r->leaves && f && f->jumps) {
		r->leaves = true;
		r->ended = f->ended;
	}
	if (p->begin == REPLAY_ENTERS)
		enter_procedure(r, p);
	else if (p->begin == REPLAY_LANDS || r->leaves || !f || !goes_on(f, p))
		resume(r, p);
	r->leaves = false;
	if (p->begin != REPLAY_ENTERS)
		r->strikes = r->unseen = r->perhaps = 0;
}

/* Does the path call the procedure, or jump to it, by name? */
static bool
names(const struct replay *r, const struct replay_path *from, const struct replay_path *p)
{
	return r->names && from && (from->end == REPLAY_CALLS || from->end == REPLAY_TAIL) &&
	       r->names(r->ctx, from, p->proc, p->module);
}

/* Has the activation on top, which jumped to another procedure, ended before that path? Then untraced code that was there has
 * returned. What the activation interrupted, as a handler, has gone on: it runs the path, or names the procedure that the path
 * enters. */
static bool
has_come_back(const struct replay *r, const struct replay_path *p)
{
	const struct replay_frame *f = r->stack.n ? &r->stack.at[r->stack.n - 1] : NULL;

	if (!f || f->at != REPLAY_LEFT_BY_TAIL_CALL || r->strikes || r->leaves || names(r, f->last, p))
		return false;
	while (f > r->stack.at && replay_may_have_ended(f)) {
		f--;
		if (f->ahead == p || (p->begin == REPLAY_ENTERS && names(r, f->path, p)))
			return true;
	}
	return false;
}

void
replay_come_back(struct replay *r, const struct replay_path *p)
{
	if (has_come_back(r, p))
		replay_end_tails(r);
}

void
replay_take(struct replay *r, const struct replay_path *p)
{
	if (!r->strikes || p->begin != REPLAY_ENTERS)
		replay_finish(r);
	replay_come_back(r, p);
	if (r->stop)
		return;
	if (r->strikes || !top(r) || top(r)->ahead != p)
		replay_arrive(r, p);
	if (top(r)->ahead != p)
		top(r)->done = (struct replay_point){0};
	top(r)->path = p;
	top(r)->ahead = NULL;
}

/* ---- witnesses ---- */

/* The innermost activation once everything that was written has run to its end. False: there is none. f->at, f->next and f->ahead
 * say where it is, and which path was found ahead for it. */
static bool
standing(const struct replay *r, struct replay_frame *f)
{
	for (size_t n = r->stack.n; n; n--) {
		*f = r->stack.at[n - 1];
		if (!f->path)
			return true;
		if (f->path->end == REPLAY_RETURNS)
			continue;
		f->at = f->path->end == REPLAY_CUT ? REPLAY_RUNS : REPLAY_STOPPED;
		f->next = f->path->next;
		f->ahead = NULL;
		return true;
	}
	return false;
}

/* Is it known that the path begins an activation, or continues one after a call, and not one whose beginning was not seen? f: the
 * innermost activation; NULL: none. */
static bool
is_certain(const struct replay *r, const struct replay_path *p, const struct replay_frame *f, bool sure)
{
	if (!r->lost || sure || r->forked || r->strikes)
		return true;
	return f && (p->begin == REPLAY_ENTERS || (is_of(f, p) && f->next == p->from) || find_frame(r, p, true));
}

const struct replay_path *
replay_path_next(struct replay *r, uint32_t token, bool *damaged)
{
	const struct replay_path *p = replay_path_of(r->code, token, r->listed, damaged), *anew;
	struct replay_frame f;
	bool sure, any;

	if (!p || !p->witness)
		return p;
	any = !r->strikes && standing(r, &f);
	if (any && f.ahead && f.ahead->witness == p->witness)
		return f.ahead;
	if (any && !r->jumped && f.at == REPLAY_RUNS && is_of(&f, p) && f.next != GRAPH_NONE) {
		anew = replay_path_from(r->code, token, r->listed, f.next, NULL);
		if (anew)
			return anew;
	}
	anew = replay_path_from(r->code, token, r->listed, REPLAY_ANEW, &sure);
	return anew && is_certain(r, anew, any ? &f : NULL, sure) ? anew : replay_path_end(r->code, token, r->listed);
}

/* ---- slots ---- */

/* next: the stream goes on with another thread. */
static void
say_end(struct replay *r, bool next)
{
	if (next && !r->ends)
		r->ends = CHORD_ENDS_GONE;
	leave_all(r, REPLAY_AT_END);
	if (r->thread_ends)
		r->thread_ends(r);
}

static void
begin_thread(struct replay *r, enum chord_mark kind, uint32_t id)
{
	replay_finish(r);
	if (!r->stop && kind == CHORD_MARK_THREAD && (r->thread || r->insns || r->stack.n))
		say_end(r, true);
	r->part += r->told;
	r->told = r->stack.n != 0;
	if (r->index)
		trace_index_thread(r->index, r);
	r->thread = kind == CHORD_MARK_THREAD ? id : 0;
	r->insns = r->strikes = r->event = 0;
	r->unseen = r->perhaps = 0;
	r->ends = r->made = 0;
	r->leaves = r->silent = r->jumped = false;
	r->forked = kind == CHORD_MARK_CHILD;
	r->lost = r->forked || r->file->gone || r->file->flags & CHORD_TRACE_LATE;
	if (r->index && r->thread)
		trace_index_happens(r->index, r, 0);
	if (r->thread_begins)
		r->thread_begins(r, kind);
}

/* An event that orders streams. */
static void
happen(struct replay *r, enum chord_event event)
{
	if (r->stop)
		return;
	if (r->index && event != CHORD_EVENT_UNMADE)
		trace_index_happens(r->index, r, event);
	if (r->happens)
		r->happens(r, event);
}

/* Everything that was written before has run to its end. */
static void
take_ending(struct replay *r, uint64_t value)
{
	replay_finish(r);
	r->silent = CHORD_ENDS_HOW(value) != 0;
	if (r->ends && CHORD_ENDS_HOW(value) == CHORD_ENDS_GONE)
		return; /* the thread has said how */
	r->told = true;
	r->ends = CHORD_ENDS_HOW(value);
	r->by = CHORD_ENDS_BY(value);
	if (r->ends)
		happen(r, CHORD_EVENT_ENDS);
}

/* Events that order threads and processes. */
static void
take_order(struct replay *r, enum chord_event event, uint64_t value)
{
	replay_finish(r);
	r->told = true;
	if (event == CHORD_EVENT_CREATES) {
		r->made = CHORD_CREATES_THREAD(value);
		r->stream = CHORD_CREATES_STREAM(value);
	} else if (event == CHORD_EVENT_JOINS) {
		r->joined = CHORD_CREATES_THREAD(value);
		r->joined_in = CHORD_CREATES_STREAM(value);
	} else if (event == CHORD_EVENT_STAMP) {
		r->stamp = value;
	} else if (event == CHORD_EVENT_UNMADE) {
		r->made = value == r->stream ? r->made : 0;
	} else {
		r->forks = event == CHORD_EVENT_FORKS ? value : CHORD_FORKED_N(value);
		r->parent = event == CHORD_EVENT_FORKS ? 0 : CHORD_FORKED_PID(value);
	}
	happen(r, event);
}

static void
take_event(struct replay *r, uint32_t payload, uint32_t more)
{
	const uint64_t value = CHORD_EVENT_VALUE(payload, more);

	switch (CHORD_EVENT_OF(payload)) {
	case CHORD_EVENT_STRUCK:
		replay_struck(r, value);
		break;
	case CHORD_EVENT_ENDS:
		take_ending(r, value);
		break;
	case CHORD_EVENT_STAYS:
		take_ending(r, 0);
		break;
	case CHORD_EVENT_CREATES: case CHORD_EVENT_UNMADE: case CHORD_EVENT_FORKS: case CHORD_EVENT_FORKED:
	case CHORD_EVENT_JOINS: case CHORD_EVENT_STAMP:
		take_order(r, CHORD_EVENT_OF(payload), value);
		break;
	}
}

/* A part of what an activation did is not in the trace, so it is not known. */
static void
miss_word(struct replay *r)
{
	replay_finish(r);
	r->partial++;
	r->missed++;
	r->lost = true;
}

static void
take_mark(struct replay *r, uint32_t slot)
{
	uint32_t payload = CHORD_SLOT_PAYLOAD(slot);

	switch (CHORD_SLOT_KIND(slot)) {
	case CHORD_MARK_THREAD:
	case CHORD_MARK_CHILD:
		begin_thread(r, CHORD_SLOT_KIND(slot), payload);
		break;
	case CHORD_MARK_JUMP:
		replay_finish(r);
		replay_leave_tails(r);
		r->jumped = true;
		if (r->jumps)
			r->jumps(r);
		r->leaves = payload != CHORD_MARK_MOST;
		r->ended = payload;
		break;
	case CHORD_MARK_MODULES:
		r->listed = payload;
		if (payload > r->file->module.n && !r->file->fault)
			slots_spoil(r->slots, "damaged: it knows of more modules than are listed");
		break;
	case CHORD_MARK_EVENT:
		r->event = slot;
		break;
	case CHORD_MARK_MORE:
		if (r->event)
			take_event(r, CHORD_SLOT_PAYLOAD(r->event), payload);
		else if (r->writes)
			r->writes(r, slot);
		r->event = 0;
		break;
	case CHORD_MARK_NONE:
		if (CHORD_IS_DATA(slot) && r->writes)
			r->writes(r, slot);
		else if (slot == TRACE_NOT_KNOWN)
			miss_word(r);
		break;
	default:
		break;
	}
}

static void
take_token(struct replay *r, uint32_t token)
{
	bool damaged;
	const struct replay_path *p = replay_path_next(r, token, &damaged);

	r->silent = r->jumped = r->forked = false;
	r->partial += p && p->partial;
	if (p)
		replay_take(r, p);
	else if (damaged)
		slots_spoil(r->slots, pool_printf(r->file->pool, "damaged: slot %zu is no path of a module that is listed", r->i));
	else
		r->unknown++;
}

static void
take_slot(struct replay *r, uint32_t slot)
{
	if (CHORD_SLOT_KIND(slot))
		take_mark(r, slot);
	else if (slot)
		take_token(r, slot);
	else
		r->lost = true;
}

/* The thread was killed, perhaps in the middle of the last path. All blocks of the path but the last one have run, because the path
 * is written in that block or after it. If a handler's path returned, the interrupted activation may have gone on. */
static void
end_killed(struct replay *r)
{
	const struct replay_path *p = top(r) ? top(r)->path : NULL;
	bool returns = true;

	if (p && p->n)
		replay_run_to(r, (struct replay_point){p->n - 1, 0});
	if (p && r->unsure)
		r->unsure(r);
	while (!r->stop && returns && r->stack.n && top(r)->path) {
		p = top(r)->path;
		returns = p->end == REPLAY_RETURNS;
		tell(r, p, (struct replay_point){p->n, 0});
		leave(r, returns ? REPLAY_UNSURE : REPLAY_AT_END);
	}
}

/* Nothing more is known of the thread. If the stream cannot be read further, the thread is treated as if it had been killed
 * there. */
static void
end_thread(struct replay *r)
{
	bool tail;

	if ((r->killed || r->slots->fault) && !r->silent)
		end_killed(r);
	else
		replay_finish(r);
	/* Untraced code may have returned from a tail call, or ended the thread. If it returned from a handler, what that had
	 * interrupted went on. */
	tail = top(r) && top(r)->at == REPLAY_LEFT_BY_TAIL_CALL;
	while (!r->stop && top(r) && top(r)->at == REPLAY_LEFT_BY_TAIL_CALL)
		leave(r, REPLAY_UNTRACED);
	if (!r->stop && tail && top(r) && top(r)->path)
		end_killed(r);
	if (!r->stop)
		say_end(r, false);
}

void
replay_begin(struct replay *r, size_t stream)
{
	r->slots = slots_new(r->file, stream, r->code);
	r->number = stream;
	r->part = 0;
	r->told = false;
	if (r->index)
		trace_index_thread(r->index, r);
	r->listed = 0;
	r->i = 0;
	r->stack.n = 0;
	r->thread = r->insns = r->strikes = r->event = r->ends = r->made = 0;
	r->unseen = r->perhaps = 0;
	r->silent = r->jumped = r->forked = false;
	r->lost = true;
}

bool
replay_step(struct replay *r)
{
	if (r->stop || r->slots->fault)
		return false;
	if (r->i == r->slots->n) {
		if (r->index && slots_at_extent(r->slots))
			trace_index_add(r->index, r);
		if (!slots_next(r->slots))
			return false;
		progress("reading the trace", r->slots->done >> 20, trace_stream_bytes(r->slots->stream) >> 20);
		r->i = 0;
	}
	take_slot(r, r->slots->slot[r->i]);
	r->i++;
	return true;
}

const char *
replay_end(struct replay *r)
{
	const char *why;

	if (!r->stop)
		end_thread(r);
	progress("reading the trace", 1 << 20, 2);
	why = r->slots->fault;
	if (r->index)
		trace_index_ended(r->index, r);
	slots_free(r->slots);
	slots_free(r->scout);
	r->slots = r->scout = NULL;
	free(r->stack.at);
	r->stack.at = NULL;
	r->stack.n = r->stack.cap = 0;
	return why;
}

const char *
replay_stream(struct replay *r, size_t stream)
{
	replay_begin(r, stream);
	while (replay_step(r))
		;
	return replay_end(r);
}
