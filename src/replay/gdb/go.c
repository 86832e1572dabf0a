/* SPDX-License-Identifier: MIT */
/* Runs the program between two events of the log, and stops where a condition fires: the PC is at a place (breakpoints); memory is
 * written (by the processor's debug registers, or single steps if there are too few); one instruction has run; some time is
 * over. */
#include "replay/gdb/gdb.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <time.h>

/* The loader is taken to be at most this long. gdb has a breakpoint in it, in code that Chord's runtime reads. */
enum { LOADER = 1 << 20 };

/* ---- time ---- */

static volatile sig_atomic_t due;
static volatile pid_t running;
static uint64_t slice;           /* time to run that has not begun yet */

static void
stop_running(void)
{
	int was = errno;

	if (running)
		ptrace(PTRACE_INTERRUPT, running, 0, 0);
	errno = was;
}

static void
on_alarm(int sig)
{
	(void)sig;
	due = 1;
	stop_running();
}

void
go_slice(uint64_t ns)
{
	tracer_catch(SIGALRM, on_alarm, SA_RESTART);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	due = 0;
	slice = ns;
}

/* Some steps take as long as a program that runs takes for a million instructions. So a step does not take its time of the slice,
 * but this, in ns. */
enum { STEP = 1000 };

static void
count_step(void)
{
	due |= slice && slice <= STEP;
	slice -= slice < STEP ? slice : STEP;
}

/* The time begins when the program first runs. */
static void
begin_slice(void)
{
	struct itimerval t = {.it_value = {(time_t)(slice / 1000000000), (suseconds_t)(slice / 1000 % 1000000)}};

	t.it_value.tv_usec += !timerisset(&t.it_value);
	if (slice)
		setitimer(ITIMER_REAL, &t, NULL);
	slice = 0;
}

/* ---- interruptions ---- */

enum { LOOKS_A_SECOND = 20 };

static volatile sig_atomic_t asked, by_signal; /* something waits on the connection, or SIGINT has arrived */
static volatile int ear;         /* the connection */

static void
on_look(int sig)
{
	struct pollfd p = {ear, POLLIN, 0};
	int was = errno;

	(void)sig;
	if (poll(&p, 1, 0) > 0) {
		asked = 1;
		stop_running();
	}
	errno = was;
}

static void
on_interrupt(int sig)
{
	(void)sig;
	asked = by_signal = 1;
	stop_running();
}

void
go_keep_interrupts(void)
{
	tracer_catch(SIGINT, on_interrupt, SA_RESTART);
}

void
go_listen(struct debugger *d, bool on)
{
	static timer_t timer;
	static bool made;
	const long ns = on ? 1000000000 / LOOKS_A_SECOND : 0;
	struct sigevent by = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};

	if (!made) {
		tracer_catch(SIGRTMIN, on_look, SA_RESTART);
		made = !timer_create(CLOCK_MONOTONIC, &by, &timer);
	}
	ear = d->c.in;
	asked = by_signal = 0;
	d->interrupted = false;
	if (made)
		timer_settime(timer, 0, &(struct itimerspec){{0, ns}, {0, ns}}, NULL);
}

bool
go_interrupted(struct debugger *d)
{
	if (asked) {
		asked = 0;
		d->interrupted |= packet_interrupt(&d->c) || by_signal;
	}
	return d->interrupted;
}

/* ---- conditions ---- */

struct hop
hop_of(const struct condition *c, uint64_t count)
{
	return (struct hop){.kind = c->watch ? HOP_WATCH : HOP_BREAK, .reads = c->reads, .only_reads = c->only_reads, .at = c->at,
	                    .n = c->watch ? c->n : 0, .count = count, .expression = c->expression, .becomes = c->becomes};
}

/* A check sum of watched memory; bytes that cannot be read count as 0. */
uint64_t
go_memory(const struct debugger *d, uint64_t at, uint64_t n)
{
	const struct task *any = view_any(d);
	char *bytes = xcalloc(1, n + 1);
	uint64_t v;

	if (any)
		tracee_read_some(&any->t, at, bytes, n);
	v = bytes_sum(bytes, n);
	free(bytes);
	return v;
}

