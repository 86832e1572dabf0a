/* SPDX-License-Identifier: MIT */
/* Threads with a count of their own: some run at the same time, some one after another with the same stack. */
#include <pthread.h>

static volatile int sink;

__attribute__((noinline)) static int
fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void *
work(void *arg)
{
	for (int i = 0; i < 3; i++)
		sink += fib((int)(long)arg);
	return NULL;
}

int
main(void)
{
	pthread_t t[3];

	for (long k = 0; k < 2; k++) {
		for (long i = 0; i < 3; i++)
			pthread_create(&t[i], NULL, work, (void *)(i + k + 2));
		for (int i = 0; i < 3; i++)
			pthread_join(t[i], NULL);
	}
	return 0;
}
