/* SPDX-License-Identifier: MIT */
/* cases NAME [N]: situations in which tokens are written, one function each. Standard output has what the trace must have:
 * `ID COUNT` for each path. */
#define _GNU_SOURCE
#include "token.h"

#include <fcntl.h>
#include <glob.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { HANDLED = 40, CHILD = 50, LAST = 63, SEGMENT = 1 << 16 };

static uint64_t wanted[TOKENS];
static long amount;

/* Token i of the sequence that tests compare. */
static uint64_t
number(long i)
{
	return (uint64_t)(i % 7 + (i % 11 == 0 ? 10 : 0) + (i % 1009 == 0 ? 20 : 0));
}

static void
write_sequence(long n)
{
	for (long i = 0; i < n; i++)
		token(number(i));
}

static void
want_sequence(long n)
{
	for (long i = 0; i < n; i++)
		wanted[number(i)]++;
}

static void
case_sequence(void)
{
	write_sequence(amount);
	want_sequence(amount);
}

/* ---- signals ---- */

static long in_handler;

static void
on_alarm(int sig)
{
	(void)sig;
	for (long i = 0; i < in_handler; i++)
		token(HANDLED);
	wanted[HANDLED] += (uint64_t)in_handler;
}

static void
interrupt(long microseconds, void (*f)(int))
{
	struct itimerval every = {{0, microseconds}, {0, microseconds}};
	struct sigaction a = {.sa_handler = f, .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void
stop(void)
{
	struct itimerval never = {0};

	setitimer(ITIMER_REAL, &never, NULL);
}

static void
case_signals(void)
{
	in_handler = 3;
	interrupt(20, on_alarm);
	write_sequence(amount);
	stop();
	want_sequence(amount);
}

/* Each handler writes more than a ring has room for. */
static void
case_long_handlers(void)
{
	in_handler = 100000;
	interrupt(3000, on_alarm);
	write_sequence(amount);
	stop();
	want_sequence(amount);
}

/* ---- stacks that a handler switches between ---- */

enum { STACKS = 4 };
static ucontext_t stack[STACKS], origin;
static int running;
static long left[STACKS];

static void
on_switch(int sig)
{
	int from = running;

	(void)sig;
	token(HANDLED);
	wanted[HANDLED]++;
	do
		running = (running + 1) % STACKS;
	while (!left[running]);
	if (running != from)
		swapcontext(&stack[from], &stack[running]);
}

static void
on_stack(int me)
{
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	if (me == 0)
		interrupt(200, on_switch);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	for (long i = 0; i < amount; i++)
		token((uint64_t)me);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	left[me] = 0;
	for (int i = 0; i < STACKS; i++)
		if (left[i]) {
			running = i;
			setcontext(&stack[i]);
		}
	setcontext(&origin);
}

static void
case_stacks(void)
{
	volatile bool back = false;
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	for (int i = 0; i < STACKS; i++) {
		getcontext(&stack[i]);
		stack[i].uc_stack.ss_sp = malloc(1 << 18);
		stack[i].uc_stack.ss_size = 1 << 18;
		makecontext(&stack[i], (void (*)(void))on_stack, 1, i);
		left[i] = 1;
		wanted[i] = (uint64_t)amount;
	}
	getcontext(&origin);
	if (!back) {
		back = true;
		setcontext(&stack[0]);
	}
	stop();
}

/* ---- contexts that are interrupted where a segment ends ---- */

static long depth, before_edge;

static void
fill_up_to_edge(void)
{
	do {
		token(HANDLED);
		wanted[HANDLED]++;
	} while (!token_is_before(SEGMENT));
}

/* The one that stands there last writes another segment, up to its last slot. */
static void
at_edge(void)
{
	fill_up_to_edge();
	if (depth++ < amount) {
		token_at_edge(2, at_edge);
		wanted[2]++;
	} else {
		fill_up_to_edge();
	}
}

static void
amid(void)
{
	depth = 0;
	for (long i = 0; i < before_edge; i++)
		fill_up_to_edge();
	at_edge();
}

/* One context stands amid a record, while the ring becomes full; and so many, each in the one before, at a segment's last slot. */
static void
case_edges(void)
{
	for (before_edge = 0; before_edge < 40; before_edge++) {
		for (int i = 0; i < 5; i++) {
			token(3);
			wanted[3]++;
		}
		token_amid(1, amid);
		wanted[1]++;
	}
}

/* ---- a handler that forks while the runtime ends a segment ---- */

enum { TRAP_FLAG = 0x100 };

static volatile long steps_left;
static volatile bool forked;

/* The child goes on where it was interrupted. */
static void
on_step(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	int status = 0;
	pid_t child;

	(void)sig, (void)info;
	if (steps_left-- > 0)
		return;
	u->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	token(HANDLED);
	child = fork();
	forked = child == 0;
	if (child && (waitpid(child, &status, 0) != child || status))
		_exit(status & 0x7f ? 100 + (status & 0x7f) : 4);
}

static void *
fork_at_end(void *arg)
{
	(void)arg;
	for (long i = 0; i < amount; i++) {
		while (!token_is_before(SEGMENT))
			token(1);
		steps_left = i;
		__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" : : : "memory", "cc");
		token(2);
		while (steps_left >= 0)
			;
		for (int k = 0; k < 100 && forked; k++)
			token(CHILD);
		if (forked)
			_exit(0);
	}
	return NULL;
}

/* In the first thread, and in another one. In each thread of the parent there are as many 2 as handlers ran, in each child at most
 * one. */
static void
case_fork_at_end(void)
{
	struct sigaction a = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
	pthread_t t;

	sigaction(SIGTRAP, &a, NULL);
	fork_at_end(NULL);
	pthread_create(&t, NULL, fork_at_end, NULL);
	pthread_join(t, NULL);
}

/* ---- threads and processes ---- */

static void *
write_own(void *arg)
{
	for (long i = 0; i < amount; i++)
		token((uint64_t)arg);
	return NULL;
}

static void
case_threads(void)
{
	pthread_t t[8];

	for (uint64_t i = 0; i < 8; i++) {
		pthread_create(&t[i], NULL, write_own, (void *)(i + 1));
		wanted[i + 1] = (uint64_t)amount;
	}
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

/* One after the other: they use the same ring. */
static void
case_short_threads(void)
{
	pthread_t t;

	for (uint64_t i = 0; i < 1000; i++) {
		pthread_create(&t, NULL, write_own, (void *)(i % 30));
		pthread_join(t, NULL);
		wanted[i % 30] += (uint64_t)amount;
	}
}

/* The child's trace has what it does, and its parent's what that does. Both are told to the same output. */
static void
case_fork(void)
{
	pid_t pid;

	write_sequence(amount);
	want_sequence(amount);
	pid = fork();
	if (pid == 0) {
		for (long i = 0; i < amount; i++)
			token(CHILD);
		_exit(0);
	}
	wanted[CHILD] = (uint64_t)amount;
	waitpid(pid, NULL, 0);
}

static void
on_fork(int sig)
{
	static int n;
	pid_t child;

	(void)sig;
	token(HANDLED);
	wanted[HANDLED]++;
	if (n++ % 8)
		return;
	child = fork();
	if (child) {
		wanted[CHILD] += 1000;
		waitpid(child, NULL, 0);
		return;
	}
	for (long i = 0; i < 1000; i++)
		token(CHILD);
	_exit(0);
}

/* Children of a handler that interrupts anywhere: the parent's trace loses nothing. */
static void
case_fork_in_handler(void)
{
	interrupt(2000, on_fork);
	write_sequence(amount);
	stop();
	want_sequence(amount);
}

static long before;
static bool is_child;

static void
fork_amid(void)
{
	pid_t pid;

	for (long i = 0; i < before; i++)
		token(HANDLED);
	pid = fork();
	is_child = pid == 0;
	for (long i = 0; is_child && i < amount; i++)
		token(CHILD);
	if (!is_child)
		waitpid(pid, NULL, 0);
}

/* A handler forks in the middle of a record. It returns in the child, too, which has written more than a ring by then. So has the
 * handler before the last fork: then the token is lost, and the child says so. */
static void
case_fork_amid(void)
{
	static const long n[] = {0, 1, 100, 10000, 20000, 30000, 31000, 100000};

	for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
		before = n[i];
		token(1);
		token_amid(2, fork_amid);
		token(3);
		for (long k = 0; is_child && k < amount; k++)
			token(CHILD);
		if (is_child)
			_exit(0);
		wanted[1]++;
		wanted[2] += i + 1 < sizeof n / sizeof *n ? 2 : 1;
		wanted[3] += 2;
		wanted[HANDLED] += (uint64_t)before;
		wanted[CHILD] += 2 * (uint64_t)amount;
	}
}

static void
case_vfork(void)
{
	pid_t pid;

	write_sequence(amount);
	want_sequence(amount);
	pid = vfork();
	if (pid == 0) {
		for (long i = 0; i < amount; i++)
			token(CHILD);
		_exit(0);
	}
	wanted[CHILD] = (uint64_t)amount;
	waitpid(pid, NULL, 0);
}

/* ---- ends ---- */

/* Says how far it has come, after each token. */
static void
case_forever(void)
{
	for (long i = 0;; i++) {
		token(number(i));
		if (i % amount == 0 && write(1, ".", 1) != 1)
			_exit(1);
	}
}

static void
tell(void)
{
	for (int i = 0; i < TOKENS; i++)
		if (wanted[i])
			printf("%d %ju\n", i, (uintmax_t)wanted[i]);
	fflush(stdout);
}

static void
case_abort(void)
{
	case_sequence();
	tell();
	abort();
}

static void
case_exec(void)
{
	case_sequence();
	tell();
	execl("/bin/true", "true", NULL);
}

/* Forbids itself all system calls but a few, and says that it is still there. */
static void
case_confined(void)
{
	write_sequence(amount);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	for (long i = amount; i < 3 * amount; i++)
		token(number(i));
	if (write(1, "here\n", 5) == 5)
		__asm__ volatile("syscall" : : "a"(SYS_exit), "D"(0));
}

/* Somebody makes the file shorter. */
static void
case_truncated(void)
{
	glob_t g;

	write_sequence(amount);
	if (!glob("*.trace", 0, NULL, &g) && g.gl_pathc == 1 && !truncate(g.gl_pathv[0], 0))
		write_sequence(amount);
	else
		exit(3);
}

int
main(int argc, char **argv)
{
	static const struct { const char *name; void (*f)(void); } cases[] = {
		{"sequence", case_sequence}, {"signals", case_signals}, {"long_handlers", case_long_handlers},
		{"stacks", case_stacks},
		{"edges", case_edges}, {"fork_at_end", case_fork_at_end},
		{"threads", case_threads}, {"short_threads", case_short_threads}, {"fork", case_fork},
		{"fork_in_handler", case_fork_in_handler}, {"fork_amid", case_fork_amid}, {"vfork", case_vfork},
		{"forever", case_forever}, {"abort", case_abort},
		{"exec", case_exec}, {"confined", case_confined}, {"truncated", case_truncated},
	};

	amount = argc > 2 ? atol(argv[2]) : 1000;
	for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(cases[i].name, argv[1])) {
			cases[i].f();
			token(LAST);
			wanted[LAST]++;
			tell();
			return 0;
		}
	return 2;
}