static uint64_t
value_of(const struct debugger *d, const struct condition *c)
{
	const struct task *any = view_any(d);

	if (c->becomes)
		return any && comparison_holds(c->becomes, &any->t);
	return go_memory(d, c->at, c->n);
}

/* Gives the condition some of the processor's slots, if there are enough from *next on. */
static void
give_slots(struct debugger *d, const struct tracee *t, struct condition *c, unsigned *next)
{
	uint64_t at = c->at, left = c->n;
	unsigned slot = *next;

	while (left && slot < t->machine->watches() && slot < STOPS) {
		uint64_t n = 8;

		while (n > left || at % n)
			n /= 2;
		if (!t->machine->watch(t->pid, slot, at, n, c->reads))
			break;
		d->watched[slot] = (struct watched){at, n, c->reads};
		c->slots |= 1u << slot++;
		at += n;
		left -= n;
	}
	if (left)
		c->slots = 0;
	else
		*next = slot;
}

/* Each thread has slots of its own: sets those of this one. */
static void
arm(struct debugger *d, struct tracee *t)
{
	if (t->armed == d->armed)
		return;
	for (unsigned i = 0; i < t->machine->watches(); i++)
		if (i < d->slots)
			t->machine->watch(t->pid, i, d->watched[i].at, d->watched[i].n, d->watched[i].reads);
		else
			t->machine->watch(t->pid, i, 0, 0, false);
	t->machine->watched(t->pid);
	t->armed = d->armed;
}

/* The conditions or the process have changed. */
static void
renew(struct debugger *d)
{
	struct task *any = view_any(d);
	unsigned next = 0;

	d->armed++;
	guard_reset(d);
	for (size_t i = 0; any && i < d->condition.n; i++) {
		struct condition *c = &d->condition.at[i];

		c->slots = 0;
		if (!c->watch)
			continue;
		c->old = value_of(d, c);
		for (size_t j = 0; j < i; j++)
			if (d->condition.at[j].watch && d->condition.at[j].at == c->at && d->condition.at[j].n == c->n &&
			    d->condition.at[j].reads == c->reads)
				c->slots = d->condition.at[j].slots;
		if (!c->slots)
			give_slots(d, &any->t, c, &next);
	}
	d->slots = next;
}

void
go_conditions(struct debugger *d, bool user, const struct hop *h)
{
	d->condition.n = 0;
	for (size_t i = 0; user && i < d->user.n; i++) {
		VEC_PUSH(d->condition, d->user.at[i]);
		d->condition.at[i].hits = 0;
	}
	d->users = d->condition.n;
	go_hop(d, h);
}

void
go_hop(struct debugger *d, const struct hop *h)
{
	d->condition.n = d->users;
	if (h && (h->kind == HOP_BREAK || h->kind == HOP_WATCH))
		VEC_PUSH(d->condition, (struct condition){.watch = h->kind == HOP_WATCH, .reads = h->reads,
		                                          .only_reads = h->only_reads, .at = h->at, .n = h->n,
		                                          .expression = h->expression, .becomes = h->becomes});
	renew(d);
}

struct condition *
go_fired(struct debugger *d, bool watch)
{
	for (size_t i = 0; i < d->users; i++)
		if (d->condition.at[i].fired && d->condition.at[i].watch == watch)
			return &d->condition.at[i];
	return NULL;
}

/* Looks which conditions fire at this state. slots: those that the processor names. */
static bool
look(struct debugger *d, unsigned slots, bool compare)
{
	uint64_t pc = view_pc(d);
	bool any = false, now = view_now(d);

	for (size_t i = 0; i < d->condition.n; i++) {
		struct condition *c = &d->condition.at[i];
		if (!c->watch) {
			c->fired = now && c->at == pc && expression_holds(c->expression, d->r.t);
		} else {
			bool named = slots & c->slots, accessed = named || (c->accessed && !c->slots);

			c->fired = false;
			if (compare || !c->slots || named) {
				uint64_t value = value_of(d, c);

				/* A write that changes nothing is of no interest, and comparing does not see it. */
				if (value == c->old)
					c->fired = c->reads && accessed;
				else
					c->fired = !c->only_reads && (!c->becomes || value);
				c->old = value;
			}
			c->accessed = false;
		}
		c->hits += c->fired;
		any |= c->fired;
	}
	return any;
}

