/* SPDX-License-Identifier: MIT */
/* Where signals strike. A handler's mark says at which instruction it interrupted the thread (format/trace.h). The path that was
 * interrupted is one of two: the last one that was written, if the slot was taken before the block's end; or the one that the
 * activation writes next, behind all that handlers do. That is looked for ahead, and told of up to the place.
 *
 * A handler's own first path may be interrupted, even before it has said that it is there: the kernel may deliver several signals
 * at once. If it never goes on, it is not known what it had interrupted: all that is told of the last path is what had run when
 * that was written. */
#include "trace/internal.h"

#include "graph/graph.h"

#include <stdlib.h>

/* Goes with a mark's value, so that it is not 0; and what stands for the mark that is looked at. */
static const uint64_t SAID = 1ull << 63, OWN = UINT64_MAX;
/* Stands for the path that was interrupted where others were written with it. */
static const struct replay_path UNPLACED;
/* More handlers are not struck one in another before any could say that it is there. */
enum { DEEPEST = 64 };

/* What reads ahead, with a stack of its own: what handlers do. */
struct scout {
	struct replay *r, q;
	struct slots *slots;
	size_t i;
	VEC(uint64_t) waiting;   /* handlers that have said that they are there, and have nothing below them here */
	bool entered;            /* the one whose mark is looked at */
	bool spread;             /* the next path was written with others behind it: it may be in any of them */
	const struct replay_strike *strike;
	const struct replay_path *found;
	struct replay_point at;  /* in it */
	uint64_t own;            /* the mark that is looked at, where it has been seen ahead already */
	uint64_t mark;           /* what the activation said that it is of, if that is a handler itself; else 0 */
};

static bool
is_of(const struct replay_path *p, const struct replay_strike *s)
{
	return p->proc == s->proc && p->module == s->module;
}

/* The path is written, and the block's other instructions come behind that. */
static bool
is_in_tail(const struct replay_path *p, const struct replay_strike *s, struct replay_point *at)
{
	uint32_t last = p->n ? p->block[p->n - 1] : UINT32_MAX;

	if (!is_of(p, s) || s->ahead || s->more || !p->n || p->softly)
		return false;
	*at = (struct replay_point){p->n, 0};
	if (s->block == UINT32_MAX)
		return p->end == REPLAY_TAIL;
	*at = (struct replay_point){p->n - 1, s->insn};
	return s->block == last && (s->passed || (p->end != REPLAY_CUT && p->end != REPLAY_TAIL));
}

/* Does it contain the place? Code at an edge that ends the path is behind all its blocks. */
static bool
contains(const struct replay_path *p, const struct replay_strike *s, struct replay_point *at)
{
	uint32_t last = p->n ? p->block[p->n - 1] : UINT32_MAX;
	bool edge = p->end == REPLAY_CUT && p->next == s->block && !s->insn;

	if (!is_of(p, s))
		return false;
	*at = (struct replay_point){p->n, 0};
	if (s->block == UINT32_MAX)
		return s->ahead && p->end == REPLAY_TAIL;
	if (s->ahead && (last != s->block || edge))
		return edge;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->block[i] == s->block) {
			*at = (struct replay_point){i, s->insn};
			return true;
		}
	return false;
}

/* ---- reading ahead ---- */

static bool
next_slot(struct scout *c, uint32_t *slot)
{
	if (++c->i >= c->slots->n) {
		if (c->slots == c->r->slots) {
			if (!c->r->scout)
				c->r->scout = xcalloc(1, sizeof *c->r->scout);
			slots_copy(c->r->scout, c->slots);
			c->slots = c->r->scout;
		}
		if (!slots_next(c->slots))
			return false;
		c->i = 0;
	}
	*slot = c->slots->slot[c->i];
	return true;
}

