/* SPDX-License-Identifier: MIT */
/* Threads that compute are cancelled anywhere, also within the runtime: the cleanup of each of them runs. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 100 };

static volatile int cleaned, ready;
static volatile long sum;

static void
clean(void *arg)
{
	(void)arg;
	cleaned++;
}

__attribute__((noinline)) static long
work(long x)
{
	long s = 0;

	while (x--)
		if (x & 3)
			s += x ^ s >> 3;
	return s;
}

/* A function of its own: the cleanup is found from a call. */
__attribute__((noinline)) static void
compute(void)
{
	ready = 1;
	for (long i = 0; ready >= 0; i++)
		sum += work(i & 15) + work(i & 3);
}

static void *
thread(void *arg)
{
	pthread_cleanup_push(clean, arg);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	compute();
	pthread_cleanup_pop(0);
	return NULL;
}

int
main(void)
{
	for (int i = 0; i < THREADS; i++) {
		pthread_t t;

		ready = 0;
		pthread_create(&t, NULL, thread, NULL);
		while (!ready)
			usleep(100);
		usleep((unsigned)(500 + i * 13 % 1500));
		pthread_cancel(t);
		pthread_join(t, NULL);
	}
	printf("%d of %d\n", cleaned, THREADS);
	return cleaned != THREADS;
}
