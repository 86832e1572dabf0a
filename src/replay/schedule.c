/* SPDX-License-Identifier: MIT */
/* Which task runs: one at a time, until it waits in the kernel, or until its turn is over and it is in a state that the log can
 * name. */
#include "replay/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

/* In ticks. A turn is over after TURN at a system call. In code that makes no calls, and that a replay needs long to get to, it is
 * over after TIMED_TURN with timers and LONG_TURN without. PATIENCE: how long signals may wait, and other tasks for a task that
 * stays in a loop. LAST_PATIENCE: how long others may wait for a task that computes. Signals may wait longer on a busy machine:
 * until their process has had PATIENCE_NS of the processors' time. */
enum { TICK_US = 5000, CHAOS_TICK_US = 500, TURN = 2, TIMED_TURN = 8, LONG_TURN = 100, PATIENCE = 400, LAST_PATIENCE = 12000 };
#define PATIENCE_NS ((uint64_t)PATIENCE * TICK_US * 1000)

/* ---- time ---- */

static volatile sig_atomic_t ticks;

static void
count_tick(int sig)
{
	(void)sig;
	ticks++;
}

/* A tick interrupts waitpid(), and must not restart it. If a tick comes just before waitpid(), the next one interrupts it. */
static void
set_ticking(struct schedule *s, bool wanted)
{
	long us = !wanted ? 0 : s->chaos ? CHAOS_TICK_US : TICK_US;
	struct itimerval often = {{0, us}, {0, us}};

	if (s->ticking == wanted)
		return;
	s->ticking = wanted;
	tracer_catch(SIGALRM, count_tick, 0);
	setitimer(ITIMER_REAL, &often, NULL);
}

void
schedule_hurry(struct schedule *s)
{
	set_ticking(s, true);
	s->now->waits = true;
	s->now->held_at = (unsigned)ticks;
	s->now->held_cpu = tracee_cpu(s->now->group->pid);
	s->look = 1;
}

static bool
have_passed(const struct schedule *s, unsigned since, unsigned n)
{
	return (unsigned)ticks - since >= (s->chaos ? n * (TICK_US / CHAOS_TICK_US) : n);
}

bool
schedule_impatient(const struct schedule *s)
{
	uint64_t cpu;

	if (!s->now->waits || !have_passed(s, s->now->held_at, PATIENCE))
		return false;
	cpu = tracee_cpu(s->now->group->pid);
	return !cpu || cpu - s->now->held_cpu >= PATIENCE_NS;
}

/* ---- news ---- */

static bool
can_run(const struct task *t)
{
	const struct task *midway = t->group->space->midway;

	return (t->state == TASK_READY || t->state == TASK_STOPPED) && (!midway || midway == t);
}

static bool
others_can_run(const struct schedule *s)
{
	for (size_t i = 0; i < s->all->at.n; i++)
		if (s->all->at.at[i] != s->now && can_run(s->all->at.at[i]))
			return true;
	return false;
}

enum news { NEWS_NONE, NEWS_TICK, NEWS_SOME };

/* The task that a stop belongs to. A thread that runs another program gets the number of its process's first thread. */
static struct task *
whose(struct schedule *s, pid_t tid, int status)
{
	struct task *t = tasks_of(s->all, tid), *began;
	unsigned long former;

	if (!t || !WIFSTOPPED(status) || status >> 16 != PTRACE_EVENT_EXEC || ptrace(PTRACE_GETEVENTMSG, tid, 0, &former))
		return t;
	began = tasks_of(s->all, (pid_t)former);
	if (!began || began == t)
		return t;
	t->t.pid = t->tid = 0;
	began->t.pid = began->tid = tid;
	return began;
}

void
schedule_heard(void *schedule, pid_t tid, int status)
{
	struct schedule *s = schedule;
	struct task *t = whose(s, tid, status);

	if (t) {
		tracee_stopped(&t->t, status);
		/* The kernel reports the end of a first thread when all threads of its process have ended. */
		if (t->state != TASK_ENDED)
			t->state = TASK_STOPPED;
	} else {
		VEC_PUSH(s->early, (struct early){tid, status});
	}
}

