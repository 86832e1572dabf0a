/* SPDX-License-Identifier: MIT */
/* Recording: signals that have come at states that the log cannot name, or faster than they can be recorded, and wait. */
#include "replay/internal.h"

#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

bool
held_comes(struct recorder *r, int sig)
{
	for (size_t i = 0; i < r->task->held.n; i++)
		if (r->task->held.at[i].sent && r->task->held.at[i].info.si_signo == sig) {
			ptrace(PTRACE_SETSIGINFO, r->t->pid, 0, &r->task->held.at[i].info);
			r->task->held.n--;
			memmove(&r->task->held.at[i], &r->task->held.at[i + 1], (r->task->held.n - i) * sizeof *r->task->held.at);
			return true;
		}
	return false;
}

bool
held_some(const struct recorder *r)
{
	for (size_t i = 0; i < r->task->held.n; i++)
		if (!r->task->held.at[i].sent)
			return true;
	return false;
}

/* ---- signals that the kernel keeps back ---- */

static void
block(struct recorder *r, int sig)
{
	uint64_t mask;

	if (ptrace(PTRACE_GETSIGMASK, r->t->pid, sizeof mask, &mask))
		return;
	if (!r->task->blocks)
		r->task->mask = mask;
	r->task->blocks = true;
	mask |= 1ull << (sig - 1);
	ptrace(PTRACE_SETSIGMASK, r->t->pid, sizeof mask, &mask);
}

/* A thread that stands at a signal and goes on with it, but blocks it by then, has it pending again as it was. */
void
held_block(struct recorder *r, int sig)
{
	if (!r->task->waits)
		schedule_hurry(&r->turns);
	block(r, sig);
	r->task->sig = sig;
}

void
held_unblock(struct recorder *r)
{
	if (!r->task->blocks)
		return;
	r->task->blocks = false;
	r->task->late = true;
	r->task->waits = held_some(r);
	ptrace(PTRACE_SETSIGMASK, r->t->pid, sizeof r->task->mask, &r->task->mask);
}

void
held_born(const struct recorder *r, const struct tracee *child)
{
	if (r->task->blocks)
		ptrace(PTRACE_SETSIGMASK, child->pid, sizeof r->task->mask, &r->task->mask);
}

bool
held_pends(const struct recorder *r, int sig)
{
	static const unsigned queues[] = {0, PTRACE_PEEKSIGINFO_SHARED};
	siginfo_t info;

	for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
		struct __ptrace_peeksiginfo_args which = {.nr = 1, .flags = queues[i]};

		for (; ptrace(PTRACE_PEEKSIGINFO, r->t->pid, &which, &info) > 0; which.off++)
			if (info.si_signo == sig)
				return true;
	}
	return false;
}

/* ---- signals that the recorder holds ---- */

/* As in the kernel, a signal that is not queued is pending once at most. */
void
held_add(struct recorder *r, const siginfo_t *info)
{
	for (size_t i = 0; info->si_signo < SIGRTMIN && i < r->task->held.n; i++)
		if (r->task->held.at[i].info.si_signo == info->si_signo) {
			block(r, info->si_signo);
			return;
		}
	if (!held_some(r))
		schedule_hurry(&r->turns);
	VEC_PUSH(r->task->held, (struct held){*info, false});
}

/* Only the kernel may send what it sends itself, so that has no siginfo of its own before held_comes(). */
static void
send(const struct recorder *r, const siginfo_t *info)
{
	pid_t process = r->task->group->pid, thread = r->task->tid;

	if (info->si_code >= 0 || syscall(SYS_rt_tgsigqueueinfo, process, thread, info->si_signo, info))
		syscall(SYS_tgkill, process, thread, info->si_signo);
}

void
held_send(struct recorder *r)
{
	held_unblock(r);
	r->task->waits = false;
	for (size_t i = 0; i < r->task->held.n; i++) {
		struct held *h = &r->task->held.at[i];

		if (h->sent)
			continue;
		h->sent = true;
		send(r, &h->info);
	}
}