/* A path with no handler's activation below it: that of what was interrupted, or of another handler. False: the search is over. */
static bool
take_lowest(struct scout *c, const struct replay_path *p)
{
	uint64_t mark = c->waiting.n ? c->waiting.at[c->waiting.n - 1] : 0;

	if (c->entered && mark != c->own && c->spread && is_of(p, c->strike)) {
		c->found = &UNPLACED;
		return false;
	}
	if (c->entered && mark != c->own && contains(p, c->strike, &c->at)) {
		c->found = p;
		c->mark = mark;
		return false;
	}
	if (!mark || p->begin != REPLAY_ENTERS)
		return false;
	c->waiting.n--;
	c->entered |= mark == OWN;
	c->q.strikes = 1;
	replay_take(&c->q, p);
	return true;
}

static bool
take_path(struct scout *c, const struct replay_path *p)
{
	bool begins = c->q.strikes && p->begin == REPLAY_ENTERS;

	if (!begins)
		replay_finish(&c->q);
	if (!begins && p->begin != REPLAY_ENTERS && !replay_has(&c->q, p))
		replay_end_tails(&c->q);
	if (!begins && !c->q.stack.n)
		return take_lowest(c, p);
	if (p->begin != REPLAY_ENTERS && !replay_has(&c->q, p))
		return false;
	replay_take(&c->q, p);
	return true;
}

static void
take_strike(struct scout *c, uint64_t value)
{
	replay_finish(&c->q);
	if (!c->q.stack.n && !c->q.strikes)
		VEC_PUSH(c->waiting, value | SAID);
	else
		c->q.strikes++;
}

static bool
take_jump(struct scout *c, uint32_t ended)
{
	replay_finish(&c->q);
	replay_end_tails(&c->q);
	c->q.jumped = true;
	c->q.leaves = ended != CHORD_MARK_MOST;
	c->q.ended = ended;
	return !c->q.leaves || ended < c->q.stack.n;
}

/* Of a witness: which path, behind what has been seen ahead; else behind what the reader knows, unless a handler that has said that
 * it is there writes first. */
static const struct replay_path *
path_next(struct scout *c, uint32_t token, bool *damaged)
{
	struct replay *q = &c->q;
	bool inside = q->strikes || q->jumped;

	for (size_t i = 0; i < q->stack.n && !inside; i++)
		inside = !q->stack.at[i].path || q->stack.at[i].path->end != REPLAY_RETURNS;
	if (inside)
		return replay_path_next(q, token, damaged);
	if (c->waiting.n)
		return replay_path_from(q->code, token, q->listed, REPLAY_ANEW, NULL);
	return replay_path_next(c->r, token, damaged);
}

static bool
take_slot(struct scout *c, uint32_t slot)
{
	uint32_t payload = CHORD_SLOT_PAYLOAD(slot);
	const struct replay_path *p;
	bool damaged, any;

	switch (CHORD_SLOT_KIND(slot)) {
	case 0:
		p = slot ? path_next(c, slot, &damaged) : NULL;
		c->q.jumped &= !slot;
		any = slot ? p && take_path(c, p) : true;
		c->spread &= !slot;
		return any;
	case CHORD_MARK_THREAD: case CHORD_MARK_CHILD:
		return false;
	case CHORD_MARK_JUMP:
		return take_jump(c, payload);
	case CHORD_MARK_MODULES:
		c->q.listed = payload;
		return true;
	case CHORD_MARK_EVENT:
		c->q.event = payload;
		return true;
	case CHORD_MARK_MORE:
		if (CHORD_EVENT_OF(c->q.event) == CHORD_EVENT_STRUCK)
			take_strike(c, CHORD_EVENT_VALUE(c->q.event, payload));
		c->q.event = 0;
		return true;
	default:
		c->spread = slot == TRACE_SPREAD;
		return slot != TRACE_NOT_KNOWN;
	}
}

/* Finds the path that was interrupted and is written later. NULL: none is, because nothing goes on there; UNPLACED: it may be any
 * of several. */
