/* SPDX-License-Identifier: MIT */
/* Recording: signals that stop the program for Chord. They are SIGSEGV, at instructions that have been made to trap, and SIGTRAP,
 * at breakpoints and after steps. The program gets none of them. But if it blocks or ignores such a signal, the kernel unblocks it,
 * and sets its action to the default, before it tells the recorder. So the recorder keeps what the program has set, and sets it
 * again. */
#include "replay/internal.h"

#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* In the kernel's struct sigaction. */
enum { DEFAULT = 0, IGNORED = 1, RESETS = (int)SA_RESETHAND };

static struct kept_action *
action_of(struct group *g, uint64_t sig)
{
	return sig == SIGSEGV ? &g->action[0] : sig == SIGTRAP ? &g->action[1] : NULL;
}

/* ---- what the program has set ---- */

void
forced_note_mask(struct recorder *r)
{
	uint64_t mask;

	if (!ptrace(PTRACE_GETSIGMASK, r->t->pid, sizeof mask, &mask))
		r->task->blocked = mask;
}

void
forced_begun(struct recorder *r)
{
	struct group *g = r->task->group;

	memset(g->action, 0, sizeof g->action);
	for (int i = 0; i < FORCED; i++)
		if (tracee_signal_is(r->t, SIGNALS_IGNORED, i ? SIGTRAP : SIGSEGV))
			g->action[i].handler = IGNORED;
	forced_note_mask(r);
}

void
forced_begin_call(struct recorder *r)
{
	const struct made_call *m = r->made;

	/* At its end the call may have written to the same memory. */
	if (m->number == SYS_rt_sigaction && m->arg[1] && action_of(r->task->group, m->arg[0]))
		tracee_read(r->t, m->arg[1], &r->task->action, sizeof r->task->action);
}

void
forced_end_call(struct recorder *r, int64_t result)
{
	const struct made_call *m = r->made;
	struct kept_action *a = m->number == SYS_rt_sigaction ? action_of(r->task->group, m->arg[0]) : NULL;

	if (a && m->arg[1] && !result)
		*a = r->task->action;
	if (m->number == SYS_rt_sigprocmask || m->number == SYS_rt_sigreturn)
		forced_note_mask(r);
}

void
forced_delivered(struct recorder *r, int sig)
{
	struct kept_action *a = action_of(r->task->group, (uint64_t)sig);

	if (a && (int)a->flags & RESETS)
		a->handler = DEFAULT;
	forced_note_mask(r);
}

/* ---- setting it again ---- */

/* The program makes the call. What it reads is put below the stack for this time. */
static bool
set_action(struct task *task, int sig, const struct kept_action *a)
{
	enum { BELOW = 1024 };
	struct tracee *t = &task->t;
	uint64_t at = (tracee_word(t, t->machine->sp) - BELOW) & ~15ull;
	const uint64_t arg[6] = {(uint64_t)sig, at, 0, sizeof(uint64_t)};
	struct kept_action was;
	bool ok;

	if (!tracee_read(t, at, &was, sizeof was) || !tracee_write(t, at, a, sizeof *a))
		return false;
	ok = !buffer_call_by(task, SYS_rt_sigaction, arg);
	tracee_write(t, at, &was, sizeof was);
	return ok;
}

void
forced_mend(struct recorder *r, int sig, bool all_blocked)
{
	const struct kept_action *a = action_of(r->task->group, (uint64_t)sig);
	bool blocked = r->task->blocked >> (sig - 1) & 1;

	if (!blocked && !all_blocked && a->handler != IGNORED)
		return;
	if (a->handler != DEFAULT && !set_action(r->task, sig, a) && r->t->pid)
		record_refuse(r, strsignal(sig), "what the program does with it cannot be set again");
	if (blocked && r->t->pid)
		ptrace(PTRACE_SETSIGMASK, r->t->pid, sizeof r->task->blocked, &r->task->blocked);
}
