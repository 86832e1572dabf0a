/* SPDX-License-Identifier: MIT */
/* Recording nothing but signals, of a program that does the same again otherwise: it makes its system calls without being stopped,
 * and makes them anew in the replay. docs/replay.md has the rules. */
#include "replay/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where a signal struck. */
enum struck {
	STRUCK_CODE,             /* at an instruction of code with a clock */
	STRUCK_BEFORE,           /* before a system call */
	STRUCK_WITHIN,           /* in a system call, which it has interrupted */
	STRUCK_KINDS,
};

struct place {
	enum struck how;
	struct state at;         /* in a call: pc is where the innermost call of code with a clock comes back (0: there is none,
	                          * and the count is that of all), sum is call_sum() */
	uint64_t number;
	int64_t result;          /* of one that was interrupted */
};

/* A signal that waits, and whether it has been sent again since. */
struct waiting {
	siginfo_t info;
	bool sent;
};

struct live {
	struct log *log;
	struct tracee *t;
	struct clock *clock;
	struct pool *pool;
	const char *file;
	bool over;               /* reported */
	/* recording */
	VEC(struct waiting) held; /* signals that wait for a state that can be named */
	struct breakpoint back;  /* where control comes back to code with a clock, while some wait */
	struct place before;     /* the call that has been put off, */
	uint64_t before_sum;     /* and the registers' check sum there; 0: none has */
	/* replaying */
	uint64_t event;
	VEC(uint64_t) inside;    /* stack pointers to which handlers are to return */
};

/* ---- both ---- */

static bool
get_info(const struct live *l, siginfo_t *info)
{
	return !ptrace(PTRACE_GETSIGINFO, l->t->pid, 0, info);
}

/* What the program does itself, it does again. */
static bool
is_own_signal(const struct live *l, const siginfo_t *info)
{
	return tracee_caused(info->si_signo, info) ||
	       ((info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE) && info->si_pid == l->t->pid);
}

static bool
in_set(const struct live *l, const char *set, int sig)
{
	struct pool *pool = pool_new();
	const char *text = tracee_proc(l->t, pool, "status"), *line = text ? strstr(text, set) : NULL;
	bool in = line && strtoull(line + strlen(set), NULL, 16) >> (sig - 1) & 1;

	pool_free(pool);
	return in;
}

/* What happens to it is of no consequence, or only stops the program for a while. */
static bool
is_idle(const struct live *l, int sig)
{
	static const int idle[] = {SIGCHLD, SIGURG, SIGWINCH, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};

	if (in_set(l, "SigIgn:", sig))
		return true;
	for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
		if (sig == idle[i])
			return sig == SIGSTOP || !in_set(l, "SigCgt:", sig);
	return false;
}

/* The clock of the module of a PC, or of all. */
static uint64_t
count_of(const struct live *l, uint64_t pc)
{
	uint64_t count;

	if (!pc)
		return clock_sum(l->clock);
	return clock_at(l->clock, pc, &count) ? count : 0;
}

/* What names a call beside the clock: where it is made, which, and with which arguments, the process's own number aside. */
static uint64_t
call_sum(const struct tracee *t)
{
	uint64_t name[9] = {tracee_word(t, t->machine->pc), tracee_word(t, t->machine->sp), tracee_word(t, t->machine->number)};

	for (int i = 0; i < 6; i++)
		name[3 + i] = tracee_arg(t, i) == (uint64_t)t->pid ? 0 : tracee_arg(t, i);
	return bytes_sum(name, sizeof name);
}

/* Calls that have a set of signals blocked while they wait have to be made: what they restore is the kernel's. */
static bool
sets_mask(uint64_t number)
{
	return number == SYS_rt_sigsuspend || number == SYS_ppoll || number == SYS_pselect6 || number == SYS_epoll_pwait ||
	       number == SYS_epoll_pwait2;
}

static void
send(const struct live *l, int sig)
{
	syscall(SYS_tgkill, l->t->pid, l->t->pid, sig);
}

static void
follow_children(const struct live *l)
{
	ptrace(PTRACE_SETOPTIONS, l->t->pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC |
	       PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK);
}

/* The processor's time is read as ever. */
static void
show_time(const struct live *l)
{
	const uint64_t *arg = l->t->machine->show_time_arg;

	tracee_call_here(l->t, l->t->machine->show_time, (uint64_t [6]){arg[0], arg[1]});
}

/* Puts off the call at whose beginning the program stands: it is then before the instruction. */
static bool
put_off(struct live *l)
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

/* ---- recording ---- */

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

