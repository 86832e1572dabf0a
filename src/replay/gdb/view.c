/* SPDX-License-Identifier: MIT */
/* What gdb sees of a run: one of its processes, and the threads of that process. The others run along, unseen. */
#include "replay/gdb/gdb.h"

#include <inttypes.h>
#include <string.h>

static bool
is_seen(const struct debugger *d, const struct task *t)
{
	return t->group->number == d->r.view;
}

bool
view_now(const struct debugger *d)
{
	return d->r.task && is_seen(d, d->r.task);
}

struct task *
view_any(const struct debugger *d)
{
	if (view_now(d))
		return d->r.task;
	for (size_t i = 0; i < d->r.all.at.n; i++)
		if (is_seen(d, d->r.all.at.at[i]) && d->r.all.at.at[i]->state != TASK_ENDED)
			return d->r.all.at.at[i];
	return NULL;
}

struct task *
view_thread(const struct debugger *d, uint64_t number)
{
	struct task *t = number ? tasks_numbered(&d->r.all, number) : view_any(d);

	return t && is_seen(d, t) && t->state != TASK_ENDED ? t : NULL;
}

uint64_t
view_pc(const struct debugger *d)
{
	const struct task *t = view_any(d);

	return t ? tracee_word(&t->t, t->t.machine->pc) : 0;
}

uint64_t
view_clock(const struct debugger *d)
{
	const struct task *t = view_any(d);

	return t ? clock_sum(t->group->space->clock) : 0;
}

uint64_t
view_programs(const struct debugger *d)
{
	const struct task *t = view_any(d);

	return t ? t->group->programs : 0;
}

bool
view_begin(struct debugger *d, uint64_t number)
{
	enum replay_way way = REPLAY_WENT;

	d->r.view = number;
	while (way == REPLAY_WENT && !view_now(d))
		way = replayer_next(&d->r);
	if (view_now(d) && !d->r.ended)
		return true;
	if (!d->r.failed)
		say_error(log_name(d->r.log), "there is no process %" PRIu64 ": the run has %" PRIu64, number, d->r.all.groups);
	return false;
}

/* ---- the list of threads ---- */

static void
put_escaped(struct buf *to, const char *s)
{
	for (; *s; s++)
		if (strchr("<>&\"'", *s))
			buf_printf(to, "&#%d;", *s);
		else
			buf_char(to, (unsigned char)*s < ' ' ? '?' : *s);
}

/* Puts the name of the call in which the thread waits, without its command. */
static void
put_waits(struct buf *to, const struct task *t)
{
	struct pool *pool = pool_new();
	const char *name = call_of(pool, t->made.number, t->made.arg).name;

	buf_printf(to, "waits in %.*s", (int)strcspn(name, " "), name);
	pool_free(pool);
}

void
view_list(const struct debugger *d, struct buf *to)
{
	buf_str(to, "<?xml version=\"1.0\"?><threads>");
	for (size_t i = 0; i < d->r.all.at.n; i++) {
		const struct task *t = d->r.all.at.at[i];

		if (!is_seen(d, t) || t->state == TASK_ENDED)
			continue;
		buf_printf(to, "<thread id=\"%" PRIx64 "\"", t->number);
		if (t->name[0]) {
			buf_str(to, " name=\"");
			put_escaped(to, t->name);
			buf_char(to, '"');
		}
		buf_char(to, '>');
		if (t == d->r.task)
			buf_str(to, "runs");
		else if (t->in_call)
			put_waits(to, t);
		buf_str(to, "</thread>");
	}
	buf_str(to, "</threads>");
}
