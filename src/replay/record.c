/* SPDX-License-Identifier: MIT */
/* Recording: the program stops at the beginning and the end of each system call, at signals, and at instructions whose result it
 * does not determine. When something happens that cannot be recorded, it is refused by name, and the program runs on without being
 * recorded. */
#include "replay/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- events ---- */

/* What follows in the log belongs to the task. */
static void
become(struct recorder *r, struct task *task)
{
	r->task = task;
	r->t = &task->t;
	r->clock = task->group->space->clock;
	r->made = &task->made;
	clock_follow(r->clock, r->t);
	/* The pool lives until the end of a call, because the call's name may be in it. */
	if (!task->pool)
		task->pool = pool_new();
}

void
record_event(struct recorder *r, enum log_event kind)
{
	buffer_flush(r);
	record_plain_event(r, kind);
}

void
record_plain_event(struct recorder *r, enum log_event kind)
{
	if (r->logged != r->task->number) {
		log_put(r->log, LOG_TASK);
		log_put(r->log, r->task->number);
		r->logged = r->task->number;
	}
	log_put(r->log, kind);
	if (r->task->group->space->midway == r->task)
		r->task->group->space->midway = NULL;
}

/* ---- refusing ---- */

void
record_refuse(struct recorder *r, const char *what, const char *why)
{
	if (r->refused)
		return;
	r->refused = true;
	say_error(what, "%s; %s runs on without being recorded", why, r->file);
}

/* ---- signals ---- */

/* Is the next instruction one whose result the program does not determine? Then it gets a result, which is put into the log. */
static bool
is_nondeterministic(struct recorder *r)
{
	const struct machine_traced *machine = r->t->machine;
	uint8_t bytes[NONDET_BYTES];
	size_t n = tracee_signal(r->t) == SIGSEGV ? nondet_here(r->task, bytes) : 0;
	struct nondet_result result;

	if (!n)
		return false;
	result = machine->nondet_make(machine->nondet(bytes, n), &r->t->regs);
	record_event(r, LOG_NONDET);
	log_put(r->log, tracee_sum(r->t));
	log_put(r->log, result.value);
	log_put(r->log, result.more);
	machine->nondet_give(&r->t->regs, bytes, n, &result);
	tracee_set(r->t, &r->t->regs);
	forced_mend(r, SIGSEGV, false);
	r->task->known = tracee_sum(r->t);
	r->task->handled = false;
	r->task->rests = true;
	return true;
}

/* Logs the beginning of a handler; the program is at its first instruction. */
static void
put_handler(struct recorder *r, int sig, const struct state *from)
{
	const struct machine_traced *machine = r->t->machine;
	char state[TRACED_STATE_MOST];
	uint64_t at, size;

	if (!machine->frame(&r->t->regs, tracee_read, r->t, &at, &size)) {
		record_refuse(r, strsignal(sig), "what the kernel has written for its handler is not understood");
		return;
	}
	record_event(r, LOG_SIGNAL);
	log_put(r->log, (uint64_t)sig);
	log_put(r->log, from->sum);
	log_put(r->log, from->pc != 0);
	if (from->pc) {
		log_put(r->log, from->pc);
		log_put(r->log, from->count);
	}
	log_put_bytes(r->log, &r->t->regs, sizeof r->t->regs);
	log_put_bytes(r->log, state, machine->get_state(r->t->pid, state));
	record_piece(r, &(struct piece){at, size});
}

/* Names the state by the clock where there is one. Elsewhere the registers tell whether this is the last state that the log names,
 * which each time follows an instruction that makes an event. In a loop with a clock the registers may be the same again while
 * memory is not. */
static struct state
state_of(struct recorder *r, bool caused)
{
	struct state s = {.sum = tracee_sum(r->t)};
	uint64_t pc = tracee_word(r->t, r->t->machine->pc);

	if (!caused && clock_at(r->clock, pc, &s.count))
		s.pc = pc;
	return s;
}

