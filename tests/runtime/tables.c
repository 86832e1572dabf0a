/* SPDX-License-Identifier: MIT */
/* Cases of paths.c: hash tables of paths. */
#define _GNU_SOURCE
#include "held.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SUMS = 1000000, HASHERS = 4 };

static void *
thread_paths(void *arg)
{
	for (uint64_t s = 0; s < SUMS; s++)
		for (uint64_t k = 0; k < 1 + (s + (uint64_t)arg) % 3; k++)
			path(s * 2147 % 2147483647);
	return NULL;
}

static void
want_paths(uint64_t threads)
{
	for (uint64_t s = 0; s < SUMS; s++) {
		uint64_t n = 0;

		for (uint64_t t = 0; t < threads; t++)
			n += 1 + (s + t) % 3;
		printf("path %ju %ju\n", (uintmax_t)(s * 2147 % 2147483647), (uintmax_t)n);
	}
}

static void
case_paths(void)
{
	pthread_t t[HASHERS];

	for (long i = 0; i < HASHERS; i++)
		pthread_create(&t[i], NULL, thread_paths, (void *)i);
	for (int i = 0; i < HASHERS; i++)
		pthread_join(t[i], NULL);
	want_paths(HASHERS);
}

/* Few of them: all have room in the table. */
static void
case_few(void)
{
	for (int i = 0; i < 1000; i++)
		for (uint64_t s = 0; s < 40; s++)
			path(s * 1000003);
	for (uint64_t s = 0; s < 40; s++)
		printf("path %ju 1000\n", (uintmax_t)(s * 1000003));
}

static uint64_t struck;

static void
on_path(int sig)
{
	(void)sig;
	for (uint64_t s = 0; s < 20; s++)
		path(struck * 20 + s);
	struck++;
}

/* Handlers that count, wherever the signal strikes. */
static void
case_path_signals(void)
{
	struct sigaction a = {.sa_handler = on_path};
	struct itimerval it = {{0, 100}, {0, 100}};
	uint64_t n = 0;

	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
	for (; *(volatile uint64_t *)&struck < 3000; n++)
		path(1000000000 + n % 5000);
	memset(&it, 0, sizeof it);
	setitimer(ITIMER_REAL, &it, NULL);
	for (uint64_t s = 0; s < struck * 20; s++)
		printf("path %ju 1\n", (uintmax_t)s);
	for (uint64_t s = 0; s < 5000; s++)
		if (n / 5000 + (s < n % 5000))
			printf("path %ju %ju\n", (uintmax_t)(1000000000 + s), (uintmax_t)(n / 5000 + (s < n % 5000)));
}

static sigjmp_buf out;
static volatile int outs;

static void
on_out(int sig)
{
	(void)sig;
	outs++;
	siglongjmp(out, 1);
}

static long
spin(long n)
{
	struct itimerval it = {{0, 0}, {0, 300}};

	setitimer(ITIMER_REAL, &it, NULL);
	for (uint64_t s = 0; !n; s = (s + 1) % 100000)
		path(s);
	return 0;
}

/* Handlers that jump away, most often out of what the runtime is doing. */
static void
case_jump_out(void)
{
	struct sigaction a = {.sa_handler = on_out};

	sigaction(SIGALRM, &a, NULL);
	while (outs < 500) {
		if (sigsetjmp(out, 1))
			continue;
		hold(down, 0, &dense[2]);
		hold(spin, 0, &dense[1]);
	}
	printf("unfinished 1 500\ncounter 2 500\n");
}

/* What it costs: nanoseconds of an activation that goes the quick way, of one that crosses from piece to piece, of a path in the
 * first place of the table, of one elsewhere, and of a longjmp over n frames. */
static double
since(struct timespec a)
{
	struct timespec b;

	clock_gettime(CLOCK_MONOTONIC, &b);
	return (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
}

#define COST(name, what) do { \
		struct timespec t0; \
		clock_gettime(CLOCK_MONOTONIC, &t0); \
		for (volatile int i = 0; i < 1000000; i++) { what; } \
		printf("%s %.1f ns\n", name, since(t0) / 1e6); \
	} while (0)

