/* SPDX-License-Identifier: MIT */
/* Children of vfork run in their parent's memory, and are killed at any moment, also within the runtime. With a second argument
 * somebody else kills them. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile pid_t child;
static volatile unsigned sum, data[64];
static jmp_buf behind;

#define FUNCTION(n) \
	__attribute__((noinline)) static void \
	f##n(unsigned i) \
	{ \
		if (i & 1) \
			sum += n; \
		else \
			data[i & 63] ^= n; \
		if (i % 7 == n % 7) \
			longjmp(behind, 1); \
	}
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
static void (*volatile function[])(unsigned) = {f1, f2, f3};

__attribute__((noinline, noclone)) static void
work(unsigned n)
{
	for (volatile unsigned i = 0; i < n; i++)
		if (!setjmp(behind))
			function[(i * 7 + (i >> 3)) % 3](i);
}

__attribute__((noinline, noclone)) static void
own(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (data[i & 63] & 1)
			sum += 3;
		else
			data[i & 63] += i;
}

static void *
kills(void *a)
{
	unsigned seed = 1;

	for (pid_t pid; (pid = child) >= 0;)
		if (pid) {
			usleep(rand_r(&seed) % 2000);
			child = 0;
			kill(pid, SIGKILL);
		} else {
			usleep(20);
		}
	return a;
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100, status, killed = 0;
	bool alone = argc > 2;
	pthread_t killer;
	pid_t pid;

	if (!alone)
		pthread_create(&killer, NULL, kills, NULL);
	for (int i = 0; i < rounds; i++) {
		pid = vfork();
		if (!pid)
			for (child = getpid();;)
				work(1000);
		own(20000);
		waitpid(pid, &status, 0);
		killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	}
	child = -1;
	if (!alone)
		pthread_join(killer, NULL);
	printf("%d killed\n", killed);
	return 0;
}