/* Delivers a signal that has a handler. */
static void
deliver(struct recorder *r, int sig, const struct state *from)
{
	enum stop stop;

	held_unblock(r);
	stop = tracee_go(r->t, PTRACE_SINGLESTEP, sig);
	if (stop != STOP_SIGNAL || tracee_signal(r->t) != SIGTRAP) {
		r->task->state = TASK_STOPPED;
		return;
	}
	put_handler(r, sig, from);
	forced_delivered(r, sig);
	buffer_masks(r);
	r->task->known = tracee_sum(r->t);
	r->task->handled = r->task->rests = true;
}

/* Something waits for a state that the log can name: stops the program when control comes back to code that counts. */
static void
await_return(struct recorder *r)
{
	struct breakpoint *back = &r->task->group->space->back;
	uint64_t at = back->at ? 0 : clock_return(r->clock, tracee_word(r->t, r->t->machine->sp));

	if (at)
		breakpoint_put(r->t, back, at);
}

/* Does a timer's signal come before the first instruction of a handler, or behind one? Then they come faster than they can be
 * recorded, and the program would not get on. Those that are queued stay in their order. */
static bool
comes_too_soon(const struct recorder *r, const siginfo_t *info, const struct state *from)
{
	return (info->si_code == SI_KERNEL || info->si_code == SI_TIMER) && r->task->handled && from->sum == r->task->known &&
	       buffer_is_empty(r) && (info->si_signo < SIGRTMIN || !held_pends(r, info->si_signo));
}

/* A signal with a handler is delivered at once at a state that the log can name: if the last instruction has caused it, at a stop
 * that the replay has too, or where the code counts. Elsewhere it is held until control comes back to code that counts, or the
 * program makes a system call. One that comes too soon is blocked until the next tick, or the next call. */
static void
take_signal(struct recorder *r)
{
	int sig = tracee_signal(r->t);
	struct state from;
	siginfo_t info;
	bool late = r->task->late, caused;

	r->task->sig = sig;
	if (ptrace(PTRACE_GETSIGINFO, r->t->pid, 0, &info) || !tracee_signal_is(r->t, SIGNALS_CAUGHT, sig)) {
		buffer_complete(r);
		record_note_locks(r);
		return;
	}
	r->task->sig = 0;
	caused = tracee_caused(sig, &info);
	from = state_of(r, caused);
	r->task->late = false;
	if (held_comes(r, sig) || caused) {
		deliver(r, sig, &from);
		return;
	}
	if (!late && comes_too_soon(r, &info, &from)) {
		held_block(r, sig);
		return;
	}
	if ((from.sum == r->task->known && buffer_is_empty(r)) || from.pc) {
		deliver(r, sig, &from);
		return;
	}
	held_add(r, &info);
	await_return(r);
}

/* At the beginning of a call: puts the call off and sends the held signals again, because the state can be named now. */
static void
release(struct recorder *r)
{
	uint64_t arg[6], number = tracee_word(r->t, r->t->machine->number);

	for (int i = 0; i < 6; i++)
		arg[i] = tracee_arg(r->t, i);
	r->t->regs.word[r->t->machine->number] = (uint64_t)-1;
	tracee_set(r->t, &r->t->regs);
	if (tracee_go(r->t, PTRACE_SYSCALL, 0) != STOP_CALL) {
		r->task->state = TASK_STOPPED;
		return;
	}
	r->t->machine->make(&r->t->regs, number, arg);
	tracee_set(r->t, &r->t->regs);
	r->task->known = tracee_sum(r->t);
	r->task->handled = false;
	/* If the task was told to stop before this call, the kernel has forgotten that, because any stop fulfils it. */
	if (r->task->interrupted)
		ptrace(PTRACE_INTERRUPT, r->t->pid, 0, 0);
	held_send(r);
}

/* ---- turns ---- */

/* Logs the state at which others may run. The clock names it; or, if `steps` is not 0, the loop in which the task is does, and once
 * around it takes so many steps. */