/* The state of a call; false: nothing counts. */
static bool
place_of_call(struct live *l, enum struck how, struct place *p)
{
	*p = (struct place){.how = how, .number = tracee_word(l->t, l->t->machine->number)};
	p->at.pc = clock_return(l->clock, tracee_word(l->t, l->t->machine->sp));
	p->at.sum = call_sum(l->t);
	p->result = (int64_t)tracee_word(l->t, l->t->machine->result);
	p->at.count = count_of(l, p->at.pc);
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
	pieces_written(l->t, &c, arg, p->result, &written);
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

/* While some wait the program stops at system calls. */
static enum stop
go_on(struct live *l, int sig)
{
	return tracee_go(l->t, some_wait(l) ? PTRACE_SYSCALL : PTRACE_CONT, sig);
}

/* Delivers it here. */
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

/* It waits until control comes back to code with a clock, or for the next system call. */
static enum stop
hold(struct live *l, const siginfo_t *info)
{
	enum { PATIENCE = 2 };          /* seconds */
	uint64_t at = l->back.at ? 0 : clock_return(l->clock, tracee_word(l->t, l->t->machine->sp));
	bool there = false;

	if (!some_wait(l))
		alarm(PATIENCE);
	for (size_t i = 0; info->si_signo < SIGRTMIN && i < l->held.n; i++)
		there |= l->held.at[i].info.si_signo == info->si_signo;
	if (!there)
		VEC_PUSH(l->held, (struct waiting){*info, false});
	if (at)
		breakpoint_put(l->t, &l->back, at);
	return go_on(l, 0);
}

/* Those that wait come once more, where they can be named. */
static enum stop
send_held(struct live *l)
{
	breakpoint_take(l->t, &l->back);
	alarm(0);
	for (size_t i = 0; i < l->held.n; i++)
		if (!l->held.at[i].sent) {
			l->held.at[i].sent = true;
			send(l, l->held.at[i].info.si_signo);
		}
	return go_on(l, 0);
}

/* Has it been sent for one that was held? It is that one. */
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

	if (!get_info(l, &info))
		return go_on(l, tracee_signal(t));
	was_held(l, &info);
	p.at.sum = state_name(t, &l->back);
	if (is_own_signal(l, &info) || is_idle(l, info.si_signo))
		return go_on(l, info.si_signo);
	if (l->before_sum && l->before_sum == tracee_sum(t)) {
		/* A handler may have counted since, and come back there. */
		l->before.at.count = count_of(l, l->before.at.pc);
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

/* At the beginning of a call, while some wait. */
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
	if (!put_off(l))
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

/* A thread or process that it has begun stands still, too. */
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
			send(l, l->held.at[i].info.si_signo);
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

	follow_children(&l);
	show_time(&l);
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

/* ---- replaying ---- */

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

/* A signal that is none of the replay's has interrupted a call which is not made again by itself: it is made again. */
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

/* At a call: is it a handler's return? It has then been made. */
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

/* To the next stop, without the signals that come from outside this time: the log has those that are to come. */
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
		if (stop != STOP_SIGNAL || !get_info(l, &info) || (info.si_signo == SIGTRAP && tracee_caused(SIGTRAP, &info)))
			return stop;
		if (!is_own_signal(l, &info))
			make_again(t);
		else if (is_deliverable(l, &info))
			sig = info.si_signo;
		else
			return stop;
	}
}

/* Sends it, and goes on to where it is about to be delivered. */
static bool
call_up(struct live *l, const siginfo_t *info)
{
	enum stop stop;

	if (in_set(l, "SigBlk:", info->si_signo) && !sets_mask(tracee_word(l->t, l->t->machine->number)))
		return false;
	send(l, info->si_signo);
	do
		stop = tracee_go(l->t, PTRACE_SYSCALL, 0);
	while (stop == STOP_GROUP || (stop == STOP_SIGNAL && tracee_signal(l->t) != info->si_signo) ||
	       (stop == STOP_CALL && sets_mask(tracee_word(l->t, l->t->machine->number))));
	return stop == STOP_SIGNAL;
}

/* To the first instruction of its handler, or the program's end by it. */
static void
strike(struct live *l, const siginfo_t *info)
{
	VEC_PUSH(l->inside, tracee_word(l->t, l->t->machine->sp));
	ptrace(PTRACE_SETSIGINFO, l->t->pid, 0, info);
	tracee_go(l->t, PTRACE_SINGLESTEP, info->si_signo);
}

/* Until the module of the PC has a clock: the program has just begun, or has yet to load it. */
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

/* To the first beginning of that call at that clock. */
static enum stop
reach_call(struct live *l, const struct place *p)
{
	uint64_t now;
	enum stop stop = p->at.pc ? state_near(l->t, l->clock, &p->at) : STOP_SIGNAL;

	while (stop == STOP_SIGNAL) {
		stop = go_alone(l->t, PTRACE_SYSCALL);
		if (stop != STOP_CALL)
			return stop;
		now = count_of(l, p->at.pc);
		if (now == p->at.count && call_sum(l->t) == p->at.sum)
			return STOP_CALL;
		if ((int64_t)(p->at.count - now) < 0)
			return STOP_GROUP;
		stop = go_alone(l->t, PTRACE_SYSCALL);
		stop = stop == STOP_CALL ? STOP_SIGNAL : stop;
	}
	return stop;
}

/* The call does not wait: it ends as it did. */
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
	return p->how == STRUCK_WITHIN ? interrupt(l, p) : put_off(l);
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

/* Its end, which comes by itself. */
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

	follow_children(l);
	show_time(l);
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
