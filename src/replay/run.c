/* SPDX-License-Identifier: MIT */
/* Replaying: the program runs, but none of its system calls is made except for those that arrange its memory. Each gets the result
 * and the written memory that were recorded. At each stop the program has to be where it was in the recording. */
#include "replay/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* ---- instructions, signals, the end ---- */

static void
replay_nondeterministic(struct replayer *r)
{
	enum stop stop = replayer_go_on(r);
	struct nondet_result result;
	uint8_t bytes[NONDET_BYTES];
	uint64_t before;
	size_t n;

	if (replayer_halts(r, stop))
		return;
	log_get(r->log);
	before = log_get(r->log);
	result.value = log_get(r->log);
	result.more = log_get(r->log);
	n = stop == STOP_SIGNAL ? nondet_here(r->task, bytes) : 0;
	if (!n || before != buffer_sum(r->task)) {
		replayer_diverged(r, "an instruction that reads the time or gives a random number", stop_text(r, stop));
		return;
	}
	r->t->machine->nondet_give(&r->t->regs, bytes, n, &result);
	tracee_set(r->t, &r->t->regs);
}

/* Begins the handler: its frame and registers are as the kernel made them in the recording. */
static void
begin_handler(struct replayer *r)
{
	struct str regs = log_get_bytes(r->log, r->pool), state = log_get_bytes(r->log, r->pool);
	uint64_t at = log_get(r->log);
	struct str frame = log_get_bytes(r->log, r->pool);
	struct traced_regs now;

	if (log_failed(r->log))
		return;
	if (regs.n != sizeof now || !tracee_write(r->t, at, frame.at, frame.n)) {
		replayer_diverged(r, "the beginning of a signal's handler", "no room for it");
		return;
	}
	memcpy(&now, regs.at, sizeof now);
	if (state.n && !r->t->machine->set_state(r->t->pid, state.at, state.n))
		replayer_diverged(r, "the state of vectors in a handler", strerror(errno));
	tracee_set(r->t, &now);
	r->task->again = false;
	tally_signal(r->tally, r->task);
}

/* Runs to a signal whose state needs no clock: the program caused it, or it came at a stop or at the beginning of a system call. */
static void
signal_at_stop(struct replayer *r, int sig, uint64_t before)
{
	bool at = !r->resumed && before == buffer_sum(r->task) && buffer_is_given(r->task);
	enum stop stop = at ? STOP_CALL : replayer_go_on(r);

	if (replayer_halts(r, stop))
		return;
	if (!at && stop == STOP_CALL)
		replayer_make_again(r);
	if (stop == STOP_ENDED || before != buffer_sum(r->task) || (stop == STOP_SIGNAL && tracee_signal(r->t) != sig))
		replayer_diverged(r, pool_printf(r->pool, "signal %d (%s)", sig, strsignal(sig)), stop_text(r, stop));
}

/* How carefully to run to the state of this event; *at: where that is noted. */
static unsigned
care_of(struct replayer *r, struct careful **at)
{
	for (size_t i = 0; i < r->careful.n; i++)
		if (r->careful.at[i].event == r->event) {
			*at = &r->careful.at[i];
			return (*at)->care;
		}
	VEC_PUSH(r->careful, (struct careful){r->event, 0});
	*at = &r->careful.at[r->careful.n - 1];
	return 0;
}

/* Runs to a state that the clock names. what: the event that comes there, for messages. */
static void
run_to_state(struct replayer *r, const char *what, uint64_t sum)
{
	struct state s = {.sum = sum};
	struct careful *c = NULL;
	unsigned care = r->steady ? CARE_STEADY : r->t->own ? CARE_MOST : care_of(r, &c);
	enum reach reach;
	enum stop stop;

	s.pc = log_get(r->log);
	s.count = log_get(r->log);
	if (log_failed(r->log))
		return;
	replayer_go_back(r);
	reach = state_reach(r->t, r->clock, &s, care, &stop);
	if (reach != REACH_THERE && replayer_halts(r, stop))
		return;
	if (reach == REACH_PAST && c && c->care < CARE_MOST) {
		c->care++;
		r->again = true;
	} else if (reach != REACH_THERE) {
		replayer_diverged(r, pool_printf(r->pool, "%s at pc 0x%" PRIx64 ", clock %" PRIu64, what, s.pc, s.count),
		         stop_text(r, stop));
	}
}