/* Takes over what the kernel reports of one task. how: a flag for waitpid(). */
static enum news
hear(struct schedule *s, int how)
{
	int status;
	pid_t tid = waitpid(-1, &status, __WALL | how);

	if (tid < 0 && errno == EINTR)
		return NEWS_TICK;
	if (tid <= 0)
		return NEWS_NONE;
	schedule_heard(s, tid, status);
	return NEWS_SOME;
}

bool
schedule_join(struct schedule *s, struct tracee *t, pid_t tid, const struct machine_traced *machine)
{
	const int *told = NULL;
	int status;
	bool lives;

	for (size_t i = 0; i < s->early.n && !told; i++)
		if (s->early.at[i].tid == tid) {
			status = s->early.at[i].status;
			told = &status;
			s->early.at[i] = s->early.at[--s->early.n];
		}
	lives = tracee_join(t, tid, machine, told);
	t->heard = schedule_heard;
	t->whom = s;
	return lives;
}

bool
schedule_hear(struct schedule *s)
{
	return hear(s, 0) != NEWS_NONE;
}

/* ---- running ---- */

/* Looks at the stop that has just been reported. */
static enum stop
take_stop(struct task *t)
{
	t->state = TASK_READY;
	return tracee_stop(&t->t);
}

/* No tracee is left, and the end of this one has not been reported. */
static enum stop
lost(struct task *t)
{
	t->state = TASK_READY;
	return tracee_stopped(&t->t, SIGKILL);
}

/* May others run while the call waits? They may not if they could see its effect before it is in the log. */
static bool
may_wait(const struct task *t)
{
	switch (t->made.call.class) {
	case CALL_GIVEN: case CALL_OUTPUT: case CALL_PASS: case CALL_RESUME: case CALL_UNKNOWN: return true;
	default: return false;
	}
}

/* Waits until something stops, but not for long. Giving up the processor instead could take as long as others on the machine want
 * it. */
static void
await_stop(void)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigtimedwait(&child, NULL, &(struct timespec){0, 50000});
}

/* Discards a signal that is pending for stops already taken over. A wait after this returns at the next stop. */
static void
forget_stops(void)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigtimedwait(&child, NULL, &(struct timespec){0});
}

void
schedule_begin(void)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	prctl(PR_SET_TIMERSLACK, 1);
}

/* Does the first thread of a process end while other threads live? The kernel keeps it then, and reports nothing. */
static bool
is_kept(const struct task *t)
{
	return t->made.call.class == CALL_END && t->made.number == SYS_exit && t->tid == t->group->pid && t->group->living > 1;
}

/* Does the task wait only for other tasks of the recording? Processes outside that map the same memory, and handlers of signals,
 * are not considered. */
static bool
waits_for_others(const struct task *t)
{
	int how = (int)t->made.arg[1] & FUTEX_CMD_MASK;

	if (t->state == TASK_ENDED)
		return true;
	if (t->state != TASK_WAITS || !t->in_call)
		return false;
	return t->made.number == SYS_wait4 || t->made.number == SYS_waitid ||
	       (t->made.number == SYS_futex && !t->made.arg[3] &&
	        (how == FUTEX_WAIT || how == FUTEX_WAIT_BITSET || how == FUTEX_LOCK_PI || how == FUTEX_LOCK_PI2));
}

/* Reports a deadlock, for instance threads that take two locks in different orders. Without Chord all would be silent, too. */
static void
check_deadlock(struct schedule *s, unsigned since)
{
	struct buf b = {0};
	bool all = true;

	if (s->told || !have_passed(s, since, PATIENCE / 2))
		return;
	for (size_t i = 0; i < s->all->at.n; i++) {
		const struct task *t = s->all->at.at[i];

		if (waits_for_others(t) && t->state == TASK_WAITS && t->made.number == SYS_futex)
			buf_printf(&b, "%sthread %" PRIu64 " at 0x%" PRIx64, b.n ? ", " : "", t->number, t->made.arg[0]);
		all &= waits_for_others(t);
	}
	s->told = all && b.n;
	if (s->told)
		say_error("record", "all threads wait for each other (%s); if you end the program, the log has how that came about",
		          b.at);
	buf_free(&b);
}

