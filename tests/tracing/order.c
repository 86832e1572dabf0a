/* SPDX-License-Identifier: MIT */
/* Threads that create threads, some with the counters of threads that have ended; they fork, and so does a child. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sum;

__attribute__((noinline)) static void
work(int n)
{
	for (int i = 0; i < n; i++)
		sum += i % 3;
}

static void *
leaf(void *p)
{
	work(5);
	return p;
}

static void *
node(void *p)
{
	pthread_t t;

	for (int i = 0; i < 3; i++) {
		work(2);
		if (!pthread_create(&t, NULL, leaf, NULL))
			pthread_join(t, NULL);
	}
	return p;
}

static void
forks(int depth)
{
	pid_t pid;

	work(depth);
	if (depth && !(pid = fork())) {
		work(7);
		forks(depth - 1);
		_exit(0);
	} else if (depth) {
		waitpid(pid, NULL, 0);
	}
	work(1);
}

int
main(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, i ? leaf : node, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	forks(2);
	forks(1);
	pthread_create(&t[0], NULL, node, NULL);
	pthread_join(t[0], NULL);
	return 0;
}
