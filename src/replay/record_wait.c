/* SPDX-License-Identifier: MIT */
/* Recording: calls that fail with EINTR because of a signal that the program ignores. The kernel discards such a signal at once,
 * and no call ends by it, unless the process is traced. So the call is made again, for the rest of its time. Calls whose time is
 * in memory are left as they are. */
#include "replay/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* The argument of these that says how many ms they wait, if it is not negative. */
enum { TIMEOUT = 3 };

static bool
has_timeout(uint64_t number)
{
	return number == SYS_epoll_wait || number == SYS_epoll_pwait;
}

static bool
can_be_again(const struct made_call *m)
{
	return has_timeout(m->number) || m->number == SYS_semop || (m->number == SYS_semtimedop && !m->arg[3]) ||
	       (m->number == SYS_rt_sigtimedwait && !m->arg[2]);
}

static uint64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void
record_note_wait(struct recorder *r)
{
	r->made->began = can_be_again(r->made) ? now() : 0;
}

/* ---- what has ended it ---- */

/* A set of signals of /proc/PID/status, by number - 1. */
static uint64_t
set_of(const char *status, const char *name)
{
	const char *line = strstr(status, name);

	return line ? strtoull(line + strlen(name), NULL, 16) : 0;
}

/* The signals that have no effect on the program. */
static uint64_t
idle(const char *status)
{
	static const int by_default[] = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH};
	uint64_t set = 0;

	for (size_t i = 0; i < sizeof by_default / sizeof *by_default; i++)
		set |= 1ull << (by_default[i] - 1);
	return (set & ~set_of(status, SIGNALS_CAUGHT)) | set_of(status, SIGNALS_IGNORED);
}

/* Has the call been ended by signals that have no effect, and by no other ones? */
static bool
is_cut_short(struct recorder *r)
{
	const char *status = tracee_proc(r->t, r->task->pool, "status");
	uint64_t pending = status ? set_of(status, "SigPnd:") | set_of(status, "ShdPnd:") : 0;

	pending &= status ? ~set_of(status, SIGNALS_BLOCKED) : 0;
	return pending && !(pending & ~idle(status));
}

static bool
is_idle(struct recorder *r, int sig)
{
	const char *status = tracee_proc(r->t, r->task->pool, "status");

	return status && idle(status) >> (sig - 1) & 1;
}

/* ---- again ---- */

/* Goes to the beginning of the call, which then has this argument for its time. Signals of no effect come before. False: something
 * else has come. */
static bool
begin_again(struct recorder *r, uint64_t timeout)
{
	const struct made_call *m = r->made;
	struct traced_regs ended = r->t->regs;
	uint64_t arg[6];
	enum stop stop;

	memcpy(arg, m->arg, sizeof arg);
	arg[TIMEOUT] = timeout;
	r->t->machine->make(&r->t->regs, m->number, arg);
	tracee_set(r->t, &r->t->regs);
	do
		stop = tracee_go(r->t, PTRACE_SYSCALL, 0);
	while (stop == STOP_SIGNAL && is_idle(r, tracee_signal(r->t)));
	if (stop == STOP_CALL)
		return true;
	r->task->state = TASK_STOPPED;
	if (stop != STOP_ENDED)
		tracee_set(r->t, &ended);
	return false;
}

/* What is left of its time. */
static uint64_t
time_left(const struct made_call *m)
{
	uint64_t passed = now() - m->began, all = (uint32_t)m->arg[TIMEOUT];

	if (!has_timeout(m->number) || (int32_t)m->arg[TIMEOUT] < 0)
		return m->arg[TIMEOUT];
	return passed < all ? all - passed : 0;
}

bool
record_wait_again(struct recorder *r, int64_t result)
{
	const struct made_call *m = r->made;

	if (!m->began)
		return false;
	if (result == -EINTR && is_cut_short(r) && begin_again(r, time_left(m)))
		return true;
	if (!r->t->pid)
		return true;
	r->t->regs.word[r->t->machine->arg[TIMEOUT]] = m->arg[TIMEOUT];
	tracee_set(r->t, &r->t->regs);
	return false;
}