static void
put_switch(struct recorder *r, const struct state *s, unsigned steps)
{
	record_event(r, LOG_SWITCH);
	log_put(r->log, s->sum);
	log_put(r->log, steps);
	log_put(r->log, s->pc);
	if (!steps)
		log_put(r->log, s->count);
	r->task->known = s->sum;
	r->task->handled = false;
	r->task->rests = true;
}

/* The turn is over in code that makes no system call. Others run now if the log can name the state, otherwise as soon as it can. */
static void
leave_turn(struct recorder *r)
{
	struct state s = {.sum = tracee_sum(r->t), .pc = tracee_word(r->t, r->t->machine->pc)};

	if (!clock_at(r->clock, s.pc, &s.count)) {
		await_return(r);
		return;
	}
	put_switch(r, &s, 0);
}

/* Is the task in a loop that changes nothing, or only counters? Then the log can name its state, and held signals may come. */
static bool
rest_in_loop(struct recorder *r, unsigned steps)
{
	bool stood = r->task->loops && r->task->rests;
	struct state s = {0};
	enum stop stop;
	enum spin spin = spin_here(r->t, true, &steps, &stop);

	if (stop != STOP_ENDED)
		forced_mend(r, SIGTRAP, false);
	r->task->loops = 0;
	if (spin == SPIN_STOPPED)
		r->task->state = TASK_STOPPED;
	if (spin == SPIN_STOPPED || spin == SPIN_NOT)
		return false;
	s.pc = tracee_word(r->t, r->t->machine->pc);
	s.sum = tracee_sum(r->t);
	if (spin == SPIN_COUNTS && !clock_at(r->clock, s.pc, &s.count))
		return false;
	if (!stood || spin != SPIN_STAYS) {
		put_switch(r, &s, spin == SPIN_COUNTS ? 0 : steps);
		held_send(r);
	}
	r->task->loops = steps;
	return true;
}

/* A task that waited in a loop has its turn again. Mostly others have not changed what it looks at, or it soon comes to another
 * such loop. A few steps show that sooner than a tick does. */
static bool
waits_in_loop(struct recorder *r)
{
	unsigned steps = 2 * r->task->loops;

	return steps && r->task->rests && r->task->state == TASK_READY && schedule_others(&r->turns) &&
	       rest_in_loop(r, steps > SPIN_LEAST ? steps : SPIN_LEAST);
}

/* Control is back in code that counts. */
static void
come_back(struct recorder *r)
{
	breakpoint_take(r->t, &r->task->group->space->back);
	forced_mend(r, SIGTRAP, false);
	held_send(r);
	if (schedule_over(&r->turns))
		leave_turn(r);
}

/* Others could run, and the log cannot name the state of this task. Recording must not make a program wait for ever. */
static void
check_stuck(struct recorder *r)
{
	switch (schedule_stuck(&r->turns)) {
	case STUCK_NOT:
		break;
	case STUCK_IN_LOOP:
		record_refuse(r, r->file, "a thread waits for another one in code that neither counts nor makes system calls");
		break;
	case STUCK_FOR_LONG:
		record_refuse(r, r->file,
		              "a thread is in code that neither counts nor makes system calls for a minute, and others wait");
	}
}

/* At a tick: the program has got on, and what the kernel keeps back comes now. True: what is held comes, too. */
static bool
end_block(struct recorder *r)
{
	held_unblock(r);
	if (!state_of(r, false).pc)
		return !held_some(r);
	held_send(r);
	return true;
}

/* The task was told to stop, or a stopped process goes on. */
static void
stop_here(struct recorder *r)
{
	unsigned steps;

	r->task->interrupted = false;
	/* A signal of a breakpoint, or of a call that is seen by SIGSYS, is pending and is reported next. */
	if (tracee_signal_pends(r->t))
		return;
	if (r->task->blocks && !r->task->in_call && end_block(r))
		return;
	if (!r->task->in_call && (steps = schedule_looks(&r->turns)) && rest_in_loop(r, steps))
		return;
	if (r->task->state == TASK_STOPPED)
		return;
	if (schedule_impatient(&r->turns))
		record_refuse(r, pool_printf(r->task->pool, "signal %d", r->task->held.at[0].info.si_signo),
		              "it has come in code that neither counts nor makes system calls");
	else if (!r->task->in_call && schedule_spent(&r->turns))
		leave_turn(r);
	if (!r->task->rests && !r->task->in_call)
		check_stuck(r);
}