/* Runs to a state of a loop that changes nothing. */
static void
run_to_loop(struct replayer *r, uint64_t sum, uint64_t steps)
{
	struct spin_state s = {.pc = log_get(r->log), .sum = sum, .steps = steps < SPIN_MOST ? (unsigned)steps : SPIN_MOST};
	enum reach reach;
	enum stop stop;

	if (log_failed(r->log))
		return;
	replayer_go_back(r);
	reach = spin_reach(r->t, &s, &stop);
	if (reach != REACH_THERE && !replayer_halts(r, stop))
		replayer_diverged(r, pool_printf(r->pool, "a loop that changes nothing, at pc 0x%" PRIx64, s.pc),
		                  stop_text(r, stop));
}

/* The task's turn ends where it makes no call. */
static void
replay_switch(struct replayer *r)
{
	uint64_t sum, steps;

	log_get(r->log);
	sum = log_get(r->log);
	steps = log_get(r->log);
	if (steps)
		run_to_loop(r, sum, steps);
	else
		run_to_state(r, "the end of its turn", sum);
}

static void
replay_signal(struct replayer *r)
{
	uint64_t before;
	int sig;

	log_get(r->log);
	sig = (int)log_get(r->log);
	before = log_get(r->log);
	if (log_get(r->log))
		run_to_state(r, pool_printf(r->pool, "signal %d (%s)", sig, strsignal(sig)), before);
	else
		signal_at_stop(r, sig, before);
	if (!r->failed && !r->again && !r->halted)
		begin_handler(r);
}

/* ---- threads, processes, programs ---- */

static void
damaged(struct replayer *r, const char *why)
{
	if (!log_failed(r->log) && !r->failed)
		say_error(log_name(r->log), "it is damaged: %s", why);
	r->failed = true;
}

void
replayer_become(struct replayer *r, struct task *task)
{
	r->task = task;
	r->t = task ? &task->t : NULL;
	r->clock = task ? task->group->space->clock : NULL;
	if (task)
		clock_follow(r->clock, r->t);
}

/* Another task goes on. */
static void
replay_task(struct replayer *r)
{
	struct task *task;

	log_get(r->log);
	if (r->task)
		r->task->left = r->event;
	if (r->tally && r->task)
		tally_count(r->tally, r->task, clock_sum(r->clock));
	task = tasks_numbered(&r->all, log_get(r->log));
	if (task && task->state != TASK_ENDED)
		replayer_become(r, task);
	else
		damaged(r, "there is no such thread");
}

/* The task to which the events belonged has ended. */
static void
go_to_next(struct replayer *r)
{
	replayer_become(r, NULL);
	if (log_peek(r->log) == LOG_TASK)
		replay_task(r);
	else
		damaged(r, "nobody goes on");
}

/* Makes the new task, at the place where the kernel lets it begin. It shares with its parent what it shared; the rest is in the
 * log. */
