/* SPDX-License-Identifier: MIT */
/* A thread still runs when the process ends, and begins to wait a millisecond later. Prints how often it called work(). */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static volatile int begun;
static volatile long worked;

__attribute__((noinline)) static void
work(void)
{
	worked++;
}

static void *
thread(void *arg)
{
	struct timespec from, now;
	char said[32];

	clock_gettime(CLOCK_MONOTONIC, &from);
	begun = 1;
	do {
		work();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < 1000000);
	if (write(1, said, (size_t)snprintf(said, sizeof said, "%ld\n", worked)) < 0)
		return NULL;
	for (;;)
		pause();
	return arg;
}

int
main(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, thread, NULL))
		return 1;
	while (!begun)
		;
	return 0;
}
