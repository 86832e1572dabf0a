/* SPDX-License-Identifier: MIT */
/* paths CASE [ARG]: code that keeps its path register in the shadow of stacks of every kind. Standard output has what must be
 * counted: `counter N COUNT` and `path SUM COUNT`. */
#define _GNU_SOURCE
#include "held.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern char **environ;
const char *arg1;

static void
want(int n, long count)
{
	printf("counter %d %ld\n", n, count);
}

long (*innermost)(long);

long
down(long n)
{
	return n ? hold(down, n - 1, &dense[n % DENSE]) : innermost ? innermost(0) : 0;
}

static void *
thread_down(void *arg)
{
	for (long i = 0; i < (long)arg; i++)
		down(10);
	return arg;
}

static void
want_down(long n, long times)
{
	for (int k = 0; k < DENSE; k++)
		if (n / DENSE + (k && n % DENSE >= k) > 0)
			want(k, (n / DENSE + (k && n % DENSE >= k)) * times);
}

static void
case_one(void)
{
	down(10);
	want_down(10, 1);
}

static void
case_deep(void)
{
	down(100000);
	want_down(100000, 1);
}

static void
run_threads(int n, size_t stack, long each)
{
	pthread_t t[64];
	pthread_attr_t a;

	pthread_attr_init(&a);
	if (stack && pthread_attr_setstacksize(&a, stack))
		abort();
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], &a, thread_down, (void *)each))
			abort();
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

static void
case_threads(void)
{
	run_threads(64, 0, 10000);
	want_down(10, 640000);
}

static void
case_short(void)
{
	for (int i = 0; i < 200; i++)
		run_threads(50, i % 2 ? 16384 : 0, 1);
	want_down(10, 10000);
}

/* ---- stacks of all kinds ---- */

static ucontext_t home, fibre[4];
static char static_stack[65536] __attribute__((aligned(16)));
static int turns;

static long
turn(long i)
{
	for (int k = 0; k < turns; k++)
		swapcontext(&fibre[i], &fibre[(i + 1) % 4]);
	return 0;
}

static void
run_fibre(int i)
{
	hold(turn, i, &dense[i + 1]);
	if (i == 3)
		swapcontext(&fibre[3], &home);
	else
		swapcontext(&fibre[i], &fibre[i + 1]);
}

