/* SPDX-License-Identifier: MIT */
/* Replaying signals and nothing else. */
#include "replay/signals/signals.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Calls that block a set of signals while they wait have to be made, because the kernel keeps the set that they restore. */
static bool
sets_mask(uint64_t number)
{
	return number == SYS_rt_sigsuspend || number == SYS_ppoll || number == SYS_pselect6 || number == SYS_epoll_pwait ||
	       number == SYS_epoll_pwait2;
}

static void
diverged(struct live *l, const char *was, enum stop stop)
{
	struct tracee *t = l->t;

	if (l->over || log_failed(l->log))
		return;
	l->over = true;
	if (stop == STOP_ENDED)
		say_error(log_name(l->log), "the replay goes another way at event %" PRIu64 ": recorded was %s; now it has ended",
		          l->event, was);
	else
		say_error(log_name(l->log), "the replay goes another way at event %" PRIu64 ": recorded was %s; now it is at pc 0x%"
		          PRIx64 ", sp 0x%" PRIx64 ", clock %" PRIu64, l->event, was, tracee_word(t, t->machine->pc),
		          tracee_word(t, t->machine->sp), clock_sum(l->clock));
}

/* If a signal that is not one of the recording's has interrupted a call that the kernel does not make again, it is made again
 * here. */
static void
make_again(struct tracee *t)
{
	uint64_t arg[6];

	if ((int64_t)tracee_word(t, t->machine->number) < 0 || (int64_t)tracee_word(t, t->machine->result) != -EINTR)
		return;
	for (int i = 0; i < 6; i++)
		arg[i] = tracee_arg(t, i);
	t->machine->make(&t->regs, tracee_word(t, t->machine->number), arg);
	tracee_set(t, &t->regs);
}

/* At a call that is a handler's return: makes it, and notes that the handlers above it are over. False: another call. */
static bool
has_returned(struct live *l, enum stop *stop)
{
	struct tracee *t = l->t;

	if (tracee_word(t, t->machine->number) != SYS_rt_sigreturn)
		return false;
	*stop = tracee_go(t, PTRACE_SYSCALL, 0);
	if (*stop != STOP_CALL)
		return true;
	for (size_t i = l->inside.n; i--;)
		if (l->inside.at[i] == tracee_word(t, t->machine->sp))
			l->inside.n = i;
	*stop = STOP_RETURN;
	return true;
}

/* May a signal that the program has caused be delivered here? */
static bool
is_deliverable(struct live *l, const siginfo_t *info)
{
	const struct tracee *t = l->t;

	if (!tracee_caused(info->si_signo, info))
		return true;
	if (tracee_word(t, t->machine->pc) - t->aside < t->aside_size)
		return false;
	VEC_PUSH(l->inside, tracee_word(t, t->machine->sp));
	return true;
}

/* Runs to the next stop. Signals that come from outside are dropped, because the log has those that are to come. */
static enum stop
go_alone(struct tracee *t, int request)
{
	struct live *l = t->of;
	bool returns = request == PTRACE_SYSEMU && t->aside_size;
	int sig = 0;

	request = request == PTRACE_SYSEMU ? PTRACE_CONT : request == PTRACE_SYSEMU_SINGLESTEP ? PTRACE_SINGLESTEP : request;
	for (;;) {
		enum stop stop = tracee_go(t, returns && l->inside.n ? PTRACE_SYSCALL : request, sig);
		siginfo_t info;

		sig = 0;
		if (stop == STOP_GROUP || (returns && stop == STOP_CALL && !has_returned(l, &stop)))
			continue;
		if (stop != STOP_SIGNAL || !live_info(l, &info) || (info.si_signo == SIGTRAP && tracee_caused(SIGTRAP, &info)))
			return stop;
		if (!live_is_own(l, &info))
			make_again(t);
		else if (is_deliverable(l, &info))
			sig = info.si_signo;
		else
			return stop;
	}
}

