/* SPDX-License-Identifier: MIT */
/* The threads and processes of a run: their numbers, which of them share memory, how they begin and end. */
#include "replay/internal.h"

#include <errno.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* ---- beginning ---- */

static struct space *
space_new(struct task *task)
{
	struct space *s = xcalloc(1, sizeof *s);

	s->users = 1;
	s->clock = clock_open(&task->t);
	return s;
}

/* For a process that begins with a copy of that memory. */
static struct space *
space_copy(struct task *task, const struct space *of)
{
	struct space *s = space_new(task);

	s->buffer = buffer_copy(of->buffer);
	for (size_t i = 0; i < of->replaced.n; i++)
		VEC_PUSH(s->replaced, of->replaced.at[i]);
	return s;
}

static void
space_leave(struct space *s)
{
	if (--s->users)
		return;
	clock_close(s->clock);
	buffer_free(s->buffer);
	free(s->replaced.at);
	free(s);
}

static struct task *
task_new(struct tasks *all, const struct tracee *t)
{
	struct task *task = xcalloc(1, sizeof *task);

	task->number = ++all->last;
	task->tid = t->pid;
	task->t = *t;
	task->rests = true;
	VEC_PUSH(all->at, task);
	return task;
}

static struct group *
group_new(struct tasks *all, struct task *task, struct space *space)
{
	struct group *g = xcalloc(1, sizeof *g);

	*g = (struct group){.number = ++all->groups, .pid = task->tid, .living = 1, .space = space};
	task->group = g;
	return g;
}

struct task *
tasks_begin(struct tasks *all, const struct tracee *t)
{
	struct task *task = task_new(all, t);

	group_new(all, task, space_new(task));
	return task;
}

static void
leads(struct tasks *all, const struct group *g)
{
	for (size_t i = 0; i < all->at.n; i++)
		if (all->at.at[i]->group == g && all->at.at[i]->tid == g->pid)
			all->at.at[i]->t.leads = true;
}

/* forgets: only signals that are ignored stay so. */
static void
actions_copy(struct group *to, const struct group *from, bool forgets)
{
	for (int i = 0; i < FORCED; i++)
		if (!forgets || from->action[i].handler == (uint64_t)(uintptr_t)SIG_IGN)
			to->action[i] = from->action[i];
}

struct task *
tasks_born(struct tasks *all, struct task *parent, const struct birth *b, const struct tracee *t)
{
	struct task *task = task_new(all, t);
	struct space *space = b->flags & CLONE_VM ? parent->group->space : NULL;

	task->clear = b->flags & CLONE_CHILD_CLEARTID ? b->child_tid : 0;
	task->blocked = parent->blocked;
	if (b->flags & CLONE_THREAD) {
		task->group = parent->group;
		task->group->living++;
		leads(all, task->group);
	} else if (space) {
		space->users++;
		group_new(all, task, space);
	} else {
		group_new(all, task, space_copy(task, parent->group->space));
		clock_begin_as(task->group->space->clock, parent->group->space->clock);
	}
	if (task->group != parent->group)
		actions_copy(task->group, parent->group, b->forgets);
	return task;
}

void
task_renew(struct task *task)
{
	space_leave(task->group->space);
	task->group->space = space_new(task);
	task->clear = task->robust = 0;
	task->free = task->runs_free = task->seen = false;
}

/* ---- finding ---- */

struct task *
tasks_numbered(const struct tasks *all, uint64_t number)
{
	for (size_t i = 0; i < all->at.n; i++)
		if (all->at.at[i]->number == number)
			return all->at.at[i];
	return NULL;
}

struct task *
tasks_of(const struct tasks *all, pid_t tid)
{
	for (size_t i = 0; i < all->at.n; i++)
		if (all->at.at[i]->tid == tid)
			return all->at.at[i];
	return NULL;
}

/* ---- the end ---- */

static void
task_free(struct tasks *all, struct task *task)
{
	size_t i = 0;

	while (all->at.at[i] != task)
		i++;
	all->at.n--;
	memmove(&all->at.at[i], &all->at.at[i + 1], (all->at.n - i) * sizeof *all->at.at);
	task->t.pid = 0;
	tracee_close(&task->t);
	pool_free(task->pool);
	free(task->held.at);
	free(task);
}

void
task_end(struct tasks *all, struct task *task)
{
	struct group *g = task->group;

	task->state = TASK_ENDED;
	g->living--;
	/* The kernel keeps the first thread until the others have ended. */
	if (task->tid != g->pid)
		task_free(all, task);
}

void
group_end(struct tasks *all, struct group *g)
{
	for (size_t i = all->at.n; i-- > 0;)
		if (all->at.at[i]->group == g)
			task_free(all, all->at.at[i]);
	space_leave(g->space);
	free(g);
}

void
group_leave_to(struct tasks *all, struct task *task)
{
	struct group *g = task->group;

	for (size_t i = all->at.n; i-- > 0;)
		if (all->at.at[i]->group == g && all->at.at[i] != task)
			task_free(all, all->at.at[i]);
	g->living = 1;
	task->tid = g->pid = task->t.pid;
}

