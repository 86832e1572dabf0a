/* SPDX-License-Identifier: MIT */
/* Binds the program and the process that traces it to one processor as long as the program stops often. Only one of the two runs at
 * a time, and waking another processor at each stop would take longer than all that is done at the stop. A thread looks how often
 * the program stops. While the program computes, it may run anywhere. If others want the processor, too, both go to the next
 * one. */
#include "tracee/tracee.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Stops in LOOK_NS: at least OFTEN are often, at most SELDOM are seldom. Bound processes move if they have waited for MOVE_NS in
 * MOVE looks. */
enum { LOOK_NS = 10 * 1000 * 1000, OFTEN = 4, SELDOM = 1, MOVE = 5, MOVE_NS = MOVE * LOOK_NS / 3 };
enum { ANY = 1, FIRST = 2 };    /* where a task is; 0: not known */

static struct {
	unsigned can;            /* there are several processors; once this is set, the next two stay as they are */
	cpu_set_t all;           /* where all may run while nothing is bound */
	size_t size;             /* bytes of such a set */
	pid_t self;
	unsigned mine;           /* of the tracing process: ANY, or FIRST and a processor */
	/* Both threads use these. */
	unsigned wanted, last;   /* where all are to be; the processor where the tracing process was last */
	unsigned stops;
	pid_t running;
	pthread_mutex_t ends;    /* held while the thread lets the program go anywhere, and while binding ends */
} bound = {.ends = PTHREAD_MUTEX_INITIALIZER};

static unsigned
get(const unsigned *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static void
set(unsigned *at, unsigned v)
{
	__atomic_store_n(at, v, __ATOMIC_RELEASE);
}

static void
go(pid_t tid, unsigned where)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	if (where != ANY)
		CPU_SET(where - FIRST, &one);
	sched_setaffinity(tid, bound.size, where == ANY ? &bound.all : &one);
}

/* ---- the thread that looks ---- */

/* How long the task has been kept waiting for a processor, in ns. */
static uint64_t
waited(pid_t tid)
{
	char name[64], text[128] = "";
	uint64_t ran, wait = 0;
	int fd;

	snprintf(name, sizeof name, "/proc/%d/task/%d/schedstat", (int)tid, (int)tid);
	fd = tid > 0 ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0 && read(fd, text, sizeof text - 1) > 0 && sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &wait) != 2)
		wait = 0;
	if (fd >= 0)
		close(fd);
	return wait;
}

static unsigned
next_one(unsigned where)
{
	unsigned cpu = where - FIRST;

	do
		cpu = (cpu + 1) % (unsigned)(bound.size * 8);
	while (!CPU_ISSET(cpu, &bound.all));
	return cpu + FIRST;
}

struct waits {
	pid_t tid;
	uint64_t self, other;
	unsigned looks;
};

/* Have both waited much since the last such look, because others have the processor? */
static bool
is_crowded(struct waits *w)
{
	pid_t running = __atomic_load_n(&bound.running, __ATOMIC_RELAXED);
	uint64_t self, other;
	bool much;

	if (++w->looks < MOVE)
		return false;
	self = waited(bound.self);
	other = waited(running);
	much = running == w->tid && self - w->self + other - w->other > MOVE_NS;
	*w = (struct waits){running, self, other, 0};
	return much;
}

/* Lets the program run anywhere, unless it has itself set meanwhile where it is to run. */
static void
let_run(void)
{
	pthread_mutex_lock(&bound.ends);
	if (get(&bound.can)) {
		set(&bound.wanted, ANY);
		go(__atomic_load_n(&bound.running, __ATOMIC_RELAXED), ANY);
	}
	pthread_mutex_unlock(&bound.ends);
}

static void *
look(void *unused)
{
	struct waits w = {0};

	(void)unused;
	for (unsigned before = get(&bound.stops), now;; before = now) {
		unsigned where = get(&bound.wanted);

		nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
		now = get(&bound.stops);
		if (where == ANY && now - before >= OFTEN) {
			set(&bound.wanted, get(&bound.last) + FIRST);
		} else if (where != ANY && now - before <= SELDOM) {
			let_run();
		} else if (where != ANY && is_crowded(&w)) {
			set(&bound.wanted, next_one(where));
		}
	}
	return NULL;
}

static bool
begin_thread(void)
{
	sigset_t all, old;
	pthread_t thread;
	bool ok;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	ok = !pthread_create(&thread, NULL, look, NULL) && !pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ok;
}

/* ---- who traces ---- */

void
bind_begin(void)
{
	if (bound.size)
		return;
	bound.size = sizeof bound.all;
	bound.self = gettid();
	bound.mine = ANY;
	bound.last = (unsigned)sched_getcpu();
	bound.wanted = bound.last + FIRST;
	set(&bound.can, !sched_getaffinity(0, sizeof bound.all, &bound.all) && CPU_COUNT(&bound.all) > 1 &&
	                bound.last < CPU_SETSIZE && begin_thread());
}

void
bind_follow(struct tracee *t)
{
	unsigned where = get(&bound.wanted);

	if (!get(&bound.can))
		return;
	set(&bound.stops, bound.stops + 1);
	if (where == ANY)
		set(&bound.last, (unsigned)sched_getcpu());
	__atomic_store_n(&bound.running, t->pid, __ATOMIC_RELAXED);
	if (bound.mine != where)
		go(0, where);
	bound.mine = where;
	if (t->where != where)
		go(t->pid, where);
	t->where = where;
}

void
bind_release(struct tracee *t)
{
	if (get(&bound.can) && t->pid > 0)
		go(t->pid, ANY);
	t->where = ANY;
}

void
bind_end(void)
{
	if (!get(&bound.can))
		return;
	pthread_mutex_lock(&bound.ends);
	set(&bound.can, false);
	pthread_mutex_unlock(&bound.ends);
	go(0, ANY);
	bound.mine = ANY;
}

bool
bind_shows(const struct tracee *t, const unsigned long *mask, size_t n)
{
	const cpu_set_t *seen = (const void *)mask;

	return get(&bound.can) && t->where >= FIRST && CPU_COUNT_S(n, seen) == 1 && CPU_ISSET_S(t->where - FIRST, n, seen);
}

const void *
bind_mask(void)
{
	return &bound.all;
}

void
bind_leave(void)
{
	if (get(&bound.can))
		go(0, ANY);
}