static bool
make_task(struct replayer *r, const struct birth *b, struct tracee *t)
{
	const struct machine_traced *machine = r->t->machine;
	uint64_t flags = b->flags & (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM);
	int64_t tid = tracee_call(r->t, SYS_clone, (uint64_t [6]){flags & CLONE_THREAD ? flags : flags | CLONE_PARENT});

	if (tid <= 0 || !tracee_join(t, (pid_t)tid, machine, NULL)) {
		say_error("replay", "a thread or process cannot be begun: %s", tid < 0 ? strerror((int)-tid) : "it is no more");
		r->failed = true;
		return false;
	}
	t->own = r->t->own;
	t->admits = r->t->admits;
	t->of = r->t->of;
	t->store = r->t->store;
	t->makes = r->t->makes;
	t->regs = r->t->regs;
	t->regs.word[machine->result] = 0;
	if (b->stack)
		t->regs.word[machine->sp] = b->stack;
	if (b->flags & CLONE_SETTLS)
		t->regs.word[machine->tls] = b->tls;
	return tracee_set(t, &t->regs);
}

static void
replay_birth(struct replayer *r)
{
	struct birth b = {0};
	struct task *parent = r->task;
	struct tracee t;
	uint64_t sum;

	log_get(r->log);
	b.flags = log_get(r->log);
	b.stack = log_get(r->log);
	b.tls = log_get(r->log);
	sum = log_get(r->log);
	if (log_failed(r->log) || !make_task(r, &b, &t))
		return;
	replayer_put_memory(r);
	replayer_become(r, tasks_born(&r->all, parent, &b, &t));
	if (sum != buffer_sum(r->task))
		replayer_diverged(r, "a thread that begins", stop_text(r, STOP_CALL));
	replayer_put_memory(r);
	replayer_become(r, parent);
}

static void
replay_end(struct replayer *r)
{
	bool first = r->task->tid == r->task->group->pid;

	if (!run_to_call(r))
		return;
	replayer_put_memory(r);
	if (r->task->made.number != SYS_exit || r->task->group->living < 2) {
		damaged(r, "a thread ends that does not");
		return;
	}
	/* The first thread of a process stays, and does nothing more. */
	if (!first && tracee_make(r->t, SYS_exit, (uint64_t [6]){0}))
		bug("a thread goes on behind its end");
	task_end(&r->all, r->task);
	go_to_next(r);
}

/* A process that ended by itself does so again. */
static bool
run_to_exit(struct replayer *r, int status)
{
	enum stop stop = replayer_go_on(r);
	struct made_call *m = &r->task->made;

	if (replayer_halts(r, stop))
		return false;
	get_made(r, m);
	if (stop != STOP_CALL || m->number != tracee_word(r->t, r->t->machine->number) || m->arg[0] != tracee_arg(r->t, 0))
		replayer_diverged(r, pool_printf(r->pool, "the end with status %d", WEXITSTATUS(status)), stop_text(r, stop));
	else
		same_call(r, m, stop);
	return !r->failed && !log_failed(r->log);
}

/* Where a signal ended a process is not known. If a debugger looks on, the process goes to the instruction that may have caused the
 * signal. */
static bool
run_to_death(struct replayer *r, int status)
{
	bool caused = WIFSIGNALED(status) && tracee_caused(WTERMSIG(status), &(siginfo_t){.si_code = 1});

	return !r->t->own || !caused || r->task->in_call || !replayer_halts(r, replayer_go_on(r));
}

static bool
is_last(const struct replayer *r, const struct group *g)
{
	for (size_t i = 0; i < r->all.at.n; i++)
		if (r->all.at.at[i]->group != g)
			return false;
	return true;
}

static void
replay_exit(struct replayer *r)
{
	struct group *g = r->task->group;
	int status;

	log_get(r->log);
	status = (int)log_get(r->log);
	if (!(log_get(r->log) ? run_to_exit : run_to_death)(r, status))
		return;
	replayer_put_memory(r);
	if (r->view ? g->number == r->view : g->first)
		r->status = status;
	/* The process stays as it is, for the debugger. */
	if (r->view && g->number == r->view) {
		r->ended = true;
		return;
	}
	if (!is_last(r, g)) {
		group_kill(&r->all, g);
		group_end(&r->all, g);
		go_to_next(r);
		return;
	}
	r->ended = log_at_end(r->log);
	if (!r->ended)
		damaged(r, "there is more behind its end");
}

