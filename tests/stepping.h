/* SPDX-License-Identifier: MIT */
/* What programs share that run another program by single steps. */
#ifndef TESTS_STEPPING_H
#define TESTS_STEPPING_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>

/* Stops are handed over faster where both run on one processor. For the caller and those that it will start. */
static inline void
stay_here(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	if (cpu < 0)
		return;
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

/* Lets the only thread of a process run up to an instruction. False: it does not come there. */
static inline bool
run_up_to(pid_t pid, uint64_t at)
{
	struct user_regs_struct regs;
	long word = ptrace(PTRACE_PEEKTEXT, pid, at, 0);

	ptrace(PTRACE_POKETEXT, pid, at, (word & ~0xffl) | 0xcc);
	ptrace(PTRACE_CONT, pid, 0, 0);
	waitpid(pid, NULL, 0);
	ptrace(PTRACE_POKETEXT, pid, at, word);
	if (ptrace(PTRACE_GETREGS, pid, 0, &regs) || regs.rip != at + 1)
		return false;
	regs.rip = at;
	return ptrace(PTRACE_SETREGS, pid, 0, &regs) == 0;
}
#endif
