/* SPDX-License-Identifier: MIT */
/* Goes through a stream with the help of an index, if there is one: what is not shown is not decoded, as far as a state lies in it
 * that is to be gone on from. What is shown is the same without one. */
#include "tool/trace/trace.h"

#include <stdlib.h>
#include <string.h>

/* How often the thread had entered, before a state, what was asked for by name. */
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

/* Is nothing shown before it that has not been shown? */
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

/* Makes what is selected what it would be there. */
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
	select_at(o, s);
	return true;
}

/* To the last state of the thread that may be gone on from. */
static void
go_ahead(struct trace_out *o)
{
	const struct replay *r = &o->replay;
	const struct trace_state *s = o->index->state.at;

	for (size_t i = o->index->state.n; i--;)
		if (s[i].stream == r->number && s[i].part == r->part && s[i].segment >= r->slots->segment && may_go(o, &s[i])) {
			go(o, &s[i]);
			return;
		}
}

/* An entry may still be printed behind what is shown. */
static const char *
read_stream(struct trace_out *o, size_t stream)
{
	const bool can = o->index && o->index->read && o->args->form < TRACE_LACKEY;

	replay_begin(&o->replay, stream);
	do {
		if (can && (o->begun || (o->over && !o->passed && !o->pending))) {
			o->begun = false;
			o->passed = o->over;
			go_ahead(o);
		}
	} while (replay_step(&o->replay));
	return replay_end(&o->replay);
}

/* ---- the last lines ---- */

/* States of a stream, from *first on. */
static size_t
states_of(const struct trace_out *o, size_t stream, size_t *first)
{
	size_t n = 0;

	for (size_t i = 0; i < o->index->state.n; i++)
		if (o->index->state.at[i].stream == stream && !n++)
			*first = i;
	return n;
}

/* Does a search from the end find what is to be shown? */
static bool
can_search(const struct trace_out *o, size_t stream, size_t *first, size_t *n)
{
	const struct trace_args *a = o->args;

	if (!o->index || !o->index->read || !a->last || a->from.set || a->to.set || o->index->parts[stream])
		return false;
	*n = states_of(o, stream, first);
	return *n && !is_other(o, &o->index->state.at[*first]);
}

/* From a state on the first line may be another one than it would be: what was printed just before is not known. */
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
		for (uint64_t i = 0; i < o->args->last; i++) {
			free(o->last[i]);
			o->last[i] = NULL;
		}
		o->nlast = 0;
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

	o->index = trace_index_open(o->run->pool, t->trace, t->file, t->profile, t->map);
}

void
seek_ends(struct trace_out *o)
{
	if (o->index && !o->index->read)
		trace_index_keep(o->index);
	trace_index_free(o->index);
	o->index = NULL;
}