static bool
must_step(const struct debugger *d)
{
	for (size_t i = 0; i < d->condition.n; i++)
		if (d->condition.at[i].watch && !d->condition.at[i].slots)
			return true;
	return false;
}

static bool
is_break(const struct debugger *d, uint64_t pc)
{
	for (size_t i = 0; i < d->condition.n; i++)
		if (!d->condition.at[i].watch && d->condition.at[i].at == pc)
			return true;
	return false;
}

/* ---- breakpoints ---- */

/* Uses the processor as long as it has slots, because programs may read their own code. */
static void
put_breakpoint(struct debugger *d, uint64_t at)
{
	const struct machine_traced *machine = d->r.t->machine;

	for (size_t i = 0; i < d->nput; i++)
		if (d->put[i].at == at)
			return;
	for (unsigned i = d->slots; i < d->stops; i++)
		if (d->stop[i] == at)
			return;
	if (d->stops < machine->watches() && d->stops < STOPS && machine->stop_at(d->r.t->pid, d->stops, at))
		d->stop[d->stops++] = at;
	else if (breakpoint_put(d->r.t, &d->put[d->nput], at))
		d->nput++;
}

static void
put_breakpoints(struct debugger *d)
{
	d->put = d->condition.n ? xcalloc(d->condition.n, sizeof *d->put) : NULL;
	d->nput = 0;
	d->stops = d->slots;
	for (int loader = 1; loader >= 0; loader--)
		for (size_t i = 0; i < d->condition.n; i++) {
			uint64_t at = d->condition.at[i].at;

			if (!d->condition.at[i].watch && (at - d->loader < LOADER) == loader)
				put_breakpoint(d, at);
		}
}

static void
take_breakpoints(struct debugger *d)
{
	while (d->stops > d->slots && d->r.t->pid)
		d->r.t->machine->watch(d->r.t->pid, --d->stops, 0, 0, false);
	while (d->nput && d->r.t->pid)
		breakpoint_take(d->r.t, &d->put[--d->nput]);
	free(d->put);
	d->put = NULL;
}

/* ---- going ---- */

static enum stop
halt(struct debugger *d, enum moved why)
{
	d->why = why;
	return STOP_HALT;
}

/* Is the program to be stopped, if it goes on by this request? */
static bool
halts(int request)
{
	return (due || asked) && request == PTRACE_SYSEMU;
}

/* Runs to a stop that the program has caused, or to one by stop_running(). The latter is never between an instruction and its
 * signal: a copy of the program would not have that signal, and would miss a breakpoint. */
static enum stop
go(struct tracee *t, int request)
{
	siginfo_t info;
	bool pends = false;

	for (;;) {
		enum stop stop;

		running = t->pid;
		if (halts(request) && !pends)
			ptrace(PTRACE_INTERRUPT, running, 0, 0);
		if (request == PTRACE_SYSEMU_SINGLESTEP)
			count_step();
		else
			begin_slice();
		stop = tracee_go(t, request, 0);
		running = 0;
		pends = stop == STOP_GROUP && tracee_signal_pends(t);
		if (stop == STOP_CALL || stop == STOP_ENDED || (stop == STOP_GROUP && halts(request) && !pends) ||
		    (stop == STOP_SIGNAL && !ptrace(PTRACE_GETSIGINFO, t->pid, 0, &info) && tracee_caused(tracee_signal(t), &info)))
			return stop;
	}
}

/* Is the stop one of the debugger's own steps, breakpoints or watched accesses? */
static bool
is_own(const struct tracee *t, enum stop stop)
{
	siginfo_t info;

	return stop == STOP_SIGNAL && tracee_signal(t) == SIGTRAP && !ptrace(PTRACE_GETSIGINFO, t->pid, 0, &info) &&
	       (info.si_code == TRAP_TRACE || info.si_code == TRAP_HWBKPT || info.si_code == TRAP_BRKPT);
}

/* The slots by which the processor has stopped the program. */
static unsigned
slots_of(struct debugger *d)
{
	for (size_t i = 0; i < d->condition.n; i++)
		if (d->condition.at[i].slots)
			return d->r.t->machine->watched(d->r.t->pid);
	return 0;
}

