/* SPDX-License-Identifier: MIT */
/* Threads with cleanup handlers that are cancelled, in the kernel and at a point of their own. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile unsigned sum;
static pthread_barrier_t there;

__attribute__((noinline)) static unsigned
leaf(unsigned n)
{
	return n & 1 ? n * 3 : n + 1;
}

static void
clean(void *p)
{
	sum += leaf((unsigned)(unsigned long)p);
}

__attribute__((noinline)) static void
wait_at(unsigned long depth)
{
	pthread_cleanup_push(clean, (void *)depth);
	if (depth)
		wait_at(depth - 1);
	pthread_barrier_wait(&there);
	for (;;)
		pause();
	pthread_cleanup_pop(1);
}

static void *
waits(void *p)
{
	wait_at((unsigned long)p);
	return p;
}

static void *
tests(void *p)
{
	pthread_cleanup_push(clean, p);
	pthread_cancel(pthread_self());
	sum += leaf(7);
	pthread_testcancel();
	pthread_cleanup_pop(0);
	return p;
}

int
main(void)
{
	pthread_t t;

	pthread_barrier_init(&there, NULL, 2);
	for (unsigned long i = 0; i < 2; i++) {
		pthread_create(&t, NULL, waits, (void *)i);
		pthread_barrier_wait(&there);
		pthread_cancel(t);
		pthread_join(t, NULL);
	}
	pthread_create(&t, NULL, tests, NULL);
	pthread_join(t, NULL);
	printf("%u\n", sum);
	return 0;
}