static void
replay_exec(struct replayer *r)
{
	struct task *task = r->task;
	struct tracee t = {.mem = -1};

	if (!run_to_call(r))
		return;
	if (task->made.call.class != CALL_EXEC) {
		damaged(r, "a program begins that does not");
		return;
	}
	if (!start_replay(r->log, r->whole, &t)) {
		tracee_close(&t);
		r->failed = true;
		return;
	}
	t.own = task->t.own;
	t.admits = task->t.admits;
	t.of = task->t.of;
	group_kill(&r->all, task->group);
	tracee_close(&task->t);
	task->t = t;
	group_leave_to(&r->all, task);
	task_renew(task);
	task->group->programs++;
	task->group->program_at = r->event;
	task->name[0] = 0;
	replayer_become(r, task);
}

/* Says it once, though a debugger may come by again, and a replay may begin again. */
static void
tell_gone(struct replayer *r, uint64_t process)
{
	for (size_t i = 0; i < r->gone.n; i++)
		if (r->gone.at[i] == process)
			return;
	VEC_PUSH(r->gone, process);
	say_warning(log_name(r->log), "process %" PRIu64 " was not recorded any further: what it printed is missing from here on",
	            process);
}

/* The process makes a call that could not be recorded, and went on alone. */
static void
replay_gone(struct replayer *r)
{
	struct group *g = r->task->group;

	if (g->first) {
		damaged(r, "the program itself goes on alone");
		return;
	}
	if (!run_to_call(r))
		return;
	tell_gone(r, g->number);
	if (r->view == g->number) {
		r->ended = true;
		return;
	}
	group_kill(&r->all, g);
	group_end(&r->all, g);
	replayer_become(r, NULL);
	if (log_at_end(r->log))
		r->ended = true;
	else
		go_to_next(r);
}

/* An instruction traps from here on. */
static void
replay_replaced(struct replayer *r)
{
	uint64_t at;

	log_get(r->log);
	at = log_get(r->log);
	if (!log_failed(r->log) && !nondet_replace(r->task, at))
		damaged(r, "there is no instruction whose result is in it");
}

/* ---- calls without a stop ---- */

static void
replay_syscallbuf(struct replayer *r)
{
	uint64_t base;

	log_get(r->log);
	base = log_get(r->log);
	if (!log_failed(r->log) && !buffer_make(r->task, base, r->apart))
		damaged(r, "there is no room for calls without a stop");
}

static void
replay_site(struct replayer *r)
{
	struct site_way way = {0};
	uint64_t site, n;

	log_get(r->log);
	site = log_get(r->log);
	n = log_get(r->log);
	for (way.n = 0; way.n < n && way.n < SITE_HOPS; way.n++) {
		way.pad[way.n].addr = log_get(r->log);
		way.pad[way.n].n = log_get(r->log);
	}
	if (!log_failed(r->log) && (n > SITE_HOPS || !buffer_lead(r->task, site, &way)))
		damaged(r, "there is no such call");
}

/* Reads one call without a stop, and what it has written, and puts it after those before it. Returns its place in r->given. */
static size_t
get_free(struct replayer *r)
{
	struct syscallbuf_entry e = {0};
	size_t at = r->given.n;

	log_get(r->log);
	e.number = log_get(r->log);
	e.at = log_get(r->log);
	for (int i = 0; i < 6; i++)
		e.arg[i] = log_get(r->log);
	e.result = (int64_t)log_get(r->log);
	e.to = log_get(r->log);
	buf_add(&r->given, &e, sizeof e);
	e.n = log_get_into(r->log, &r->given);
	e.size = sizeof e + (e.n + 7) / 8 * 8;
	buf_add(&r->given, (char [8]){0}, e.size - sizeof e - e.n);
	memcpy(r->given.at + at, &e, sizeof e);
	return at;
}