static enum stop
await_call(struct schedule *s, struct task *t)
{
	unsigned since = (unsigned)ticks;

	t->state = TASK_WAITS;
	/* The parent waits for its vfork child, which is known already. */
	if (t->entered && t->made.call.class == CALL_BIRTH && t->birth.flags & CLONE_VFORK)
		return STOP_NONE;
	for (unsigned n = 0;; n++) {
		bool others = may_wait(t) && others_can_run(s), kept = is_kept(t);

		if (others && !n)
			forget_stops();
		if (hear(s, others || kept ? WNOHANG : 0) == NEWS_NONE && !others && !kept)
			return lost(t);
		if (t->state == TASK_STOPPED)
			return take_stop(t);
		if (kept && tracee_doing(&t->t) == 'Z') {
			t->t.status = 0;
			return STOP_ENDED;
		}
		if (others && n > 0 && tracee_doing(&t->t) == 'S')
			return STOP_NONE;
		if (others || kept)
			await_stop();
		else
			check_deadlock(s, since);
	}
}

static bool
is_over(const struct schedule *s, unsigned turn)
{
	if (s->chaos && s->most && s->stops >= s->most)
		return true;
	return (unsigned)ticks - s->began >= (s->chaos ? s->turn : turn);
}

bool
schedule_over(struct schedule *s)
{
	return is_over(s, TURN) && others_can_run(s);
}

/* In code that makes no calls a turn is longer, so that replays have less to do. But if the task is in the same state as when it
 * was seen last, it waits for others, and its turn ends. */
bool
schedule_spent(struct schedule *s)
{
	const struct space *space = s->now->group->space;
	uint64_t sum = tracee_sum(&s->now->t), seen = s->looked;

	s->looked = sum;
	return schedule_over(s) && (!space->counts || s->now->runs_free || sum == seen ||
	                            is_over(s, space->timed ? TIMED_TURN : LONG_TURN));
}

/* Do others wait for their turn, whatever else keeps them from running? */
static bool
others_wait(const struct schedule *s)
{
	for (size_t i = 0; i < s->all->at.n; i++) {
		const struct task *t = s->all->at.at[i];

		if (t != s->now && (t->state == TASK_READY || t->state == TASK_STOPPED))
			return true;
	}
	return false;
}

/* Notes since when others have waited for longer than a turn. */
static void
note_due(struct schedule *s)
{
	if (!is_over(s, TURN) || !others_wait(s))
		s->due = false;
	else if (!s->due) {
		s->due = true;
		s->due_at = (unsigned)ticks;
		s->seen = s->same = 0;
		s->look = 1;
	}
}

static bool
is_to_be_looked_at(const struct schedule *s)
{
	return (s->due || s->now->waits) && have_passed(s, s->now->waits ? s->now->held_at : s->due_at, s->look);
}

/* Looks are ever more seldom, and by ever more steps, so they take a bounded share of the time. */
unsigned
schedule_looks(struct schedule *s)
{
	enum { STEPS_A_TICK = 32 };
	unsigned steps = s->look * STEPS_A_TICK;

	if (!is_to_be_looked_at(s))
		return 0;
	s->look *= 2;
	return steps < SPIN_LEAST ? SPIN_LEAST : steps < SPIN_MOST ? steps : SPIN_MOST;
}

bool
schedule_others(const struct schedule *s)
{
	return others_can_run(s);
}

enum stuck
schedule_stuck(struct schedule *s)
{
	enum { CERTAIN = 3 };
	uint64_t sum = tracee_sum(&s->now->t);

	if (!s->due || !have_passed(s, s->due_at, PATIENCE / 2))
		return STUCK_NOT;
	if (!s->seen)
		s->seen = sum;
	s->same += s->seen == sum;
	if (have_passed(s, s->due_at, PATIENCE) && s->same >= CERTAIN)
		return STUCK_IN_LOOP;
	return have_passed(s, s->due_at, LAST_PATIENCE) ? STUCK_FOR_LONG : STUCK_NOT;
}

/* Tells the task to stop where it is if it has run for too long. The caller decides what is done then. */
static void
prod(struct schedule *s, struct task *t)
{
	bool others;

	note_due(s);
	while (is_over(s, TURN) && hear(s, WNOHANG) == NEWS_SOME)
		;
	/* A task that makes its calls without a stop is told, too, so that it stops and its turn can end. */
	others = (t->group->space->counts || t->runs_free) && is_over(s, TURN) && others_can_run(s);
	others |= (s->due && have_passed(s, s->due_at, PATIENCE / 2)) || is_to_be_looked_at(s);
	if (t->state != TASK_STOPPED && !t->interrupted && (schedule_impatient(s) || others)) {
		t->interrupted = true;
		ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	}
}

