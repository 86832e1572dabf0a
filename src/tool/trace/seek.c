/* SPDX-License-Identifier: MIT */
/* Reads a stream with the help of an index, if there is one: what is not shown is not decoded if the index has a state after it.
 * The output is the same without an index. If streams are read in turns, the events that order them are still reported, as the
 * index has them. */
#include "tool/trace/trace.h"

#include <stdlib.h>
#include <string.h>

/* How often the thread had entered the functions that were asked for by name, before a state. */
struct before {
	const struct trace_args *args;
	uint64_t from, to, grep, all;
};

static void
count(void *ctx, const struct proc *p, uint64_t n)
{
	struct before *b = ctx;
	const struct trace_args *a = b->args;

	b->all += n;
	if (a->from.function && image_name_matches(p->name, a->from.function))
		b->from += n;
	if (a->to.function && image_name_matches(p->name, a->to.function))
		b->to += n;
	if (a->grep && image_name_matches(p->name, a->grep))
		b->grep += n;
}

static struct before
before(const struct trace_out *o, const struct trace_state *s)
{
	struct before b = {.args = o->args};

	trace_index_entered(o->index, s, count, &b);
	return b;
}

static bool
is_other(const struct trace_out *o, const struct trace_state *s)
{
	return o->args->thread && o->args->thread != (s->thread ? s->thread : o->number);
}

/* Is the place before the state? */
static bool
is_passed(const struct trace_place *x, const struct trace_state *s, uint64_t entered)
{
	return x->set && (x->function ? entered >= x->n : s->insns > x->n);
}

/* May reading go on from the state? It may if nothing is shown between here and there. */
static bool
may_go(const struct trace_out *o, const struct trace_state *s)
{
	const struct trace_args *a = o->args;
	struct before b;

	if (o->over || is_other(o, s))
		return true;
	if (!a->from.set || o->open)
		return false;
	if (!a->from.function && s->insns > a->from.n)
		return false;
	b = before(o, s);
	if (is_passed(&a->from, s, b.from) || is_passed(&a->to, s, b.to))
		return false;
	return !a->to.set || a->to.function || s->insns < a->to.n;
}

/* Sets the selection to what it would be at the state. */
static void
select_at(struct trace_out *o, const struct trace_state *s)
{
	struct trace_args *a = o->args;
	struct before b = before(o, s);
	struct replay *r = &o->replay;

	o->from_seen = b.from;
	o->to_seen = b.to;
	a->from.found |= is_passed(&a->from, s, b.from);
	a->to.found |= a->to.function && is_passed(&a->to, s, b.to);
	a->grep_found |= b.grep != 0;
	a->thread_found |= b.all && a->thread && !is_other(o, s);
	o->open |= is_passed(&a->from, s, b.from);
	o->inside = o->until = o->pending = 0;
	for (size_t i = 0; i < r->stack.n; i++) {
		if (!o->inside && a->grep && image_name_matches(r->stack.at[i].proc->name, a->grep))
			o->inside = i + 1;
		r->stack.at[i].note = select_shown(o) ? o : NULL;
	}
}

static bool
go(struct trace_out *o, const struct trace_state *s)
{
	if (!trace_index_go(o->index, s, &o->replay))
		return false;
	if (o->args->form == TRACE_LACKEY)
		trace_index_data(o->index, s, &o->replay, &o->data);
	select_at(o, s);
	return true;
}

/* ---- events that are passed ---- */

static void
set_order(struct replay *to, const struct replay *from)
{
	to->insns = from->insns;
	to->made = from->made;
	to->stream = from->stream;
	to->joined = from->joined;
	to->joined_in = from->joined_in;
	to->forks = from->forks;
	to->parent = from->parent;
	to->stamp = from->stamp;
	to->ends = from->ends;
	to->by = from->by;
}

/* How many events may have been reported when the stream goes on. */
static uint64_t
may_tell(struct trace_out *o)
{
	uint32_t which;

	if (!o->meets)
		return UINT64_MAX;
	if (!o->index->ordered)
		return 0;
	while (o->events.n < o->met && trace_index_next(o->index, &o->events, NULL, &which))
		;
	return o->events.n == o->met ? trace_index_before_thread(o->index, o->events) : 0;
}

/* The stream is at a state after some events, and reports them before it goes on. */
static void
pass_events(struct trace_out *o, uint64_t to)
{
	set_order(&o->there, &o->replay);
	o->told = to;
	o->telling = true;
}