/* The same at a stop that is no step. In a virtual machine the processor now and then does not say which slot it was; then it may
 * have been any. */
static unsigned
slots_at_stop(struct debugger *d)
{
	unsigned slots = slots_of(d);

	return slots || is_break(d, tracee_word(d->r.t, d->r.t->machine->pc)) ? slots : UINT_MAX;
}

/* After a step: slots that have not been named, though the instruction accesses their memory. If the processor says nothing at all,
 * not even that it was a step, the kernel takes it for another kind of trap. */
static unsigned
slots_unnamed(const struct debugger *d)
{
	siginfo_t info;
	unsigned slots = 0;

	if (ptrace(PTRACE_GETSIGINFO, d->r.t->pid, 0, &info) || info.si_code != TRAP_BRKPT)
		return 0;
	for (size_t i = 0; i < d->condition.n; i++)
		slots |= d->condition.at[i].accessed ? d->condition.at[i].slots : 0;
	return slots;
}

/* The processor may not watch a condition's memory, or not say so: does the next instruction access it? */
static void
foresee_accesses(struct debugger *d)
{
	struct tracee *t = d->r.t;
	uint8_t bytes[16];
	size_t n = 0;

	for (size_t i = 0; i < d->condition.n; i++) {
		struct condition *c = &d->condition.at[i];

		if (!c->reads)
			continue;
		if (!n)
			n = tracee_read_some(t, tracee_word(t, t->machine->pc), bytes, sizeof bytes);
		c->accessed = t->machine->accesses(bytes, n, &t->regs, c->at, c->n);
	}
}

static bool
is_aside(const struct tracee *t)
{
	return tracee_word(t, t->machine->pc) - t->aside < t->aside_size;
}

/* Steps out of the code of a countdown. False: something else has stopped the program there. */
static bool
leave_aside(struct tracee *t, enum stop *stop)
{
	while (is_aside(t)) {
		enum stop at = go(t, PTRACE_SYSEMU_SINGLESTEP);

		if (is_own(t, at))
			continue;
		*stop = at;
		return false;
	}
	return true;
}

/* Steps one instruction, or all that a countdown executes in place of some. *fired: conditions fire at the state after it. */
static enum stop
step(struct debugger *d, bool *fired)
{
	struct tracee *t = d->r.t;
	uint8_t bytes[2];
	unsigned slots;
	bool read = tracee_read(t, tracee_word(t, t->machine->pc), bytes, sizeof bytes);
	enum stop stop;

	*fired = false;
	foresee_accesses(d);
	stop = go(t, PTRACE_SYSEMU_SINGLESTEP);
	if (!is_own(t, stop))
		return stop;
	if (read)
		tracee_hide_step(t, bytes);
	if (!leave_aside(t, &stop))
		return stop;
	slots = slots_of(d);
	*fired = look(d, slots ? slots : slots_unnamed(d), true);
	return stop;
}

/* Runs with breakpoints. STOP_HALT: a breakpoint was hit, memory was written, or the time is over. *steps: it has to be stepped
 * from here on. */
static enum stop
run(struct debugger *d, bool *steps)
{
	struct tracee *t = d->r.t;

	*steps = false;
	for (;;) {
		enum stop stop;
		bool hit = false, watched;

		put_breakpoints(d);
		stop = go(t, PTRACE_SYSEMU);
		watched = is_own(t, stop);
		for (size_t i = 0; i < d->nput && !hit && !watched; i++)
			hit = breakpoint_hit(t, &d->put[i], stop);
		take_breakpoints(d);
		*steps = guard_hit(d, stop);
		guard_take(d);
		if (*steps)
			return stop;
		if ((stop == STOP_GROUP || watched) && !leave_aside(t, &stop))
			return stop;
		if (!hit && !watched && stop != STOP_GROUP)
			return stop;
		/* Interrupted at a breakpoint, the program would go on past it: so conditions are looked at first. */
		if (look(d, watched ? slots_at_stop(d) : slots_of(d), watched))
			return halt(d, MOVED_HIT);
		if (stop == STOP_GROUP)
			return halt(d, due ? MOVED_SLICE : MOVED_ASKED);
		/* The condition of this breakpoint does not hold. */
		if (is_break(d, tracee_word(t, t->machine->pc))) {
			bool fired;

			stop = step(d, &fired);
			if (!is_own(t, stop))
				return stop;
			if (fired)
				return halt(d, MOVED_HIT);
		}
		*steps = must_step(d);
		if (*steps)
			return stop;
	}
}

