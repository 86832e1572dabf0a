/* SPDX-License-Identifier: MIT */
/* What programs share that run another program by single steps. */
#ifndef TESTS_STEPPING_H
#define TESTS_STEPPING_H

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* ---- steps in some code, and up to it ---- */

enum { STEPPED = 1, ENTERED = 2 };

/* The code of a process with one thread, from low to high. Where `how` has STEPPED, each instruction is a step. All other code
 * runs without stops, up to an instruction where `how` has ENTERED. So each place where STEPPED code can be entered needs ENTERED.
 * A return from a signal's handler can go to any place: what follows it is not seen up to the next ENTERED. */
struct steps {
	uint64_t low, high;
	uint8_t *how, *text, *planted; /* text and planted: without breakpoints and with them, read at the first use */
	bool set;                      /* breakpoints are in the process's memory */
};

static inline void
steps_begin(struct steps *s, uint64_t low, uint64_t high)
{
	*s = (struct steps){.low = low, .high = high, .how = calloc(high - low, 1)};
	if (!s->how)
		abort();
}

static inline void
steps_end(struct steps *s)
{
	free(s->how);
	free(s->text);
	free(s->planted);
}

static inline uint8_t
steps_how(const struct steps *s, uint64_t at)
{
	return at >= s->low && at < s->high ? s->how[at - s->low] : 0;
}

static inline void
steps_mark(struct steps *s, uint64_t at, uint8_t how)
{
	if (at >= s->low && at < s->high)
		s->how[at - s->low] |= how;
}

static inline bool
steps_access(const struct steps *s, pid_t pid, uint8_t *text, bool write)
{
	char name[32];
	size_t size = s->high - s->low;
	ssize_t n;
	int fd;

	snprintf(name, sizeof name, "/proc/%d/mem", pid);
	fd = open(name, write ? O_WRONLY | O_CLOEXEC : O_RDONLY | O_CLOEXEC);
	n = write ? pwrite(fd, text, size, (off_t)s->low) : pread(fd, text, size, (off_t)s->low);
	close(fd);
	return n == (ssize_t)size;
}

static inline bool
steps_read(struct steps *s, pid_t pid)
{
	size_t size = s->high - s->low;

	s->text = malloc(size);
	s->planted = malloc(size);
	if (!s->text || !s->planted || !steps_access(s, pid, s->text, false))
		return false;
	memcpy(s->planted, s->text, size);
	for (size_t i = 0; i < size; i++)
		if (s->how[i] & ENTERED)
			s->planted[i] = 0xcc;
	return true;
}

/* Puts the breakpoints there, or takes them away. */
static inline bool
steps_set(struct steps *s, pid_t pid, bool set)
{
	if (s->set == set)
		return true;
	if (!s->text && !steps_read(s, pid))
		return false;
	s->set = set;
	return steps_access(s, pid, set ? s->planted : s->text, true);
}

/* Lets the process, which stands at pc, go on with a signal (or 0) up to its next stop. *status: as of waitpid(2); a breakpoint
 * looks like a step. False: the process cannot be waited for any more. */
static inline bool
steps_go(struct steps *s, pid_t pid, uint64_t pc, int sig, int *status)
{
	bool step = steps_how(s, pc) & STEPPED;
	struct user_regs_struct regs;

	if (!steps_set(s, pid, !step))
		return false;
	if (ptrace(step ? PTRACE_SINGLESTEP : PTRACE_CONT, pid, 0, sig) || waitpid(pid, status, __WALL) != pid)
		return false;
	if (step || !WIFSTOPPED(*status) || *status >> 8 != SIGTRAP || ptrace(PTRACE_GETREGS, pid, 0, &regs))
		return true;
	if (steps_how(s, regs.rip - 1) & ENTERED)
		ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rip), regs.rip - 1);
	return true;
}
#endif