/* The first thread comes last: until the others are gone, its end is not reported. */
void
group_kill(struct tasks *all, struct group *g)
{
	struct task *first = NULL;

	for (size_t i = 0; i < all->at.n; i++)
		if (all->at.at[i]->group == g && all->at.at[i]->t.pid > 0)
			kill(all->at.at[i]->t.pid, SIGKILL);
	for (size_t i = 0; i < all->at.n; i++) {
		struct task *task = all->at.at[i];

		if (task->group == g && task->tid == g->pid)
			first = task;
		else if (task->group == g)
			tracee_kill(&task->t);
	}
	if (first)
		tracee_kill(&first->t);
}

void
tasks_close(struct tasks *all)
{
	while (all->at.n) {
		struct group *g = all->at.at[0]->group;

		group_kill(all, g);
		group_end(all, g);
	}
	free(all->at.at);
	*all = (struct tasks){0};
}

/* ---- copies ---- */

/* Only the registers have to be copied: the replay makes no call for a thread that leaves anything else in the kernel. */
static struct task *
task_copy(struct tasks *to, const struct task *of, const struct tracee *t, struct group *g)
{
	struct task *task = task_new(to, t);

	task->number = of->number;
	task->group = g;
	task->state = of->state;
	task->in_call = of->in_call;
	task->made = of->made;
	task->again = of->again;
	task->left = of->left;
	memcpy(task->name, of->name, sizeof task->name);
	return task;
}

/* The copy, if there is one yet, of a thread of the process; or (memory) of a process that shares its memory. NULL: there is
 * none. */
static struct task *
copied(const struct tasks *from, const struct tasks *to, const struct group *g, bool memory)
{
	for (size_t i = 0; i < to->at.n; i++) {
		const struct task *old = tasks_numbered(from, to->at.at[i]->number);

		if (memory ? old->group->space == g->space : old->group == g)
			return to->at.at[i];
	}
	return NULL;
}

/* Copies the first thread of a process. */
static bool
copy_group(const struct tasks *from, struct tasks *to, struct task *first)
{
	struct task *other = copied(from, to, first->group, true), *task;
	struct tracee t;

	if (!(other ? tracee_clone(&other->t, &first->t, CLONE_VM | CLONE_PARENT, &t) : tracee_fork(&first->t, &t)))
		return false;
	task = task_copy(to, first, &t, NULL);
	if (other) {
		other->group->space->users++;
		group_new(to, task, other->group->space);
	} else {
		group_new(to, task, space_copy(task, first->group->space));
		clock_copy(task->group->space->clock, first->group->space->clock);
	}
	*task->group = (struct group){
		.number = first->group->number, .pid = task->tid, .living = first->group->living, .space = task->group->space,
		.first = first->group->first, .programs = first->group->programs, .program_at = first->group->program_at,
	};
	return true;
}

static bool
copy_thread(const struct tasks *from, struct tasks *to, const struct task *of)
{
	const uint64_t flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	struct task *first = copied(from, to, of->group, false);
	struct tracee t;

	if (!first || !tracee_clone(&first->t, &of->t, flags, &t))
		return false;
	task_copy(to, of, &t, first->group);
	leads(to, first->group);
	return true;
}

bool
tasks_copy(const struct tasks *from, struct tasks *to)
{
	bool ok = true;

	*to = (struct tasks){0};
	for (size_t i = 0; i < from->at.n && ok; i++)
		if (from->at.at[i]->tid == from->at.at[i]->group->pid)
			ok = copy_group(from, to, from->at.at[i]);
	for (size_t i = 0; i < from->at.n && ok; i++)
		if (from->at.at[i]->tid != from->at.at[i]->group->pid)
			ok = copy_thread(from, to, from->at.at[i]);
	to->last = from->last;
	to->groups = from->groups;
	if (!ok)
		tasks_close(to);
	return ok;
}

/* ---- calls that begin one ---- */

/* Flags that lead to another view of the system, or out of the trace, are not among these. */
enum {
	KNOWN = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_VFORK | CLONE_PARENT | CLONE_THREAD | CLONE_SYSVSEM |
		CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_DETACHED | CLONE_CHILD_SETTID | CLONE_IO |
		CLONE_PIDFD | CSIGNAL,
};

static bool
read_clone3(const struct tracee *t, const uint64_t arg[6], struct birth *b)
{
	struct clone_args a = {0};

	if (!tracee_read(t, arg[0], &a, arg[1] < sizeof a ? arg[1] : sizeof a))
		return false;
	*b = (struct birth){
		.flags = a.flags & ~(uint64_t)CLONE_CLEAR_SIGHAND, .stack = a.stack ? a.stack + a.stack_size : 0, .tls = a.tls,
		.parent_tid = a.parent_tid, .child_tid = a.child_tid, .pidfd = a.pidfd,
		.forgets = a.flags & CLONE_CLEAR_SIGHAND,
	};
	return true;
}

const char *
birth_read(const struct tracee *t, uint64_t number, const uint64_t arg[6], struct birth *b)
{
	*b = (struct birth){0};
	switch (number) {
	case SYS_fork:
		break;
	case SYS_vfork:
		b->flags = CLONE_VM | CLONE_VFORK;
		break;
	case SYS_clone:
		*b = (struct birth){.flags = arg[0], .stack = arg[1], .tls = arg[4], .parent_tid = arg[2], .child_tid = arg[3],
		                    .pidfd = arg[2]};
		break;
	default:
		/* The call fails. */
		if (!read_clone3(t, arg, b))
			return NULL;
	}
	return b->flags & ~(uint64_t)KNOWN ? "it begins a process with another view of the system" : NULL;
}