/* A signal has stopped the process until SIGCONT. The log does not say where its threads stand. */
static void
listen(struct recorder *r)
{
	if (!r->task->rests)
		r->task->group->space->midway = r->task;
	tracee_resume(r->t, PTRACE_LISTEN, 0);
	r->task->state = TASK_WAITS;
}

static bool
begins_task(uint64_t number)
{
	return number == SYS_fork || number == SYS_vfork || number == SYS_clone || number == SYS_clone3;
}

static void
at_call(struct recorder *r)
{
	uint64_t number = tracee_word(r->t, r->t->machine->number);

	breakpoint_take(r->t, &r->task->group->space->back);
	r->task->seen = false;
	/* What the kernel keeps back may come in the call. A birth does not happen while a signal is pending. Where a handler only
	 * returns, the program has not got on. */
	if (r->task->in_call || !begins_task(number))
		held_unblock(r);
	r->task->late &= number != SYS_rt_sigreturn;
	if (r->task->in_call)
		record_end_call(r);
	else if (held_some(r) || r->task->interrupted)
		release(r);
	else
		record_begin_call(r);
}

static void
at_signal(struct recorder *r)
{
	if (breakpoint_hit(r->t, &r->task->group->space->back, STOP_SIGNAL))
		come_back(r);
	else if (!buffer_stopped(r) && !is_nondeterministic(r))
		take_signal(r);
}

static void
handle(struct recorder *r, enum stop stop)
{
	if (stop != STOP_ENDED && stop != STOP_EVENT)
		r->locks.n = 0;
	switch (stop) {
	case STOP_CALL: at_call(r); break;
	case STOP_SIGNAL: at_signal(r); break;
	case STOP_GROUP:
		if (tracee_signal(r->t) == SIGTRAP)
			stop_here(r);
		else
			listen(r);
		break;
	case STOP_EVENT:
		if (tracee_event(r->t) == PTRACE_EVENT_EXEC)
			record_exec(r);
		else if (tracee_event(r->t) == PTRACE_EVENT_EXIT)
			buffer_end(r);
		else
			record_birth(r);
		break;
	case STOP_NONE: record_enter(r); break;
	case STOP_ENDED: record_end(r); break;
	case STOP_HALT: case STOP_RETURN: break;
	}
}

/* ---- letting go ---- */

/* At the beginning of a call: puts it off; it is made again later. */
static void
unmake(struct recorder *r)
{
	r->t->regs.word[r->t->machine->number] = (uint64_t)-1;
	tracee_set(r->t, &r->t->regs);
	tracee_go(r->t, PTRACE_SYSCALL, 0);
}

/* If the task stands at a signal that nobody has looked at, it gets the signal when it goes on. */
static void
keep_signal(struct recorder *r)
{
	siginfo_t info;

	if (r->task->state == TASK_STOPPED && tracee_stop(r->t) == STOP_SIGNAL &&
	    !ptrace(PTRACE_GETSIGINFO, r->t->pid, 0, &info) && !tracee_caused(info.si_signo, &info))
		r->task->sig = info.si_signo;
}

/* Lets the program read the time again. Signals stay pending meanwhile. */
static void
show_time(struct recorder *r)
{
	const uint64_t *show = r->t->machine->show_time_arg;
	uint64_t all = UINT64_MAX, mask;
	bool blocked = !ptrace(PTRACE_GETSIGMASK, r->t->pid, sizeof mask, &mask) &&
		!ptrace(PTRACE_SETSIGMASK, r->t->pid, sizeof all, &all);

	tracee_call_here(r->t, r->t->machine->show_time, (uint64_t [6]){show[0], show[1]});
	if (blocked && r->t->pid)
		ptrace(PTRACE_SETSIGMASK, r->t->pid, sizeof mask, &mask);
}