/* Reports the next event. False: all have been reported. */
static bool
tell_event(struct trace_out *o)
{
	uint32_t which;

	if (o->met < o->told && trace_index_next(o->index, &o->events, &o->replay, &which)) {
		stream_meets(o, which);
		return true;
	}
	set_order(&o->replay, &o->there);
	o->telling = false;
	return false;
}

/* ---- to places ---- */

/* Is the state further on in the same thread? */
static bool
is_ahead(const struct replay *r, const struct trace_state *s)
{
	return s->stream == r->number && s->part == r->part && s->segment >= r->slots->segment;
}

/* Goes to the last state of the thread from which reading may go on. */
static void
go_ahead(struct trace_out *o)
{
	const struct trace_state *s = o->index->state.at;
	const uint64_t most = may_tell(o);

	for (size_t i = o->index->state.n; i--;)
		if (is_ahead(&o->replay, &s[i]) && s[i].events <= most && may_go(o, &s[i])) {
			if (go(o, &s[i]) && o->meets)
				pass_events(o, s[i].events);
			return;
		}
}

/* May there be something that need not be read? After the part that is shown, an entry may still have to be printed, and slices
 * that were drawn have to end. If the thread was asked for alone, nothing more of it is read there anyway. */
static bool
may_pass(const struct trace_out *o)
{
	const struct trace_args *a = o->args;

	if (!o->index || !o->index->read)
		return false;
	return o->begun || (o->over && !o->passed && !o->pending && !o->drawn &&
	                    (a->form >= TRACE_LACKEY || a->thread != trace_thread(o)));
}

/* If nothing can be written any more, the rest is not read. */
bool
seek_step(struct trace_out *o)
{
	o->replay.stop |= ferror_unlocked(o->to) != 0;
	if (o->telling && tell_event(o))
		return true;
	if (may_pass(o)) {
		o->begun = false;
		o->passed = o->over;
		go_ahead(o);
		if (o->telling)
			return true;
	}
	return replay_step(&o->replay);
}

static const char *
read_stream(struct trace_out *o, size_t stream)
{
	replay_begin(&o->replay, stream);
	while (seek_step(o))
		;
	return replay_end(&o->replay);
}

/* ---- the last lines ---- */

/* Counts the states of a stream; *first: the number of its first one. */
static size_t
states_of(const struct trace_out *o, size_t stream, size_t *first)
{
	size_t n = 0;

	for (size_t i = 0; i < o->index->state.n; i++)
		if (o->index->state.at[i].stream == stream && !n++)
			*first = i;
	return n;
}

/* Can the lines to be shown be found by a search from the end? */
static bool
can_search(const struct trace_out *o, size_t stream, size_t *first, size_t *n)
{
	const struct trace_args *a = o->args;

	if (!o->index || !o->index->read || !a->last || a->from.set || a->to.set || o->index->stream[stream].parts)
		return false;
	*n = states_of(o, stream, first);
	return *n && !is_other(o, &o->index->state.at[*first]);
}

/* Reads the last lines. The first line after a state may be different from what it would be, because the line before it is not
 * known; so one line more is read. */
static const char *
read_last(struct trace_out *o, size_t stream, size_t first, size_t n)
{
	const char *why;

	for (size_t back = 1;; back *= 4) {
		stream_begins(o, stream);
		replay_begin(&o->replay, stream);
		if (back <= n && !go(o, &o->index->state.at[first + n - back]))
			back = n + 1;
		while (replay_step(&o->replay))
			;
		why = replay_end(&o->replay);
		if (back > n || o->nlast > o->args->last) {
			o->again = false;
			return why;
		}
		o->again |= o->any;
		stream_forgets(o);
	}
}

const char *
seek_stream(struct trace_out *o, size_t stream)
{
	size_t first = 0, n = 0;

	stream_begins(o, stream);
	return can_search(o, stream, &first, &n) ? read_last(o, stream, first, n) : read_stream(o, stream);
}

void
seek_begins(struct trace_out *o)
{
	const struct traced *t = o->process;

	o->index = trace_index_open(o->run->pool, t->trace, t->file, t->profile, t->map,
	                            o->args->form == TRACE_LACKEY ? &o->data : NULL);
}

void
seek_ends(struct trace_out *o)
{
	if (o->index && !o->index->read)
		trace_index_keep(o->index);
	trace_index_free(o->index);
	o->index = NULL;
}
