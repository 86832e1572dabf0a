/* SPDX-License-Identifier: MIT */
/* parts THREADS WHICH WHEN: threads, one after another. In one of them a signal handler once goes another way. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int sum, which, when, thread, struck;

static void
handler(int s)
{
	(void)s;
	if (thread == which && struck++ == when)
		sum += 5;
	else
		sum++;
}

static __attribute__((noinline)) void
work(int i)
{
	if (i % 3)
		sum++;
	__asm__ volatile("int3");
	if (i % 2)
		sum += 2;
}

static void *
run(void *p)
{
	for (int i = 0; i < 10; i++)
		work(i);
	return p;
}

int
main(int argc, char **argv)
{
	pthread_t t;

	if (argc != 4)
		return 2;
	which = atoi(argv[2]);
	when = atoi(argv[3]);
	signal(SIGTRAP, handler);
	for (thread = 2; thread < 2 + atoi(argv[1]); thread++) {
		pthread_create(&t, NULL, run, NULL);
		pthread_join(t, NULL);
	}
	return 0;
}