static void
case_cost(void)
{
	uint64_t n = 0;

	COST("hold", hold(down, 0, &dense[1]));
	COST("path in place", path(1));
	COST("path looked for", path(n++ % 40 * 1000003));
	COST("path outside", path(n++ % 10000));
	innermost = jump_back;
	COST("longjmp over 12", if (!setjmp(env)) down(12));
}

/* The child's tables begin empty. */
static void
case_fork_paths(void)
{
	pid_t pid;
	int status, me;

	for (uint64_t s = 0; s < 2000; s++)
		path(s);
	pid = fork();
	me = pid ? 5 : 3;
	for (int i = 0; i < me; i++)
		for (uint64_t s = 0; s < 3000; s++)
			path(s);
	if (pid && (waitpid(pid, &status, 0) != pid || status))
		abort();
	if (!pid)
		exit(0);
	for (uint64_t s = 0; s < 3000; s++)
		printf("path %ju %d\n", (uintmax_t)s, 5 + 3 + (s < 2000));
}

static volatile bool is_child;
static volatile int children;

static void
on_fork(int sig)
{
	pid_t pid = children < 40 ? fork() : -1;

	(void)sig;
	is_child |= pid == 0;
	children += pid > 0;
}

/* Children of a handler, wherever it struck, go on with the path that it struck, and leave. Nothing is known under no name. */
static void
case_fork_struck(void)
{
	struct sigaction a = {.sa_handler = on_fork};
	struct itimerval it = {{0, 2000}, {0, 2000}};
	uint64_t n = 0, each = 300;

	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
	for (; children < 40 && !is_child; n++)
		path(n % each);
	if (is_child)
		_exit(0);
	memset(&it, 0, sizeof it);
	setitimer(ITIMER_REAL, &it, NULL);
	while (wait(NULL) > 0)
		;
	for (uint64_t s = 0; s < each; s++)
		printf("path %ju %ju\n", (uintmax_t)s, (uintmax_t)(n / each + (s < n % each)));
}

static long
snapshot(long n)
{
	(void)n;
	for (uint64_t s = 0; s < 1000; s++)
		path(s);
	raise(SIGUSR1);
	return 0;
}

/* CHORD_SIGNAL=USR1:reset: what the copies say adds up. */
static void
case_snapshots(void)
{
	innermost = snapshot;
	for (int i = 0; i < 5; i++)
		down(3);
	for (int k = 1; k <= 3; k++)
		printf("unfinished %d 5\nresumed %d 4\ncounter %d 4\n", k, k, k);
	for (uint64_t s = 0; s < 1000; s++)
		printf("path %ju 5\n", (uintmax_t)s);
}

/* A library that is closed and opened again goes on with its tables. */
static void
case_reopen(void)
{
	for (int i = 0; i < 6; i++) {
		void *h = dlopen(arg1, RTLD_NOW);
		long (*run)(long (*)(long), long) = (long (*)(long (*)(long), long))dlsym(h, "run");

		if (!run)
			abort();
		for (long k = 0; k < 1000; k++)
			run(NULL, k);
		dlclose(h);
	}
	for (int k = 0; k < 1000; k++)
		printf("path %d 6\n", k);
}

/* For whoever kills it: says how far it has come. */
static void
case_forever(void)
{
	int fd = open("said", O_RDWR | O_CREAT, 0600);
	volatile uint64_t *said = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ftruncate(fd, 4096))
		abort();
	for (uint64_t n = 0;; n++) {
		path(n % 3000);
		hold(down, 0, &dense[1]);
		said[0] = n + 1;
	}
}

const struct held_case table_cases[] = {
	CASE(paths), CASE(few), CASE(path_signals), CASE(forever), CASE(jump_out), CASE(cost), CASE(fork_paths), CASE(fork_struck),
	CASE(snapshots), CASE(reopen), {NULL, NULL},
};