/* The task stands, and so do all that share its memory, in which everything is then as the program left it; or they go on being
 * recorded, and the memory stays. It may read the time again, but does not run yet. A call that was cut short because the task was
 * told to stop is left so: the kernel looks for signals in each task that is let go, and either makes the call again, or runs a
 * handler and has the call fail. */
static void
loosen(struct recorder *r, bool memory)
{
	bool begun = r->task->in_call && !r->task->entered && r->task == r->turns.now;

	held_unblock(r);
	keep_signal(r);
	breakpoint_take(r->t, &r->task->group->space->back);
	if (begun)
		unmake(r);
	else if (r->task->in_call && r->task->state == TASK_READY)
		/* The task stands after the birth of another one, in the call. */
		tracee_go(r->t, PTRACE_SYSCALL, 0);
	if (memory) {
		buffer_release(r);
		nondet_restore(r->task);
	}
	if (r->t->pid)
		show_time(r);
	if (begun && r->t->pid) {
		r->t->machine->make(&r->t->regs, r->made->number, r->made->arg);
		tracee_set(r->t, &r->t->regs);
	}
}

static void
let_go(struct recorder *r)
{
	if (!r->t->pid)
		return;
	held_send(r);
	ptrace(PTRACE_DETACH, r->t->pid, 0, r->task->sig);
	r->t->pid = 0;
}

/* Does the task wait in vfork(), which comes back only when the child has run? */
static bool
awaits_child(const struct task *t)
{
	return t->in_call && t->made.call.class == CALL_BIRTH && t->birth.flags & CLONE_VFORK && t->entered;
}

/* Brings all tasks that are in the kernel out of it. */
static void
stop_all(struct recorder *r)
{
	bool some = true;

	for (size_t i = 0; i < r->all.at.n; i++)
		if (r->all.at.at[i]->state == TASK_WAITS && !awaits_child(r->all.at.at[i]))
			ptrace(PTRACE_INTERRUPT, r->all.at.at[i]->tid, 0, 0);
	while (some) {
		some = false;
		for (size_t i = 0; i < r->all.at.n; i++)
			some |= r->all.at.at[i]->state == TASK_WAITS && !awaits_child(r->all.at.at[i]);
		some = some && schedule_hear(&r->turns);
	}
}

static bool
stands(const struct task *t)
{
	return (t->state == TASK_READY || t->state == TASK_STOPPED) && t->t.pid && !awaits_child(t);
}

/* The task's vfork() comes back when the child, which has been let go, has ended or runs another program. */
static void
let_go_behind_child(struct recorder *r)
{
	const uint64_t *show = r->t->machine->show_time_arg;
	enum stop stop = r->task->state == TASK_READY ? tracee_go(r->t, PTRACE_SYSCALL, 0) :
		r->task->state == TASK_WAITS ? tracee_await(r->t) : tracee_stop(r->t);

	if (stop != STOP_ENDED)
		held_unblock(r);
	if (stop == STOP_CALL)
		tracee_call(r->t, r->t->machine->show_time, (uint64_t [6]){show[0], show[1]});
	let_go(r);
}

/* May the process have memory that others write or read? */
static bool
shares_memory(const struct recorder *r)
{
	const char *maps = tracee_proc(r->t, r->task->pool, "maps");
	struct maps_line m;
	bool shares = !maps;

	while (!shares && maps_next(&maps, &m))
		shares = m.mode[1] == 'w' && m.mode[3] == 's';
	return shares;
}

/* Is it a call by which a process looks at another one, or changes it? That may be one of those that are recorded. */
static bool
touches_others(uint64_t number)
{
	return number == SYS_ptrace || number == SYS_process_vm_writev || number == SYS_process_madvise;
}