/* Sends the signal, and runs to the place where it is about to be delivered. */
static bool
call_up(struct live *l, const siginfo_t *info)
{
	enum stop stop;

	if (tracee_signal_is(l->t, SIGNALS_BLOCKED, info->si_signo) && !sets_mask(tracee_word(l->t, l->t->machine->number)))
		return false;
	live_send(l, info->si_signo);
	do
		stop = tracee_go(l->t, PTRACE_SYSCALL, 0);
	while (stop == STOP_GROUP || (stop == STOP_SIGNAL && tracee_signal(l->t) != info->si_signo) ||
	       (stop == STOP_CALL && sets_mask(tracee_word(l->t, l->t->machine->number))));
	return stop == STOP_SIGNAL;
}

/* Runs to the first instruction of the signal's handler, or to the program's end by the signal. */
static void
strike(struct live *l, const siginfo_t *info)
{
	VEC_PUSH(l->inside, tracee_word(l->t, l->t->machine->sp));
	ptrace(PTRACE_SETSIGINFO, l->t->pid, 0, info);
	tracee_go(l->t, PTRACE_SINGLESTEP, info->si_signo);
}

/* Runs until the module at the PC has a clock: the program has just begun, or has not loaded it yet. */
static bool
await_clock(struct live *l, uint64_t pc)
{
	uint64_t count;

	while (pc && !clock_at(l->clock, pc, &count)) {
		enum stop stop = go_alone(l->t, PTRACE_SYSCALL);

		if (stop == STOP_CALL)
			stop = go_alone(l->t, PTRACE_SYSCALL);
		if (stop != STOP_CALL)
			return false;
	}
	return true;
}

/* Runs to the first beginning of that call at that clock. */
static enum stop
reach_call(struct live *l, const struct place *p)
{
	uint64_t now;
	enum stop stop = p->at.pc ? state_near(l->t, l->clock, &p->at) : STOP_SIGNAL;

	while (stop == STOP_SIGNAL) {
		stop = go_alone(l->t, PTRACE_SYSCALL);
		if (stop != STOP_CALL)
			return stop;
		now = live_count(l, p->at.pc);
		if (now == p->at.count && live_call_sum(l->t) == p->at.sum)
			return STOP_CALL;
		if ((int64_t)(p->at.count - now) < 0)
			return STOP_GROUP;
		stop = go_alone(l->t, PTRACE_SYSCALL);
		stop = stop == STOP_CALL ? STOP_SIGNAL : stop;
	}
	return stop;
}

/* Ends the call as it ended in the recording, without waiting. */
static bool
interrupt(struct live *l, const struct place *p)
{
	struct tracee *t = l->t;
	uint64_t number = tracee_word(t, t->machine->number), n = log_get(l->log);
	bool ok = true;

	if (!sets_mask(number)) {
		t->regs.word[t->machine->number] = (uint64_t)-1;
		tracee_set(t, &t->regs);
		if (tracee_go(t, PTRACE_SYSCALL, 0) != STOP_CALL)
			return false;
		t->regs.word[t->machine->number] = number;
		t->regs.word[t->machine->result] = (uint64_t)p->result;
		tracee_set(t, &t->regs);
	}
	for (uint64_t i = 0; i < n && !log_failed(l->log); i++) {
		uint64_t addr = log_get(l->log);
		struct str bytes = log_get_bytes(l->log, l->pool);

		ok &= sets_mask(number) || !bytes.n || tracee_write(t, addr, bytes.at, bytes.n);
	}
	return ok;
}

static bool
reach_place(struct live *l, const struct place *p, enum stop *stop)
{
	*stop = STOP_SIGNAL;
	if (!await_clock(l, p->at.pc))
		return false;
	if (p->how == STRUCK_CODE)
		return state_reach(l->t, l->clock, &p->at, CARE_MOST, stop) == REACH_THERE;
	*stop = reach_call(l, p);
	if (*stop != STOP_CALL)
		return false;
	return p->how == STRUCK_WITHIN ? interrupt(l, p) : live_put_off(l);
}

