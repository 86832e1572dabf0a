/* SPDX-License-Identifier: MIT */
/* Threads that begin, end and take over one another's counters, and some that stay. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static __thread unsigned own;

static __attribute__((noinline)) unsigned
work(unsigned n)
{
	unsigned s = n + own;

	for (unsigned i = 0; i < n; i++)
		s = s & 1 ? s * 3 + i : s / 2 + n;
	own += s;
	return s;
}

static void *
brief(void *arg)
{
	work((unsigned)(long)arg);
	return NULL;
}

static void *
lasting(void *arg)
{
	for (long i = 0; i < 100000; i++)
		work((unsigned)(i % 50 + (long)arg));
	return NULL;
}

int
main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 10;
	pthread_t stays[2], t;

	for (long i = 0; i < 2; i++)
		pthread_create(&stays[i], NULL, lasting, (void *)i);
	for (long i = 0; i < times; i++) {
		if (pthread_create(&t, NULL, brief, (void *)(i * 10)))
			return 1;
		work(30);
		pthread_join(t, NULL);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(stays[i], NULL);
	printf("%d\n", own != 0);
	return 0;
}
