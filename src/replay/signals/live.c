/* SPDX-License-Identifier: MIT */
/* What the recording and the replay of signals only have in common. */
#include "replay/signals/signals.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

bool
live_info(const struct live *l, siginfo_t *info)
{
	return !ptrace(PTRACE_GETSIGINFO, l->t->pid, 0, info);
}

bool
live_is_own(const struct live *l, const siginfo_t *info)
{
	return tracee_caused(info->si_signo, info) ||
	       ((info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE) && info->si_pid == l->t->pid);
}

uint64_t
live_count(const struct live *l, uint64_t pc)
{
	uint64_t count;

	if (!pc)
		return clock_sum(l->clock);
	return clock_at(l->clock, pc, &count) ? count : 0;
}

uint64_t
live_call_sum(const struct tracee *t)
{
	uint64_t name[9] = {tracee_word(t, t->machine->pc), tracee_word(t, t->machine->sp), tracee_word(t, t->machine->number)};

	for (int i = 0; i < 6; i++)
		name[3 + i] = tracee_arg(t, i) == (uint64_t)t->pid ? 0 : tracee_arg(t, i);
	return bytes_sum(name, sizeof name);
}

void
live_send(const struct live *l, int sig)
{
	syscall(SYS_tgkill, l->t->pid, l->t->pid, sig);
}

void
live_follow_children(const struct live *l)
{
	ptrace(PTRACE_SETOPTIONS, l->t->pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC |
	       PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK);
}

void
live_show_time(const struct live *l)
{
	const uint64_t *arg = l->t->machine->show_time_arg;

	tracee_call_here(l->t, l->t->machine->show_time, (uint64_t [6]){arg[0], arg[1]});
}

bool
live_put_off(struct live *l)
{
	struct tracee *t = l->t;
	uint64_t arg[6], number = tracee_word(t, t->machine->number);

	for (int i = 0; i < 6; i++)
		arg[i] = tracee_arg(t, i);
	t->regs.word[t->machine->number] = (uint64_t)-1;
	tracee_set(t, &t->regs);
	if (tracee_go(t, PTRACE_SYSCALL, 0) != STOP_CALL)
		return false;
	t->machine->make(&t->regs, number, arg);
	return tracee_set(t, &t->regs);
}
