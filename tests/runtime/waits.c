/* SPDX-License-Identifier: MIT */
/* waits [thread]: runs until it is killed. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile long done;

__attribute__((noinline)) static void
work(void)
{
	done++;
}

__attribute__((noinline)) static void
batch(void)
{
	for (int i = 0; i < 1000; i++)
		work();
}

static void *
thread(void *arg)
{
	for (;;)
		batch();
	return arg;
}

int
main(int argc, char **argv)
{
	pthread_t t;

	(void)argv;
	for (int i = 0; i < 10; i++)
		batch();
	if (argc > 1)
		pthread_create(&t, NULL, thread, NULL);
	puts("up");
	fflush(stdout);
	for (;;)
		pause();
}