/* Can all others be recorded further without this process? What it gives them by files, pipes and signals comes from outside then.
 * The program itself cannot be missed. A program in the place of another has nobody's memory: so it does not matter at execve(),
 * unless that fails, whether a vfork() goes before. */
static bool
can_be_missed(const struct recorder *r)
{
	const struct group *g = r->task->group;

	if (g->first || g->living != 1)
		return false;
	return !r->task->in_call || r->made->call.class == CALL_EXEC ||
	       (g->space->users == 1 && !touches_others(r->made->number) && !shares_memory(r));
}

void
record_refuse_here(struct recorder *r, const char *what, const char *why)
{
	struct group *g = r->task->group;

	if (r->refused || !can_be_missed(r)) {
		record_refuse(r, what, why);
		return;
	}
	say_warning(what, "%s; process %" PRIu64 " of the run goes on without being recorded, and what it prints is in no log",
	            why, g->number);
	record_event(r, LOG_GONE);
	record_made(r);
	bind_release(r->t);
	loosen(r, g->space->users == 1);
	let_go(r);
	group_end(&r->all, g);
	r->task = r->turns.now = NULL;
	/* Others may wait for it. */
	r->turns.told = true;
}

/* Lets all tasks run on without being recorded. */
static void
let_all_go(struct recorder *r)
{
	stop_all(r);
	record_unbind(r);
	for (size_t i = 0; i < r->all.at.n; i++)
		if (stands(r->all.at.at[i])) {
			become(r, r->all.at.at[i]);
			loosen(r, true);
		}
	for (size_t i = 0; i < r->all.at.n; i++)
		if (stands(r->all.at.at[i])) {
			become(r, r->all.at.at[i]);
			let_go(r);
		}
	for (size_t i = 0; i < r->all.at.n; i++)
		if (r->all.at.at[i]->t.pid && awaits_child(r->all.at.at[i])) {
			become(r, r->all.at.at[i]);
			let_go_behind_child(r);
		}
}

/* ---- all of it ---- */

static volatile sig_atomic_t child;

static void
run(struct recorder *r)
{
	struct task *task;

	while (!r->refused && (task = schedule_next(&r->turns))) {
		/* These entries come before what others do. */
		if (r->task && task != r->task)
			buffer_drain(r);
		become(r, task);
		if (waits_in_loop(r)) {
			schedule_yield(&r->turns);
			continue;
		}
		schedule_resume(&r->turns);
		buffer_drain(r);
		handle(r, schedule_await(&r->turns));
		if (r->task && !r->task->in_call) {
			pool_free(r->task->pool);
			r->task->pool = NULL;
		}
		/* When the first process has ended, signals are passed on to another one. */
		if (!r->task && r->all.at.n)
			child = r->all.at.at[0]->group->pid;
	}
}

static const char *
program_in_path(struct pool *pool, const char *name)
{
	const char *file = file_in_path(pool, name);

	if (!file)
		say_error(name, "no such program");
	return file;
}

static void
pass_on(int sig)
{
	if (child)
		kill(child, sig);
}

/* The program gets itself what the terminal sends, and what it sends to its process group, to which this process belongs, too.
 * SIGTERM and SIGHUP that are sent to this process are passed on to it. Nothing that ends this process may end the program. */
static void
leave_signals(pid_t pid)
{
	static const int ignored[] = {SIGINT, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR,
	                              SIGSTKFLT};

	child = pid;
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++)
		signal(sig, SIG_IGN);
	signal(SIGTERM, pass_on);
	signal(SIGHUP, pass_on);
}

static bool
has_all_rights(const char *file)
{
	if (has_its_rights(file, NULL))
		return true;
	say_error(file, "it has a user's, a group's or other rights by its file, which it would lack while it is recorded");
	return false;
}

/* Recording takes descriptors for mapped files and for each task. With too few of them it could not even let the program go. */
static bool
has_descriptors(const char *file)
{
	enum { LEAST = 64 };
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_max >= LEAST)
		return true;
	say_error(file, "no more than %" PRIuMAX " descriptors are permitted (ulimit -Hn), and recording takes %d at least",
	          (uintmax_t)limit.rlim_max, LEAST);
	return false;
}