/* On the heap, static, mapped, and on top of a mapping far away. */
static void
case_fibres(void)
{
	char *far = mmap((void *)0x2a0000000000, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *near = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *stack[4] = {malloc(65536), static_stack, near, far};

	turns = 1000;
	for (volatile int i = 0; i < 4; i++) {
		getcontext(&fibre[i]);
		fibre[i].uc_stack.ss_sp = stack[i];
		fibre[i].uc_stack.ss_size = 65536;
		fibre[i].uc_link = NULL;
		makecontext(&fibre[i], (void (*)(void))run_fibre, 1, (int)i);
	}
	swapcontext(&home, &fibre[0]);
	for (int i = 1; i <= 4; i++)
		want(i, 1);
}

static volatile sig_atomic_t handled;

static void
on_signal(int sig)
{
	(void)sig;
	down(5);
	handled++;
}

static long
raise_it(long n)
{
	(void)n;
	raise(SIGUSR1);
	return 0;
}

static void
alternate(void *stack, size_t size)
{
	stack_t s = {.ss_sp = stack, .ss_size = size};
	struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	if (sigaltstack(&s, NULL) || sigaction(SIGUSR1, &a, NULL))
		abort();
}

static void
case_altstack(void)
{
	alternate(static_stack, sizeof static_stack);
	for (int i = 0; i < 100; i++)
		hold(raise_it, 0, &dense[20]);
	want(20, 100);
	want_down(5, 100);
}

/* A thread that shares its base with the one that made it. */
static int
raw_thread(void *arg)
{
	(void)arg;
	for (int i = 0; i < 20000; i++)
		hold(down, 3, &dense[0]);
	return 0;
}

static void
case_raw(void)
{
	char *stack = mmap((void *)0x300000000000, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile int tid = 1;

	if (clone(raw_thread, stack + (1 << 20), CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
	    CLONE_CHILD_CLEARTID, NULL, NULL, NULL, (void *)&tid) < 0)
		abort();
	for (int i = 0; i < 20000; i++)
		hold(down, 3, &dense[0]);
	while (tid)
		sched_yield();
	/* They count in the same counters: some of it may be lost, nothing more. */
}

/* ---- what is left ---- */

jmp_buf env;
static ucontext_t aside;

long
jump_back(long n)
{
	(void)n;
	longjmp(env, 1);
}

static void
case_longjmp(void)
{
	innermost = jump_back;
	for (volatile int i = 0; i < 50; i++)
		if (!setjmp(env))
			down(12);
	for (int k = 1; k <= 12; k++)
		printf("unfinished %d 50\n", k);
}

static long
exit_now(long n)
{
	(void)n;
	exit(0);
}

static void
case_exit(void)
{
	innermost = exit_now;
	for (int k = 1; k <= 12; k++)
		printf("unfinished %d 1\n", k);
	fflush(stdout);
	down(12);
}

static void *
thread_leaves(void *arg)
{
	(void)arg;
	down(12);
	return NULL;
}

static long
leave_thread(long n)
{
	(void)n;
	pthread_exit(NULL);
}

static void
case_pthread_exit(void)
{
	pthread_t t;

	innermost = leave_thread;
	pthread_create(&t, NULL, thread_leaves, NULL);
	pthread_join(t, NULL);
	for (int k = 1; k <= 12; k++)
		printf("unfinished %d 1\n", k);
}

static long
wait_for_ever(long n)
{
	while (!n)
		pause();
	return 0;
}

static void
case_cancel(void)
{
	pthread_t t;

	innermost = wait_for_ever;
	pthread_create(&t, NULL, thread_leaves, NULL);
	usleep(50000);
	pthread_cancel(t);
	pthread_join(t, NULL);
	for (int k = 1; k <= 12; k++)
		printf("unfinished %d 1\n", k);
}

static long
abort_now(long n)
{
	(void)n;
	abort();
}

static void
case_abort(void)
{
	innermost = abort_now;
	for (int k = 1; k <= 12; k++)
		printf("unfinished %d 1\n", k);
	fflush(stdout);
	down(12);
}

static long
go_home(long n)
{
	(void)n;
	swapcontext(&fibre[0], &home);
	return 0;
}

static void
start_fibre(void)
{
	innermost = go_home;
	down(5);
}

/* A fibre that is never gone back to. */
static void
case_fibre_left(void)
{
	getcontext(&fibre[0]);
	fibre[0].uc_stack.ss_sp = static_stack;
	fibre[0].uc_stack.ss_size = sizeof static_stack;
	makecontext(&fibre[0], start_fibre, 0);
	swapcontext(&home, &fibre[0]);
	for (int k = 1; k <= 5; k++)
		printf("unfinished %d 1\n", k);
}

static long
away(long n)
{
	(void)n;
	swapcontext(&aside, &home);
	return 0;
}

static long
jump_inside(long n)
{
	(void)n;
	swapcontext(&fibre[0], &fibre[1]); /* the other fibre holds something too */
	longjmp(env, 1);
}

static void
first_fibre(void)
{
	innermost = jump_inside;
	if (!setjmp(env))
		down(3);
	swapcontext(&fibre[0], &home);
}

static void
second_fibre(void)
{
	hold(away, 0, &dense[40]);
}

/* A longjmp on one fibre while another holds. */
static void
case_fibre_jump(void)
{
	void (*f[2])(void) = {first_fibre, second_fibre};

	for (int k = 1; k <= 3; k++)
		printf("unfinished %d 1\n", k);
	want(40, 1);
	for (int i = 0; i < 2; i++) {
		getcontext(&fibre[i]);
		fibre[i].uc_stack.ss_sp = static_stack + i * 32768;
		fibre[i].uc_stack.ss_size = 32768;
		makecontext(&fibre[i], f[i], 0);
	}
	swapcontext(&home, &fibre[0]);  /* back from away() */
	swapcontext(&home, &fibre[0]);  /* jumps, comes back */
	swapcontext(&home, &aside);
	abort(); /* where the second fibre's function ends, so does the process */
}

/* ---- processes ---- */

static long
fork_it(long n)
{
	pid_t pid = n ? fork() : vfork();
	int status;

	if (pid < 0)
		abort();
	if (pid == 0 && n)
		return 0;
	if (pid == 0)
		_exit(0);
	if (waitpid(pid, &status, 0) != pid || status)
		abort();
	return 1;
}

static long
fork_once(long n)
{
	(void)n;
	return fork_it(1);
}

/* Parent and child both end all that is under way. */
static void
case_fork(void)
{
	bool parent;

	innermost = fork_once;
	parent = down(12);
	if (parent) {
		for (int k = 1; k <= 12; k++)
			want(k, 1);
		return;
	}
	for (int k = 1; k <= 12; k++)
		printf("counter %d 1\nresumed %d 1\n", k, k);
}

static void
case_vfork(void)
{
	for (int i = 0; i < 10; i++)
		hold(fork_it, 0, &dense[3]);
	want(3, 10);
}

static long
spawn_it(long n)
{
	char *argv[] = {"true", NULL};
	pid_t pid;
	int status;

	(void)n;
	if (posix_spawnp(&pid, "true", NULL, NULL, argv, environ) || waitpid(pid, &status, 0) != pid || status)
		abort();
	return 0;
}

static void
case_spawn(void)
{
	for (int i = 0; i < 10; i++)
		hold(spawn_it, 0, &dense[3]);
	want(3, 10);
}

/* ---- what a process may not ---- */

/* No more mappings: the system call gives an error, or with arg kill the process is killed. */
static void
forbid(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, arg1 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, arg1 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = {sizeof f / sizeof *f, f};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p, 0, 0)) {
		puts("skip");
		exit(0);
	}
}

