/* SPDX-License-Identifier: MIT */
/* Where signals strike. A handler's mark says at which instruction it interrupted the thread (format/trace.h). The interrupted path
 * is one of two: the last one that was written, if its slot was taken before the block's end; or the next one that the activation
 * writes, after everything that handlers write. The reader looks ahead for that one, and reports it up to the place.
 *
 * A handler's own first path may be interrupted even before it writes the handler's mark, because the kernel may deliver several
 * signals at once. If that path never continues, nothing says what the handler had interrupted. Then only that part of the last
 * path is reported that had run when the path was written. */
#include "trace/internal.h"

#include "graph/graph.h"

#include <stdlib.h>

/* SAID is added to a mark's value so that it is not 0; OWN stands for the mark under consideration. */
static const uint64_t SAID = 1ull << 63, OWN = UINT64_MAX;
/* Stands for an interrupted path that may be any of several written together. */
static const struct replay_path UNPLACED;
/* The number of handlers that may interrupt one another before any of them writes its mark. */
enum { DEEPEST = 64 };

/* A scout reads ahead. It has a stack of its own, for the activations of handlers. */
struct scout {
	struct replay *r, q;
	struct slots *slots;
	size_t i;
	VEC(uint64_t) waiting;   /* marks of handlers that have not been entered, and have no activation below them here */
	size_t after;            /* so many of the last ones are of handlers that struck when the activations here had all jumped to
	                          * code that has written nothing: that code may have returned */
	uint64_t lowest;         /* the mark of the handler whose activation is the lowest here */
	bool entered;            /* the handler with the mark under consideration has been entered */
	bool spread;             /* the next path was written together with others: the place may be in any of them */
	const struct replay_strike *strike;
	const struct replay_path *found;
	struct replay_point at;  /* the place in it */
	uint64_t own;            /* the mark under consideration, if it has been seen ahead already */
	uint64_t mark;           /* if the found path is a handler's, the handler's mark; else 0 */
};

static bool
is_of(const struct replay_path *p, const struct replay_strike *s)
{
	return p->proc == s->proc && p->module == s->module;
}

/* Is the place in the path's last block, whose other instructions come after the write of the path? */
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

/* Does the path contain the place? Code on an edge that ends the path comes after all its blocks. */
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

/* Is that the path that is looked for? mark: if the path is a handler's, the handler's mark; else 0. */
static bool
is_found(struct scout *c, const struct replay_path *p, uint64_t mark)
{
	if (!c->entered || mark == c->own)
		return false;
	if (c->spread && is_of(p, c->strike)) {
		c->found = &UNPLACED;
	} else if (contains(p, c->strike, &c->at)) {
		c->found = p;
		c->mark = mark;
	}
	return c->found;
}

static uint64_t
last_mark(const struct scout *c)
{
	return c->waiting.n ? c->waiting.at[c->waiting.n - 1] : 0;
}

static void
enter_handler(struct scout *c, const struct replay_path *p)
{
	c->lowest = c->q.stack.n ? c->lowest : last_mark(c);
	c->entered |= last_mark(c) == OWN;
	c->waiting.n--;
	c->q.strikes = 1;
	replay_take(&c->q, p);
}

/* Takes a path with no handler's activation below it: it belongs to the interrupted activation, or to another handler. False: the
 * search is over. */
static bool
take_lowest(struct scout *c, const struct replay_path *p)
{
	uint64_t mark = last_mark(c);

	if (is_found(c, p, mark) || !mark || p->begin != REPLAY_ENTERS)
		return false;
	enter_handler(c, p);
	return true;
}

/* Have all activations jumped to code that has written nothing? It may have returned. */
static bool
may_have_ended(const struct scout *c)
{
	size_t n = c->q.stack.n;

	while (n && c->q.stack.at[n - 1].at == REPLAY_LEFT_BY_TAIL_CALL)
		n--;
	return !n;
}

/* Is that the path of another handler, which was interrupted at its entry by the handler of the lowest activation? */
static bool
is_interrupted(const struct scout *c, const struct replay_path *p)
{
	struct replay *r = c->r;
	struct replay_strike s = {0};
	struct replay_point at;
	uint64_t value = c->lowest & ~SAID;

	return c->waiting.n && c->lowest != OWN && r->locate &&
	       r->locate(r, CHORD_STRUCK_MODULE(value), CHORD_STRUCK_ADDR(value), &s) && contains(p, &s, &at);
}

/* Takes the entry of a procedure where all activations may have ended. It may be what is looked for, and else what they jumped to.
 * False: the search is over. */
static bool
take_after(struct scout *c, const struct replay_path *p)
{
	if (is_found(c, p, last_mark(c)))
		return false;
	if (!c->after && is_interrupted(c, p)) {
		replay_leave_tails(&c->q);
		return take_lowest(c, p);
	}
	if (c->after)
		enter_handler(c, p);
	else
		replay_take(&c->q, p);
	c->after -= c->after > 0;
	return true;
}