static const struct replay_path *
look_ahead(struct replay *r, const struct replay_strike *s, uint64_t own, struct replay_point *at, uint64_t *mark)
{
	struct scout c = {.r = r, .q = {.file = r->file, .code = r->code, .listed = r->listed, .lost = r->lost},
	                  .slots = r->slots, .i = r->i,
	                  .strike = s, .own = own};
	uint32_t slot;

	VEC_PUSH(c.waiting, OWN);
	while (next_slot(&c, &slot) && take_slot(&c, slot))
		;
	free(c.waiting.at);
	free(c.q.stack.at);
	*at = c.at;
	*mark = c.mark;
	return c.found;
}

/* ---- */

/* May the place be in the path's last block, or in the next path? Or in one of many. */
static bool
is_unclear(const struct replay_path *p, const struct replay_strike *s)
{
	return is_of(p, s) && p->end == REPLAY_CUT &&
	       (p->softly || (s->unclear && p->n && p->block[p->n - 1] == s->block));
}

/* What is above the first n of the stack has returned. */
static void
finish_above(struct replay *r, size_t n)
{
	while (r->stack.n > n && !r->stop)
		replay_finish_one(r);
}

/* Is the place in the last path that was written? Then it is told of up to there. Else nothing is told yet: the place may be in a
 * handler that says later that it has interrupted that path. */
static bool
is_told(struct replay *r, struct replay_strike *s)
{
	struct replay_point at;

	for (size_t n = r->strikes ? 0 : r->stack.n; n && r->stack.at[n - 1].path; n--) {
		const struct replay_frame *f = &r->stack.at[n - 1];

		if (s->proc && is_in_tail(f->path, s, &at)) {
			finish_above(r, n);
			if (!r->stop)
				replay_run_to(r, at);
			if (!r->stop)
				replay_top(r)->waits = true;
			return true;
		}
		if (s->proc && is_unclear(f->path, s))
			s->proc = NULL;
		/* Another signal has struck on the way back to an interrupted place. */
		if (!s->proc && f->waits && !s->outside) {
			finish_above(r, n);
			return true;
		}
		/* A handler has returned, and what it interrupted is not over. */
		if (f->path->end != REPLAY_RETURNS)
			return false;
	}
	return r->stop;
}

/* Tells of the path that was interrupted, and is written later, up to the place. */
static void
tell_ahead(struct replay *r, const struct replay_path *p, struct replay_point at, uint64_t announced)
{
	/* The place is in this path, not in one that the same activation wrote before. */
	if (p->begin != REPLAY_ENTERS)
		replay_finish(r);
	if (r->stop)
		return;
	if (r->strikes || !replay_top(r) || replay_top(r)->ahead != p) {
		replay_arrive(r, p);
		replay_top(r)->done = (struct replay_point){0};
		replay_top(r)->ahead = p;
		replay_top(r)->announced = announced;
	}
	replay_run_to(r, at);
}

/* The innermost handler that is known before it says that it is there, if all that is above it are handlers on their way back, amid
 * whose last instructions the place is not: its number in the stack, plus 1. Else all of the stack. */
static size_t
find_announced(const struct replay *r, const struct replay_strike *s)
{
	struct replay_point at;

	for (size_t n = r->stack.n; n > 1; n--) {
		const struct replay_frame *f = &r->stack.at[n - 1];

		if (!f->path || f->path->end != REPLAY_RETURNS || (s->proc && is_in_tail(f->path, s, &at)))
			break;
		if (f[-1].announced)
			return n - 1;
	}
	return r->stack.n;
}

/* Is the handler known already, because another one has interrupted it before it could say that it is there? Several may have. */
static bool
was_announced(struct replay *r, const struct replay_strike *s, uint64_t value)
{
	size_t n = find_announced(r, s);
	struct replay_frame *f;
	struct replay_point at;
	uint64_t mark;

	if (!r->strikes)
		finish_above(r, n);
	f = replay_top(r);
	if (r->strikes || !f || f->path || f->announced != (value | SAID) || !f->ahead ||
	    (s->proc && contains(f->ahead, s, &at) && look_ahead(r, s, OWN, &at, &mark) == f->ahead && mark))
		return false;
	f->announced = 0;
	return true;
}