/* Makes a call that arranges memory, or does output. */
static void
make_free(struct replayer *r, const struct syscallbuf_entry *e)
{
	struct made_call m = {.number = e->number, .result = e->result};

	memcpy(m.arg, e->arg, sizeof m.arg);
	m.call = call_of(r->pool, m.number, m.arg);
	if (is_output(e->number)) {
		replay_output(r, &m);
		return;
	}
	if (!succeeded(e->result))
		return;
	if (e->number != SYS_mmap) {
		make_call(r, &m, m.arg);
		return;
	}
	clock_mapped(r->clock, (uint64_t)e->result, e->arg[1]);
	r->failed |= !map_nothing(r->t, e->arg, (uint64_t)e->result);
}

/* The program has stopped at a call: gives it the result of the entry at that place. */
static void
give_free(struct replayer *r, enum stop stop, size_t at)
{
	const struct syscallbuf_entry *e = (const struct syscallbuf_entry *)(const void *)(r->given.at + at);
	struct tracee *t = r->t;
	bool same = stop == STOP_CALL && tracee_own_call(t) && e->number == tracee_word(t, t->machine->number) &&
	            e->at == buffer_place(r->task) && buffer_is_given(r->task);

	for (int i = 0; same && i < 6; i++)
		same = e->arg[i] == tracee_arg(t, i);
	if (!same || (e->n && !tracee_write(t, e->to, e + 1, e->n))) {
		replayer_diverged(r, call_text(r->pool, e->number, e->arg), stop_text(r, stop));
		return;
	}
	tally_call(r->tally, r->task, clock_sum(r->clock));
	if (arranges_memory(e->number) || is_output(e->number))
		make_free(r, e);
	if (r->failed)
		return;
	t->regs.word[t->machine->result] = (uint64_t)e->result;
	tracee_set(t, &t->regs);
}

/* Gives the program all entries that follow, up to one that has to be made. The program takes them without a stop. */
static void
give_all(struct replayer *r)
{
	uint64_t clock = clock_sum(r->clock);
	bool fits = true;
	size_t last;

	do {
		const struct syscallbuf_entry *e;

		last = get_free(r);
		e = (const struct syscallbuf_entry *)(const void *)(r->given.at + last);
		fits = r->given.n <= SBUF_RING && !arranges_memory(e->number) && !is_output(e->number);
		if (!fits)
			break;
		tally_call(r->tally, r->task, clock);
		r->event++;
	} while (!log_failed(r->log) && log_peek(r->log) == LOG_FREE);
	/* The caller counts the last one. */
	r->event -= fits;
	if (!log_failed(r->log) && !buffer_give(r->task, r->given.at, fits ? r->given.n : last))
		damaged(r, "there is no room for what calls gave");
	if (!fits && !r->failed && !log_failed(r->log))
		give_free(r, replayer_go_on(r), last);
}

static void
replay_free(struct replayer *r)
{
	enum stop stop;
	size_t at;

	r->given.n = 0;
	if (buffer_takes(r->task)) {
		give_all(r);
		return;
	}
	stop = replayer_go_on(r);
	if (replayer_halts(r, stop))
		return;
	at = get_free(r);
	if (!log_failed(r->log))
		give_free(r, stop, at);
}

typedef void event_fn(struct replayer *r);

struct event {
	event_fn *come;
	bool in_call, outside;   /* may it come between the two ends of a call, or elsewhere */
};

static const struct event events[LOG_MOST] = {
	[LOG_CALL] = {replay_call, false, true}, [LOG_ENTER] = {replay_enter, false, true},
	[LOG_LEAVE] = {replay_leave, true, false}, [LOG_BIRTH] = {replay_birth, true, false},
	[LOG_EXEC] = {replay_exec, false, true}, [LOG_END] = {replay_end, false, true}, [LOG_EXIT] = {replay_exit, true, true},
	[LOG_NONDET] = {replay_nondeterministic, false, true}, [LOG_SIGNAL] = {replay_signal, false, true},
	[LOG_SWITCH] = {replay_switch, false, true}, [LOG_SYSCALLBUF] = {replay_syscallbuf, false, true},
	[LOG_SITE] = {replay_site, false, true}, [LOG_FREE] = {replay_free, false, true},
	[LOG_REPLACED] = {replay_replaced, false, true}, [LOG_GONE] = {replay_gone, false, true},
};

