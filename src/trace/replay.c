/* SPDX-License-Identifier: MIT */
/* A stream as what its threads did. Each path says where in which procedure it begins and how it ends, so that a stack of what is
 * active can be kept. Where a path does not begin where one of the activations stands, something has happened that left no trace (a
 * jump out of other activations, another stack): the stack is mended, and the user is told. */
#include "trace/internal.h"

#include "graph/graph.h"

#include <stdlib.h>

static struct replay_frame *
top(struct replay *r)
{
	return r->stack.n ? &r->stack.at[r->stack.n - 1] : NULL;
}

static void
leave(struct replay *r, enum replay_how how)
{
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
	if (r->enters)
		r->enters(r, how);
}

/* What jumped to another procedure has ended, if that has not been entered. */
static void
end_tails(struct replay *r)
{
	while (r->stack.n && top(r)->at == REPLAY_LEFT_BY_TAIL_CALL)
		leave(r, REPLAY_BY_RETURN);
}

static void
enter_procedure(struct replay *r, const struct replay_path *p)
{
	struct replay_frame *f = top(r);
	bool tail = f && f->at == REPLAY_LEFT_BY_TAIL_CALL;

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

/* Does the activation stand where the path begins? */
static bool
goes_on(const struct replay_frame *f, const struct replay_path *p)
{
	return is_of(f, p) && f->next == p->from && f->at != REPLAY_LEFT_BY_TAIL_CALL;
}

/* The activation that the path is of, plus 1, innermost first; `exactly`: it stands where that begins. 0: none. */
static size_t
find_frame(const struct replay *r, const struct replay_path *p, bool exactly)
{
	size_t n = r->stack.n;

	while (n && !(exactly ? goes_on(&r->stack.at[n - 1], p) : is_of(&r->stack.at[n - 1], p)))
		n--;
	return n;
}

/* An exception does not come back to where it was passed on from, which was a landing pad, too. */
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

/* Where a jump leads to that was marked, as far as that is known. */
static size_t
find_marked(struct replay *r, const struct replay_path *p)
{
	size_t n = r->ended < r->stack.n ? r->stack.n - r->ended : 0;

	return r->leaves && n && is_of(&r->stack.at[n - 1], p) ? n : 0;
}

static void
resume(struct replay *r, const struct replay_path *p)
{
	size_t n;

	end_tails(r);
	n = find_marked(r, p);
	if (!n)
		n = p->begin == REPLAY_GOES_ON ? find_frame(r, p, true) : find_landing(r, p);
	if (!n)
		n = find_frame(r, p, false);
	while (n && r->stack.n > n)
		leave(r, REPLAY_BY_JUMP);
	if (!n)
		enter(r, p, REPLAY_FOUND);
}

static void
end_path(struct replay *r, const struct replay_path *p)
{
	static const enum replay_at at[] = {
		[REPLAY_CUT] = REPLAY_RUNS, [REPLAY_CALLS] = REPLAY_AT_CALL, [REPLAY_TAIL] = REPLAY_LEFT_BY_TAIL_CALL,
		[REPLAY_STOPS] = REPLAY_STOPPED,
	};
	struct replay_frame *f = top(r);

	r->insns += p->insns;
	r->blocks += p->n;
	if (p->end == REPLAY_RETURNS) {
		leave(r, REPLAY_BY_RETURN);
		return;
	}
	f->at = at[p->end];
	f->next = p->next;
	f->last = p;
}

static void
take_path(struct replay *r, const struct replay_path *p)
{
	const struct replay_frame *f = top(r);

	if (p->begin == REPLAY_ENTERS)
		enter_procedure(r, p);
	else if (p->begin == REPLAY_LANDS || r->leaves || !f || !goes_on(f, p))
		resume(r, p);
	r->leaves = false;
	if (r->runs)
		r->runs(r, p);
	end_path(r, p);
}

/* ---- slots ---- */

static void
begin_thread(struct replay *r, enum chord_mark kind, uint32_t id)
{
	leave_all(r, REPLAY_AT_END);
	r->thread = kind == CHORD_MARK_THREAD ? id : 0;
	r->insns = r->blocks = 0;
	r->leaves = false;
	if (r->thread_begins)
		r->thread_begins(r, kind);
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
		end_tails(r);
		r->leaves = payload != CHORD_MARK_MOST;
		r->ended = payload;
		break;
	case CHORD_MARK_MODULES:
		r->listed = payload;
		break;
	default:
		break;
	}
}

static void
take_slot(struct replay *r, uint32_t slot)
{
	const struct replay_path *p;

	if (CHORD_SLOT_KIND(slot)) {
		take_mark(r, slot);
	} else if (slot) {
		p = replay_path_of(r->code, slot, r->listed);
		if (p)
			take_path(r, p);
		else
			r->unknown++;
	}
}

const char *
replay_stream(struct replay *r, size_t stream)
{
	const char *why;

	r->slots = slots_new(r->file, stream);
	r->listed = 0;
	r->stack.n = 0;
	r->thread = r->insns = r->blocks = 0;
	while (!r->stop && slots_next(r->slots)) {
		progress("reading the trace", r->slots->done >> 20, trace_stream_bytes(r->slots->stream) >> 20);
		for (size_t i = 0; i < r->slots->n && !r->stop; i++)
			take_slot(r, r->slots->slot[i]);
	}
	if (!r->stop)
		leave_all(r, REPLAY_AT_END);
	progress("reading the trace", 1 << 20, 2);
	why = r->slots->fault;
	free(r->slots);
	r->slots = NULL;
	free(r->stack.at);
	r->stack.at = NULL;
	r->stack.n = r->stack.cap = 0;
	return why;
}