/* ---- activations that write nothing ---- */

/* All that was written has been told. What was struck writes nothing more: the activation on top, or one that is not there. */
static void
note_unseen(struct replay *r, const struct replay_strike *s)
{
	const struct replay_frame *f = replay_top(r);
	bool same = f && s->proc && f->proc == s->proc && f->module == s->module && f->next != GRAPH_NONE;

	if (r->leaves || (!r->strikes && (!s->proc || s->block >= s->proc->nblock)))
		return;
	if (r->strikes || !same || !trace_reaches(s->proc, f->next, s->block))
		r->unseen++;
	else if (f->at == REPLAY_AT_CALL && trace_reaches(s->proc, PROC_ENTRY(s->proc), s->block))
		r->perhaps++;
}

/* A handler was struck before it could say what it had interrupted: the path, one of its procedure that follows; or where that
 * has called something or left the procedure, also what it led to. */
static void
note_silent(struct replay *r)
{
	const struct replay_frame *f = replay_top(r);
	bool leaves = f && f->path && (f->path->end == REPLAY_RETURNS || f->path->end == REPLAY_TAIL);
	bool calls = f && (f->path ? f->path->end == REPLAY_CALLS : f->at == REPLAY_AT_CALL);

	r->unseen += !leaves;
	r->perhaps += leaves || calls;
}

/* Is the place in a handler, perhaps, that never says that it is there? */
static bool
is_silent(struct replay *r, const struct replay_strike *s, uint64_t own)
{
	struct replay_point at;
	uint64_t mark;

	return s->entry && !r->strikes && !look_ahead(r, s, own, &at, &mark);
}

/* The last path that was written may have been interrupted on its way to its end, or what comes behind it. */
static void
break_off(struct replay *r)
{
	struct replay_frame *f = replay_top(r);

	if (r->stop)
		return;
	note_silent(r);
	if (f && f->path) {
		replay_run_to(r, r->written ? r->written(r, f->path) : (struct replay_point){f->path->n ? f->path->n - 1 : 0, 0});
		f->waits = f->broken = true;
	}
	if (f && !r->stop && r->breaks)
		r->breaks(r);
}

/* depth: handlers that have been seen ahead, of which this is one; else 0. */
static void
take_mark(struct replay *r, uint64_t value, unsigned depth)
{
	const struct replay_path *p = NULL;
	struct replay_strike s = {0};
	struct replay_point at;
	uint64_t mark = 0;
	bool told, unplaced;

	if (!r->locate || !value || depth > DEEPEST || !r->locate(r, CHORD_STRUCK_MODULE(value), CHORD_STRUCK_ADDR(value), &s))
		s = (struct replay_strike){.outside = value == CHORD_STRUCK_OUTSIDE};
	if (!depth && was_announced(r, &s, value))
		return;
	if (is_silent(r, &s, depth ? value | SAID : OWN)) {
		break_off(r);
	} else if (!is_told(r, &s)) {
		if (s.proc)
			p = look_ahead(r, &s, depth ? value | SAID : OWN, &at, &mark);
		unplaced = p == &UNPLACED;
		if (unplaced) {
			s.proc = NULL;
			p = NULL;
		}
		told = p && replay_top(r) && replay_top(r)->ahead == p;
		if (mark && !told)
			take_mark(r, mark & ~SAID, depth + 1);
		else if (!r->strikes)
			replay_finish(r);
		if (p && !r->stop)
			tell_ahead(r, p, at, mark);
		else if (!r->stop && !unplaced)
			note_unseen(r, &s);
	}
	r->struck = s;
	r->strikes++;
}

void
replay_struck(struct replay *r, uint64_t value)
{
	take_mark(r, value, 0);
}