static void
replay_struck(struct live *l)
{
	struct str bytes;
	struct place p = {.at.bare = true};
	siginfo_t info;
	enum stop stop;
	const char *was;

	log_get(l->log);
	bytes = log_get_bytes(l->log, l->pool);
	p.how = (enum struck)log_get(l->log);
	p.at.pc = log_get(l->log);
	p.at.count = log_get(l->log);
	p.at.sum = log_get(l->log);
	if (p.how == STRUCK_WITHIN)
		p.result = (int64_t)log_get(l->log);
	if (bytes.n == sizeof info)
		memcpy(&info, bytes.at, sizeof info);
	if (log_failed(l->log))
		return;
	if (bytes.n != sizeof info || p.how >= STRUCK_KINDS || info.si_signo < 1 || info.si_signo > 64) {
		say_error(log_name(l->log), "it is damaged: there is no such signal");
		l->over = true;
		return;
	}
	was = pool_printf(l->pool, "signal %d (%s) %s pc 0x%" PRIx64 ", clock %" PRIu64, info.si_signo, strsignal(info.si_signo),
	                  p.how == STRUCK_CODE ? "at" : "in a call that comes back at", p.at.pc, p.at.count);
	if (!reach_place(l, &p, &stop) || !call_up(l, &info))
		diverged(l, was, l->t->pid ? stop : STOP_ENDED);
	else
		strike(l, &info);
}

/* Compares the end, which comes by itself. */
static void
replay_end(struct live *l)
{
	enum stop stop = l->t->pid ? go_alone(l->t, PTRACE_CONT) : STOP_ENDED;
	int was, now = l->t->status;

	log_get(l->log);
	was = (int)log_get(l->log);
	if (stop != STOP_ENDED || WIFEXITED(was) != WIFEXITED(now) ||
	    (WIFEXITED(was) ? WEXITSTATUS(was) != WEXITSTATUS(now) : WTERMSIG(was) != WTERMSIG(now)))
		diverged(l, pool_printf(l->pool, WIFEXITED(was) ? "its end with status %d" : "its end by signal %d",
		                        WIFEXITED(was) ? WEXITSTATUS(was) : WTERMSIG(was)), stop);
	else if (!log_at_end(l->log) && !log_failed(l->log)) {
		say_error(log_name(l->log), "it is damaged: there is more behind its end");
		l->over = true;
	}
}

/* False: reported. */
static bool
replay_all(struct live *l, int *status)
{
	bool ended = false;

	live_follow_children(l);
	live_show_time(l);
	while (!l->over && !ended && !log_failed(l->log)) {
		enum log_event kind = log_peek(l->log);

		l->pool = pool_new();
		ended = kind == LOG_EXIT;
		if (kind == LOG_STRUCK && l->t->pid) {
			replay_struck(l);
		} else if (ended) {
			replay_end(l);
		} else if (!log_failed(l->log)) {
			say_error(log_name(l->log), "it is damaged: there is no such event");
			l->over = true;
		}
		pool_free(l->pool);
		l->event++;
	}
	*status = l->t->status;
	return ended && !l->over && !log_failed(l->log);
}

static bool
begins(struct log *l)
{
	uint64_t seed;
	bool does = log_get(l) == LOG_START;

	if (does)
		log_get_seed(l, &seed);
	else if (!log_failed(l))
		say_error(log_name(l), "it is damaged: it does not begin with a program");
	return does;
}

bool
signals_replay(const char *log, int *status)
{
	struct pool *pool = pool_new();
	struct tracee t = {.mem = -1};
	struct live l = {.log = log_open(log), .t = &t};
	bool ok = l.log && begins(l.log) && start_replay(l.log, pool, &t);

	if (ok) {
		l.clock = clock_open(&t);
		t.own = go_alone;
		t.of = &l;
		t.alone = true;
		ok = replay_all(&l, status);
		clock_close(l.clock);
	}
	free(l.inside.at);
	tracee_close(&t);
	log_close(l.log);
	pool_free(pool);
	return ok;
}
