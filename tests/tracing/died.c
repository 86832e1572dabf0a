/* SPDX-License-Identifier: MIT */
/* died HOW N THREADS: does the same in each run, until it dies. THREADS threads run one after another, then as many at the
 * same time, which then wait for good. Then the main thread dies by abort() or a fault; or a forked child does; or its parent,
 * after the child. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 8 };
static pthread_barrier_t all;
static _Thread_local volatile int sum;
static int *volatile nowhere;

static __attribute__((noinline)) void
odd(int i)
{
	sum += i;
}

static __attribute__((noinline)) void
even(int i)
{
	if (i % 3)
		sum -= i;
	else
		sum ^= i;
}

static __attribute__((noinline)) void
turn(int n)
{
	for (int i = 0; i < n; i++)
		if (i % 7 & 1)
			odd(i);
		else
			even(i);
}

static void *
passes(void *n)
{
	turn((int)(long)n);
	return NULL;
}

static void *
stays(void *n)
{
	turn((int)(long)n);
	pthread_barrier_wait(&all);
	for (;;)
		pause();
}

static void
begin_threads(int n, int threads)
{
	pthread_t id;

	for (int i = 0; i < threads; i++) {
		pthread_create(&id, NULL, passes, (void *)(long)(n + i));
		pthread_join(id, NULL);
	}
	pthread_barrier_init(&all, NULL, (unsigned)threads + 1);
	for (int i = 0; i < threads; i++)
		pthread_create(&id, NULL, stays, (void *)(long)(n - i));
	pthread_barrier_wait(&all);
}

static __attribute__((noinline)) void
die(const char *how)
{
	if (!strcmp(how, "abort"))
		abort();
	*nowhere = 1;
}

int
main(int argc, char **argv)
{
	int n = argc > 3 ? atoi(argv[2]) : 0, threads = argc > 3 ? atoi(argv[3]) : 0;
	pid_t child = -1;

	if (argc < 4 || threads > MOST)
		return 2;
	if (threads)
		begin_threads(n, threads);
	turn(n);
	printf("%d\n", sum);
	fflush(stdout);
	if (!strcmp(argv[1], "child") || !strcmp(argv[1], "parent"))
		child = fork();
	if (child > 0)
		waitpid(child, NULL, 0);
	turn(child ? n / 2 : n / 3);
	if ((!child && !strcmp(argv[1], "parent")) || (child > 0 && !strcmp(argv[1], "child")))
		_exit(0);
	die(argv[1]);
	return 0;
}