/* Steps once, or until the program need not be stepped. False: something has come first, *stop. */
static bool
step_on(struct debugger *d, bool one, enum stop *stop)
{
	bool fired;

	do {
		if (!one && must_step(d))
			guard_step(d);
		*stop = step(d, &fired);
		if (!is_own(d->r.t, *stop))
			return false;
		if (fired || d->stepping)
			*stop = halt(d, d->stepping ? MOVED_STEP : MOVED_HIT);
		else if ((due || asked) && !one)
			*stop = halt(d, due ? MOVED_SLICE : MOVED_ASKED);
		if (*stop == STOP_HALT)
			return false;
	} while (!one && must_step(d) && !guard_put(d));
	return true;
}

/* Finds the loader again if the process now runs another program than at the last look. */
static void
find_loader(struct debugger *d, const struct task *t)
{
	if (d->loader && d->loaded == t->group->programs)
		return;
	d->loader = loader_of(&t->t);
	d->loaded = t->group->programs;
}

/* May a countdown run? It executes some instructions at another place, so nobody may have a breakpoint at these. What they write is
 * seen when the program has left that place. */
static bool
admits(struct tracee *t, const struct countdown *count)
{
	const struct debugger *d = t->of;

	if (d->stepping)
		return false;
	for (size_t i = 0; i < d->condition.n; i++) {
		const struct condition *c = &d->condition.at[i];

		if (c->watch ? c->reads || countdown_hides_writes(count, t) : countdown_hides(count, c->at))
			return false;
	}
	return true;
}

/* tracee_go_own() calls this. */
static enum stop
own(struct tracee *t, int request)
{
	struct debugger *d = t->of;
	bool one = d->stepping || request == PTRACE_SYSEMU_SINGLESTEP, steps;
	enum stop stop;

	if (!view_now(d)) {
		stop = go(t, request);
		if (stop == STOP_GROUP)
			leave_aside(t, &stop);
		return stop == STOP_GROUP ? halt(d, due ? MOVED_SLICE : MOVED_ASKED) : stop;
	}
	find_loader(d, d->r.task);
	arm(d, t);
	/* gdb has already seen the breakpoint at which the program stands. */
	guard_begin(d);
	steps = one || must_step(d) || is_break(d, tracee_word(t, t->machine->pc));
	do {
		if (steps && !step_on(d, one, &stop))
			return stop;
		if (one)
			return stop;
		stop = run(d, &steps);
	} while (steps);
	return stop;
}

void
go_hook(struct debugger *d)
{
	d->r.t->own = own;
	d->r.t->admits = admits;
	d->r.t->of = d;
}

enum moved
go_move(struct debugger *d, bool one)
{
	enum replay_way way;

	d->stepping = one;
	for (size_t i = 0; i < d->condition.n; i++)
		d->condition.at[i].fired = false;
	d->before = d->r.event;
	do {
		if (d->undo && go_interrupted(d))
			return MOVED_LOST;
		/* A single step would show that code with timers is made to ask. */
		d->r.steady = one && view_now(d);
		way = replayer_next(&d->r);
	} while ((way == REPLAY_WENT && !view_now(d)) ||
	         (way == REPLAY_HALTED && d->why == MOVED_ASKED && !go_interrupted(d)));
	if (way == REPLAY_HALTED && d->why == MOVED_ASKED)
		return d->undo ? MOVED_LOST : MOVED_SLICE;
	if (way == REPLAY_HALTED)
		return d->why;
	if (way == REPLAY_OVER)
		return d->r.ended && !d->r.failed ? MOVED_END : MOVED_LOST;
	if (look(d, 0, true))
		return one ? MOVED_STEP : MOVED_HIT;
	return one ? MOVED_STEP : MOVED_ON;
}
