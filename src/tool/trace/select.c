/* SPDX-License-Identifier: MIT */
/* Which part of a thread is shown: from one place to another, or only what happens inside a function. */
#include "tool/trace/trace.h"

#include <string.h>

static uint64_t
thread_of(const struct trace_out *o)
{
	return o->replay.thread ? o->replay.thread : o->number;
}

void
select_thread(struct trace_out *o)
{
	o->from_seen = o->to_seen = 0;
	o->open = !o->args->from.set;
	o->over = false;
	o->inside = o->until = 0;
}

static bool
is_function(const struct proc *p, const char *pattern)
{
	return image_name_matches(p->name, pattern);
}

/* Is this entry the one that the place names? */
static bool
arrives(struct trace_place *x, uint64_t *seen, const struct proc *p)
{
	bool here = x->set && x->function && is_function(p, x->function) && ++*seen == x->n;

	x->found |= here;
	return here;
}

void
select_entered(struct trace_out *o)
{
	size_t depth = o->replay.stack.n;
	const struct proc *p = o->replay.stack.at[depth - 1].proc;

	if (arrives(&o->args->from, &o->from_seen, p))
		o->open = true;
	if (arrives(&o->args->to, &o->to_seen, p))
		o->until = depth;
	if (!o->inside && o->args->grep && is_function(p, o->args->grep))
		o->inside = depth;
	o->args->grep_found |= o->inside;
	o->args->thread_found |= o->args->thread == thread_of(o);
}

void
select_left(struct trace_out *o)
{
	size_t depth = o->replay.stack.n;

	if (o->until && depth <= o->until)
		o->over = true;
	if (o->inside && depth <= o->inside)
		o->inside = 0;
}

bool
select_path(struct trace_out *o, uint64_t insns)
{
	const struct trace_place *from = &o->args->from, *to = &o->args->to;
	uint64_t end = o->replay.insns + insns;

	if (from->set && !from->function && !o->open && end > from->n)
		o->open = o->args->from.found = true;
	if (to->set && !to->function && o->replay.insns >= to->n)
		o->over = true;
	return select_shown(o);
}

bool
select_shown(const struct trace_out *o)
{
	return o->open && !o->over && (!o->args->grep || o->inside) && (!o->args->thread || o->args->thread == thread_of(o));
}