static void
replay_event(struct replayer *r)
{
	enum log_event kind = log_peek(r->log);
	const struct event *e = kind < LOG_MOST ? &events[kind] : &events[0];

	if (kind == LOG_TASK)
		replay_task(r);
	else if (r->task && e->come && (r->task->in_call ? e->in_call : e->outside))
		e->come(r);
	else
		damaged(r, "there is no such event");
}

bool
replayer_begin(struct replayer *r, const char *log)
{
	struct tracee t = {.mem = -1};
	uint64_t seed;

	tally_clear(r->tally);
	r->whole = pool_new();
	r->log = log_open(log);
	r->mapped = (struct mapped){.pool = r->whole, .apart = r->apart, .lonely = r->lonely};
	r->all = (struct tasks){0};
	r->event = 0;
	r->again = r->resumed = false;
	r->passed[1] = r->passed[2] = 0;
	if (r->log && log_scope(log) == LOG_SIGNALS_ONLY) {
		say_error(log, "only its signals have been recorded: it can be replayed as a whole, and not otherwise");
		return false;
	}
	if (!r->log)
		return false;
	bind_begin();
	if (log_get(r->log) != LOG_START)
		damaged(r, "it does not begin with a program");
	log_get_seed(r->log, &seed);
	if (r->failed || !start_replay(r->log, r->whole, &t)) {
		tracee_close(&t);
		return false;
	}
	raise_descriptors(); /* each traced task needs one */
	replayer_become(r, tasks_begin(&r->all, &t));
	r->task->group->first = true;
	return true;
}

enum replay_way
replayer_next(struct replayer *r)
{
	uint64_t at = log_tell(r->log);

	r->halted = false;
	r->pool = pool_new();
	replay_event(r);
	pool_free(r->pool);
	r->pool = NULL;
	r->event += r->ended;
	if (r->failed || r->ended || r->again || log_failed(r->log))
		return REPLAY_OVER;
	r->resumed = r->halted;
	if (r->halted)
		return log_seek(r->log, at) ? REPLAY_HALTED : REPLAY_OVER;
	r->event++;
	return REPLAY_WENT;
}

void
replayer_end(struct replayer *r)
{
	tasks_close(&r->all);
	replayer_become(r, NULL);
	mapped_close(&r->mapped);
	log_close(r->log);
	r->log = NULL;
	pool_free(r->whole);
	r->whole = NULL;
}

void
replayer_forget(struct replayer *r)
{
	free(r->careful.at);
	free(r->lonely.at);
	free(r->gone.at);
	buf_free(&r->given);
}

/* False: the log cannot be used. */
static bool
attempt(struct replayer *r, const char *log)
{
	if (replayer_begin(r, log))
		while (replayer_next(r) != REPLAY_OVER)
			;
	replayer_end(r);
	return r->ended && !r->failed;
}

bool
replay_run(const char *log, bool tally, int *status)
{
	struct replayer r = {0};
	bool ok;

	if (log_scope(log) == LOG_SIGNALS_ONLY && tally) {
		say_error(log, "only its signals have been recorded: what its threads made is not known");
		return false;
	}
	if (log_scope(log) == LOG_SIGNALS_ONLY)
		return signals_replay(log, status);
	r.tally = tally ? tally_new() : NULL;
	ok = attempt(&r, log);
	while (r.again)
		ok = attempt(&r, log);
	*status = r.status;
	if (ok && tally)
		tally_print(r.tally, log);
	tally_free(r.tally);
	replayer_forget(&r);
	return ok;
}
