/* SPDX-License-Identifier: MIT */
/* Recording signals and nothing else. */
#include "replay/signals/signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Is the signal ignored, of no effect, or one that only stops the program for a while? */
static bool
is_idle(const struct live *l, int sig)
{
	static const int idle[] = {SIGCHLD, SIGURG, SIGWINCH, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};

	if (tracee_signal_is(l->t, SIGNALS_IGNORED, sig))
		return true;
	for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
		if (sig == idle[i])
			return sig == SIGSTOP || !tracee_signal_is(l->t, SIGNALS_CAUGHT, sig);
	return false;
}

static void
refuse(struct live *l, const char *what, const char *why)
{
	if (!l->over)
		say_error(what, "%s; %s runs on without being recorded", why, l->file);
	l->over = true;
}

static bool
was_interrupted(const struct tracee *t)
{
	int64_t result = (int64_t)tracee_word(t, t->machine->result);

	return (int64_t)tracee_word(t, t->machine->number) >= 0 && (result == -EINTR || (result <= -512 && result >= -516));
}

/* The state at a call. False: no code with a clock has called there. */
static bool
place_of_call(struct live *l, enum struck how, struct place *p)
{
	*p = (struct place){.how = how, .number = tracee_word(l->t, l->t->machine->number)};
	p->at.pc = clock_return(l->clock, tracee_word(l->t, l->t->machine->sp));
	p->at.sum = live_call_sum(l->t);
	p->result = (int64_t)tracee_word(l->t, l->t->machine->result);
	p->at.count = live_count(l, p->at.pc);
	return p->at.count;
}

static void
put_memory(struct live *l, const struct place *p)
{
	pieces written = {0};
	uint64_t arg[6];
	struct system_call c;

	for (int i = 0; i < 6; i++)
		arg[i] = tracee_arg(l->t, i);
	c = call_of(l->pool, p->number, arg);
	if (!pieces_written(l->t, &c, arg, p->result, &written))
		refuse(l, c.name, "it writes more than can be recorded");
	log_put(l->log, written.n);
	for (size_t i = 0; i < written.n; i++) {
		char *bytes = xmalloc(written.at[i].n);

		log_put(l->log, written.at[i].addr);
		log_put_bytes(l->log, bytes, tracee_read_some(l->t, written.at[i].addr, bytes, written.at[i].n));
		free(bytes);
	}
	free(written.at);
}

static bool
some_wait(const struct live *l)
{
	for (size_t i = 0; i < l->held.n; i++)
		if (!l->held.at[i].sent)
			return true;
	return false;
}

/* While signals wait, the program stops at system calls. */
static enum stop
go_on(struct live *l, int sig)
{
	return tracee_go(l->t, some_wait(l) ? PTRACE_SYSCALL : PTRACE_CONT, sig);
}

/* Delivers the signal here. */
static enum stop
deliver(struct live *l, const siginfo_t *info, const struct place *p)
{
	if (clock_fails(l->clock)) {
		refuse(l, l->file, "it is not known how far it has come");
		return STOP_SIGNAL;
	}
	log_put(l->log, LOG_STRUCK);
	log_put_bytes(l->log, info, sizeof *info);
	log_put(l->log, p->how);
	log_put(l->log, p->at.pc);
	log_put(l->log, p->at.count);
	log_put(l->log, p->at.sum);
	if (p->how == STRUCK_WITHIN) {
		log_put(l->log, (uint64_t)p->result);
		put_memory(l, p);
	}
	ptrace(PTRACE_SETSIGINFO, l->t->pid, 0, info);
	return go_on(l, info->si_signo);
}

/* How long a signal may wait: seconds, and, as the machine may be busy, of the processors' time as well. */
enum { PATIENCE = 2 };

static bool
is_impatient(const struct live *l)
{
	uint64_t cpu = tracee_cpu(l->t->pid);

	return some_wait(l) && (!cpu || cpu - l->held_cpu >= (uint64_t)PATIENCE * 1000000000);
}

/* The signal waits until control comes back to code with a clock, or for the next system call. */
static enum stop
hold(struct live *l, const siginfo_t *info)
{
	uint64_t at = l->back.at ? 0 : clock_return(l->clock, tracee_word(l->t, l->t->machine->sp));
	bool there = false;

	if (!some_wait(l)) {
		l->held_cpu = tracee_cpu(l->t->pid);
		alarm(PATIENCE);
	}
	for (size_t i = 0; info->si_signo < SIGRTMIN && i < l->held.n; i++)
		there |= l->held.at[i].info.si_signo == info->si_signo;
	if (!there)
		VEC_PUSH(l->held, (struct waiting){*info, false});
	if (at)
		breakpoint_put(l->t, &l->back, at);
	return go_on(l, 0);
}

/* Sends those that wait once more, at a state that can be named. */
static enum stop
send_held(struct live *l)
{
	breakpoint_take(l->t, &l->back);
	alarm(0);
	for (size_t i = 0; i < l->held.n; i++)
		if (!l->held.at[i].sent) {
			l->held.at[i].sent = true;
			live_send(l, l->held.at[i].info.si_signo);
		}
	return go_on(l, 0);
}