static enum stop
await_turn(struct schedule *s, struct task *t)
{
	t->state = TASK_WAITS;
	while (t->state != TASK_STOPPED)
		switch (hear(s, 0)) {
		case NEWS_NONE: return lost(t);
		case NEWS_TICK: prod(s, t); break;
		case NEWS_SOME: break;
		}
	return take_stop(t);
}

void
schedule_resume(struct schedule *s)
{
	struct task *t = s->now;
	int sig = t->sig;
	bool seen;

	if (t->state == TASK_STOPPED)
		return;
	t->sig = 0;
	t->rests = false;
	t->loops = 0;
	s->stops++;
	seen = t->waits || t->interrupted || (is_over(s, TURN) && others_can_run(s));
	tracee_resume(&t->t, buffer_request(t, seen), sig);
}

enum stop
schedule_await(struct schedule *s)
{
	struct task *t = s->now;

	if (t->state == TASK_STOPPED)
		return take_stop(t);
	return t->in_call ? await_call(s, t) : await_turn(s, t);
}

/* ---- turns ---- */

void
schedule_yield(struct schedule *s)
{
	s->began = (unsigned)ticks - (s->chaos ? s->turn : TURN);
}

/* The next task by number that can run; the same task again if there is no other. */
static struct task *
pick(const struct schedule *s)
{
	struct task *next = NULL, *first = NULL;

	for (size_t i = 0; i < s->all->at.n; i++) {
		struct task *t = s->all->at.at[i];

		if (!can_run(t))
			continue;
		if (!first || t->number < first->number)
			first = t;
		if (t->number > s->last && (!next || t->number < next->number))
			next = t;
	}
	return next ? next : first;
}

/* splitmix64 */
static uint64_t
mix(uint64_t v)
{
	v += 0x9e3779b97f4a7c15;
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9;
	v = (v ^ v >> 27) * 0x94d049bb133111eb;
	return v ^ v >> 31;
}

/* Picks a task at random, and how long it may run. Mostly it is the task that is preferred at the time, so others starve. The turn
 * may be over at once, or after some calls. */
static struct task *
pick_by_chance(struct schedule *s)
{
	enum { AN_AGE = 8, LENGTHS = 6 };
	struct task *dearest = NULL, *any = NULL;
	uint64_t age = mix(s->seed ^ s->picks / AN_AGE), chance = mix(s->seed + s->picks++), most = 0;
	unsigned n = 0;

	for (size_t i = 0; i < s->all->at.n; i++) {
		struct task *t = s->all->at.at[i];
		uint64_t love = mix(age ^ t->number);

		if (!can_run(t))
			continue;
		if (mix(chance ^ t->number) % ++n == 0)
			any = t;
		if (love >= most) {
			dearest = t;
			most = love;
		}
	}
	s->turn = chance & 4 ? 0 : (1u << (chance >> 8) % LENGTHS) - 1;
	/* Short threads make few calls, and end before a tick does. */
	s->most = chance & 24 ? 1u << (chance >> 16) % LENGTHS : 0;
	s->stops = 0;
	return chance & 2 ? dearest : any;
}

/* Waits until a task can run. False: none is left. */
static bool
await_any(struct schedule *s, struct task **next)
{
	unsigned since = (unsigned)ticks;

	while (!(*next = s->chaos ? pick_by_chance(s) : pick(s))) {
		if (!s->all->at.n || hear(s, 0) == NEWS_NONE)
			return false;
		check_deadlock(s, since);
	}
	return true;
}

struct task *
schedule_next(struct schedule *s)
{
	struct task *t = s->now, *next;

	set_ticking(s, s->all->at.n > 1 || (t && t->waits));
	if (t && can_run(t) && (!t->rests || !is_over(s, TURN)))
		return t;
	while (hear(s, WNOHANG) == NEWS_SOME)
		;
	if (!await_any(s, &next))
		return NULL;
	s->now = next;
	s->last = next->number;
	s->began = (unsigned)ticks;
	s->looked = 0;
	s->look = 1;
	s->due = false;
	return next;
}