static bool
take_path(struct scout *c, const struct replay_path *p)
{
	bool begins = c->q.strikes && p->begin == REPLAY_ENTERS;

	if (!begins)
		replay_finish(&c->q);
	if (!begins && c->q.stack.n && p->begin == REPLAY_ENTERS && may_have_ended(c))
		return take_after(c, p);
	if (!begins) {
		c->waiting.n -= c->after;
		c->after = 0;
	}
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
	if (c->q.strikes || !may_have_ended(c)) {
		c->q.strikes++;
		return;
	}
	VEC_PUSH(c->waiting, value | SAID);
	c->after += c->q.stack.n != 0;
}

static bool
take_jump(struct scout *c, uint32_t ended)
{
	replay_finish(&c->q);
	replay_leave_tails(&c->q);
	c->q.jumped = true;
	c->q.leaves = ended != CHORD_MARK_MOST;
	c->q.ended = ended;
	return !c->q.leaves || ended < c->q.stack.n;
}

/* Finds the path of a witness. It follows what the scout has seen. If the scout has seen nothing, it follows what the reader knows,
 * unless a handler whose mark has been seen writes first. */
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

/* Finds the interrupted path if it is written later. NULL: there is none, because nothing continues there. UNPLACED: it may be any
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

/* May the place be in the path's last block as well as in the next path, or in any of several paths? */
static bool
is_unclear(const struct replay_path *p, const struct replay_strike *s)
{
	return is_of(p, s) && p->end == REPLAY_CUT &&
	       (p->softly || (s->unclear && p->n && p->block[p->n - 1] == s->block));
}

/* The activation's last path was reported to its end, because another signal had struck in it and it was not known where. May this
 * place be in that path, too? */
static bool
is_late(const struct replay_frame *f, const struct replay_strike *s)
{
	return s->proc && !f->ahead && f->last && is_unclear(f->last, s);
}

/* The activations above the first n have returned, or what they jumped to has. */
static void
finish_above(struct replay *r, size_t n)
{
	while (r->stack.n > n && !r->stop)
		if (replay_top(r)->path)
			replay_finish_one(r);
		else
			replay_leave_tails(r);
}

/* Is the place in the last path that was written? Then the path is reported up to the place. Otherwise nothing is reported yet: the
 * place may be in a handler whose later mark says that it interrupted that path. */
static bool
is_told(struct replay *r, struct replay_strike *s)
{
	size_t n = r->strikes ? 0 : r->stack.n;
	struct replay_point at;

	for (; n && (r->stack.at[n - 1].path || r->stack.at[n - 1].at == REPLAY_LEFT_BY_TAIL_CALL); n--) {
		const struct replay_frame *f = &r->stack.at[n - 1];

		if (!f->path)
			continue;
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
		/* Another signal has struck on the way back to the interrupted place. */
		if (!s->proc && f->waits && !s->outside) {
			finish_above(r, n);
			return true;
		}
		/* Only if this handler has ended can the place be further down. */
		if (!replay_may_have_ended(f))
			return false;
	}
	if (n && is_late(&r->stack.at[n - 1], s))
		s->proc = NULL;
	return r->stop;
}

/* Reports an interrupted path that is written later, up to the place. */
static void
tell_ahead(struct replay *r, const struct replay_path *p, struct replay_point at, uint64_t announced)
{
	/* The place is in this path, not in one that the same activation wrote before. */
	if (p->begin != REPLAY_ENTERS)
		replay_finish(r);
	replay_come_back(r, p);
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

/* The innermost handler that was seen ahead of its mark, as its index in the stack plus 1. All activations above it have to be
 * handlers that are returning, and the place must not be in their last instructions. If there is none: the size of the stack. */
static size_t
find_announced(const struct replay *r, const struct replay_strike *s)
{
	struct replay_point at;

	for (size_t n = r->stack.n; n > 1; n--) {
		const struct replay_frame *f = &r->stack.at[n - 1];

		if (!replay_may_have_ended(f) || (s->proc && f->path && is_in_tail(f->path, s, &at)))
			break;
		if (f[-1].announced)
			return n - 1;
	}
	return r->stack.n;
}

/* Has the handler been seen already, because another one interrupted it before it could write its mark? Several may have done
 * so. */
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

/* Everything written so far has been reported. The interrupted activation writes nothing more: it is the one on top, or one that is
 * not on the stack. */
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

/* A handler was interrupted before it could say what it had interrupted. That may be the last path, or a later one of the same
 * procedure. If the last path called something or left the procedure, it may also be in code that ran because of that. */
static void
note_silent(struct replay *r)
{
	const struct replay_frame *f = replay_top(r);
	bool leaves = f && f->path && (f->path->end == REPLAY_RETURNS || f->path->end == REPLAY_TAIL);
	bool calls = f && (f->path ? f->path->end == REPLAY_CALLS : f->at == REPLAY_AT_CALL);

	r->unseen += !leaves;
	r->perhaps += leaves || calls;
}

/* Is the place perhaps in a handler that never writes its mark? */
static bool
is_silent(struct replay *r, const struct replay_strike *s, uint64_t own)
{
	struct replay_point at;
	uint64_t mark;

	return s->entry && !r->strikes && !look_ahead(r, s, own, &at, &mark);
}

/* The last written path may have been interrupted before its end. Or the interruption was in what followed it. */
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

/* depth: the number of handlers seen ahead, including this one; 0: this one was not seen ahead. */
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
