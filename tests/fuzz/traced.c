/* SPDX-License-Identifier: MIT */
/* traced [ROUNDS]: does what marks of traces are for: handlers, jumps, threads, forks. By default the trace has few segments. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sum;
static int rounds = 9000;
static jmp_buf back;

__attribute__((noinline)) static int
down(int n)
{
	if (n > 5)
		longjmp(back, 1);
	return n < 0 ? 1 : down(n - 1) + n % 3;
}

static void
handler(int sig)
{
	sum += down(sig % 4);
}

static void *
run(void *p)
{
	for (int i = 0; i < rounds; i++)
		sum += down(i % 5);
	return p;
}

int
main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1)
		rounds = atoi(argv[1]);
	signal(SIGUSR1, handler);
	for (int i = 0; i < 3; i++)
		if (!setjmp(back)) {
			raise(SIGUSR1);
			down(5 + i);
		}
	pthread_create(&t, NULL, run, NULL);
	pthread_join(t, NULL);
	if (!fork()) {
		down(3);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