static void
case_seccomp(void)
{
	char *far = mmap((void *)0x300000000000, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *heap = malloc(100000);

	forbid();
	case_deep();
	alternate(static_stack, sizeof static_stack);
	hold(raise_it, 0, &dense[0]);
	alternate(heap, 100000);
	hold(raise_it, 0, &dense[0]);
	alternate(far, 1 << 20);
	hold(raise_it, 0, &dense[0]);
	want(0, 3);
	want_down(5, 3);
}

/* Deeper in the stack than the same again. */
static void
go_deeper(long n)
{
	volatile char room[65536];

	room[0] = 0;
	down(n);
	room[1] = room[0];
}

/* The program leaves itself no memory. */
static void
case_limit(void)
{
	struct rlimit l = {1 << 20, 1 << 20};
	char *far = mmap((void *)0x300000000000, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	go_deeper(100000); /* where the stack has to grow it could not */
	setrlimit(RLIMIT_DATA, &l);
	if (setrlimit(RLIMIT_AS, &l))
		abort();
	case_deep();
	want_down(100000, 1);
	alternate(static_stack, sizeof static_stack);
	hold(raise_it, 0, &dense[0]);
	alternate(far, 1 << 20);
	hold(raise_it, 0, &dense[0]);
	want(0, 2);
	want_down(5, 2);
}

/* Where the shadow would be there is something else, at first or all along. */
static void
case_taken(void)
{
	char *stack = mmap((void *)0x300000000000, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *there = mmap((void *)(0x300000000000 ^ 1ull << 45), 1 << 16, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	memset(there, 'x', 1 << 16);
	alternate(stack, 1 << 20);
	for (int i = 0; i < 100; i++)
		hold(raise_it, 0, &dense[0]);
	for (int i = 0; i < 1 << 16; i++)
		if (there[i] != 'x')
			abort();
	want(0, 100);
	want_down(5, 100);
}

static const struct held_case cases[] = {
	CASE(one), CASE(deep), CASE(threads), CASE(short), CASE(fibres), CASE(altstack), CASE(raw), CASE(longjmp), CASE(exit),
	CASE(pthread_exit), CASE(cancel), CASE(abort), CASE(fibre_left), CASE(fibre_jump), CASE(fork), CASE(vfork), CASE(spawn),
	CASE(seccomp), CASE(limit), CASE(taken),

	{NULL, NULL},
};

static void
run(const struct held_case *c, const char *name)
{
	for (; c->name; c++)
		if (!strcmp(name, c->name)) {
			c->run();
			exit(0);
		}
}

int
main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	arg1 = argv[2];
	run(cases, argv[1]);
	run(table_cases, argv[1]);
	return 2;
}
