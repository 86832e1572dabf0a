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

bool
held_soon(const struct recorder *r)
{
	for (size_t i = 0; i < r->task->held.n; i++)
		if (r->task->held.at[i].soon)
			return true;
	return false;
}

/* The kernel keeps further ones back. */
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

static void
add(struct recorder *r, const siginfo_t *info, bool soon)
{
	if (!held_some(r))
		schedule_hurry(&r->turns);
	VEC_PUSH(r->task->held, (struct held){.info = *info, .soon = soon});
}

/* As in the kernel, a signal that is not queued is pending once at most. */
void
held_add(struct recorder *r, const siginfo_t *info)
{
	for (size_t i = 0; info->si_signo < SIGRTMIN && i < r->task->held.n; i++)
		if (r->task->held.at[i].info.si_signo == info->si_signo) {
			block(r, info->si_signo);
			return;
		}
	add(r, info, false);
}

void
held_block(struct recorder *r, const siginfo_t *info)
{
	block(r, info->si_signo);
	add(r, info, true);
}

/* Is the next one pending that the kernel would not have made while this one was? Those of POSIX's timers are queued, and each has
 * its overruns. */
static bool
is_again(const struct tracee *t, const siginfo_t *held)
{
	struct __ptrace_peeksiginfo_args which = {.nr = 1, .flags = PTRACE_PEEKSIGINFO_SHARED};
	siginfo_t info;

	if (held->si_code != SI_KERNEL || held->si_signo >= SIGRTMIN)
		return false;
	for (; ptrace(PTRACE_PEEKSIGINFO, t->pid, &which, &info) > 0; which.off++)
		if (info.si_signo == held->si_signo)
			return true;
	return false;
}

bool
held_unblock(struct recorder *r)
{
	bool some = false;
	size_t n = 0;

	if (!r->task->blocks)
		return false;
	for (size_t i = 0; i < r->task->held.n; i++) {
		struct held h = r->task->held.at[i];

		some |= h.soon;
		if (!h.soon || !is_again(r->t, &h.info))
			r->task->held.at[n++] = (struct held){h.info, h.sent, false};
	}
	r->task->held.n = n;
	r->task->blocks = false;
	r->task->waits = held_some(r);
	if (r->t->pid)
		ptrace(PTRACE_SETSIGMASK, r->t->pid, sizeof r->task->mask, &r->task->mask);
	return some;
}

void
held_send(struct recorder *r)
{
	held_unblock(r);
	r->task->waits = false;
	for (size_t i = 0; i < r->task->held.n; i++)
		if (!r->task->held.at[i].sent) {
			r->task->held.at[i].sent = true;
			syscall(SYS_tgkill, r->task->group->pid, r->task->tid, r->task->held.at[i].info.si_signo);
		}
}