/* If the signal was sent to deliver one that was held, *info becomes that of the held one. */
static void
was_held(struct live *l, siginfo_t *info)
{
	for (size_t i = 0; i < l->held.n; i++)
		if (l->held.at[i].sent && l->held.at[i].info.si_signo == info->si_signo) {
			*info = l->held.at[i].info;
			l->held.n--;
			memmove(&l->held.at[i], &l->held.at[i + 1], (l->held.n - i) * sizeof *l->held.at);
			return;
		}
}

static enum stop
take_signal(struct live *l)
{
	struct tracee *t = l->t;
	struct place p = {.how = STRUCK_CODE, .at = {.pc = tracee_word(t, t->machine->pc), .bare = true}};
	siginfo_t info;

	if (!live_info(l, &info))
		return go_on(l, tracee_signal(t));
	was_held(l, &info);
	p.at.sum = state_name(t, &l->back);
	if (live_is_own(l, &info) || is_idle(l, info.si_signo))
		return go_on(l, info.si_signo);
	if (l->before_sum && l->before_sum == tracee_sum(t)) {
		/* A handler may have run and counted since, and come back to the same registers. */
		l->before.at.count = live_count(l, l->before.at.pc);
		return deliver(l, &info, &l->before);
	}
	if (was_interrupted(t)) {
		const char *what = pool_printf(l->pool, "signal %d", info.si_signo);

		if (!place_of_call(l, STRUCK_WITHIN, &p))
			refuse(l, what, "it has come in a system call of a program without a clock");
		else if (p.number == SYS_restart_syscall)
			refuse(l, what, "it has come in a system call that another one had interrupted");
		return l->over ? STOP_SIGNAL : deliver(l, &info, &p);
	}
	if (clock_at(l->clock, p.at.pc, &p.at.count))
		return deliver(l, &info, &p);
	return hold(l, &info);
}

/* At the beginning of a call: puts it off if signals wait, and sends them. */
static enum stop
take_call(struct live *l)
{
	if (!some_wait(l))
		return go_on(l, 0);
	if (!place_of_call(l, STRUCK_BEFORE, &l->before)) {
		refuse(l, pool_printf(l->pool, "signal %d", l->held.at[0].info.si_signo),
		       "it has come in a program without a clock");
		return STOP_CALL;
	}
	if (!live_put_off(l))
		return STOP_ENDED;
	l->before_sum = tracee_sum(l->t);
	return send_held(l);
}

static enum stop
take_stop(struct live *l, enum stop stop)
{
	switch (stop) {
	case STOP_CALL:
		return take_call(l);
	case STOP_SIGNAL:
		if (!breakpoint_hit(l->t, &l->back, stop))
			return take_signal(l);
		return send_held(l);
	case STOP_GROUP:
		if (tracee_signal(l->t) != SIGTRAP)
			return tracee_go(l->t, PTRACE_LISTEN, 0);
		if (some_wait(l))
			alarm(1);
		if (is_impatient(l))
			refuse(l, pool_printf(l->pool, "signal %d", l->held.at[0].info.si_signo),
			       "it has come in code that neither counts nor makes system calls");
		return l->over ? stop : go_on(l, 0);
	case STOP_EVENT:
		refuse(l, tracee_event(l->t) == PTRACE_EVENT_EXEC ? "execve" : "clone",
		       "threads, processes and programs that it starts cannot be recorded with signals only");
		return stop;
	default:
		return stop;
	}
}

/* A thread or process that the program has begun stands still, too: it is let go. */
static void
let_child_go(const struct live *l)
{
	unsigned long child;
	int status;

	if (ptrace(PTRACE_GETEVENTMSG, l->t->pid, 0, &child) || waitpid((pid_t)child, &status, __WALL) < 0)
		return;
	ptrace(PTRACE_DETACH, (pid_t)child, 0, 0);
}

static void
let_go(struct live *l, enum stop stop)
{
	pid_t pid = l->t->pid;

	breakpoint_take(l->t, &l->back);
	alarm(0);
	if (stop == STOP_EVENT && tracee_event(l->t) != PTRACE_EVENT_EXEC)
		let_child_go(l);
	for (size_t i = 0; i < l->held.n; i++)
		if (!l->held.at[i].sent)
			live_send(l, l->held.at[i].info.si_signo);
	ptrace(PTRACE_DETACH, pid, 0, stop == STOP_SIGNAL ? tracee_signal(l->t) : 0);
	while (waitpid(pid, &l->t->status, 0) < 0 && errno == EINTR)
		;
	l->t->pid = 0;
}

bool
signals_record(struct log *log, struct tracee *t, const char *file)
{
	struct live l = {.log = log, .t = t, .file = file, .clock = clock_open(t)};
	enum stop stop;

	live_follow_children(&l);
	live_show_time(&l);
	stop = tracee_go(t, PTRACE_CONT, 0);
	while (stop != STOP_ENDED && !l.over) {
		l.pool = pool_new();
		stop = take_stop(&l, stop);
		pool_free(l.pool);
	}
	if (stop != STOP_ENDED)
		let_go(&l, stop);
	clock_close(l.clock);
	free(l.held.at);
	return !l.over;
}