/* Waits for the end of the program, which has been let go. First threads that ended before are still reported to this process, and
 * to their parents only after that. */
static void
await_alone(struct recorder *r, pid_t first)
{
	pid_t got;
	int status;

	do
		got = waitpid(-1, &status, __WALL);
	while (got != first && (got > 0 || errno == EINTR));
	if (got == first)
		r->status = status;
}

/* Runs the program to its end. */
static void
record_all(struct recorder *r, struct pool *pool, const struct tracee *t, const struct tracee_start *s)
{
	const char *why;

	schedule_begin();
	bind_begin();
	raise_descriptors(); /* each traced task needs one */
	r->turns.all = &r->all;
	become(r, tasks_begin(&r->all, t));
	r->t->heard = schedule_heard;
	r->t->whom = &r->turns;
	r->task->group->first = true;
	leave_signals(t->pid);
	record_event(r, LOG_START);
	log_put_seed(r->log, r->turns.chaos ? &r->turns.seed : NULL);
	why = start_record(r->log, pool, r->t, s);
	if (why)
		record_refuse(r, r->file, why);
	else
		nondet_begun(r);
	forced_begun(r);
	run(r);
	if (!r->refused)
		return;
	let_all_go(r);
	await_alone(r, t->pid);
}

/* A signal has waited for too long: the program is told to stop. */
static void
look_up(int sig)
{
	(void)sig;
	if (child)
		ptrace(PTRACE_INTERRUPT, child, 0, 0);
}

/* The same, but only signals are recorded, and no system calls. */
static void
record_signals(struct recorder *r, struct pool *pool, struct tracee *t, const struct tracee_start *s)
{
	const char *why;

	leave_signals(t->pid);
	tracer_catch(SIGALRM, look_up, SA_RESTART);
	log_put(r->log, LOG_START);
	log_put_seed(r->log, NULL);
	why = start_record(r->log, pool, t, s);
	if (why)
		say_error(r->file, "%s", why);
	r->refused = why || !signals_record(r->log, t, r->file);
	r->status = t->status;
	tracee_close(t);
	log_put(r->log, LOG_EXIT);
	log_put(r->log, (uint64_t)r->status);
}

bool
replay_record(char **argv, const char *log, const struct record_how *how, bool *ended, int *status)
{
	struct pool *pool = pool_new();
	bool signals = how->signals;
	struct recorder r = {.mapped = {.pool = pool}, .file = argv[0], .logged = 1, .buffers = !how->stops && !how->chaos,
	                     .no_aio = how->no_aio, .turns = {.chaos = how->chaos, .seed = how->chaos ? *how->chaos : 0}};
	struct tracee_start s = {.argv = argv, .env = environ, .file = program_in_path(pool, argv[0])};
	struct tracee t = {.mem = -1};
	bool ok = false;

	clock_gettime(CLOCK_REALTIME_COARSE, &r.mapped.start);
	if (s.file && has_descriptors(s.file) && has_all_rights(s.file))
		r.log = log_create(log, signals ? LOG_SIGNALS_ONLY : LOG_ALL);
	*ended = r.log && tracee_start(&t, &s);
	if (*ended && signals)
		record_signals(&r, pool, &t, &s);
	else if (*ended)
		record_all(&r, pool, &t, &s);
	*status = r.status;
	if (how->stats && *ended)
		fprintf(stderr, "chord: %" PRIu64 " system calls, %" PRIu64 " of them without a stop, by %" PRIu64 " places\n",
		        r.stopped + r.made_free, r.made_free, r.places);
	if (*ended && !r.refused)
		ok = log_finish(r.log);
	else if (r.log)
		log_abandon(r.log);
	mapped_close(&r.mapped);
	tasks_close(&r.all);
	free(r.turns.early.at);
	free(r.locks.at);
	free(r.written);
	pool_free(pool);
	return ok;
}
