/* SPDX-License-Identifier: MIT */
/* Prints what it has counted itself, what a thread that stays has counted, and what a thread that has ended has counted, so
 * that the same can be asked from outside. Then it waits. */
#include <chord.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static uint64_t theirs[2];
static pthread_barrier_t there;

static __attribute__((noinline)) unsigned
work(unsigned n)
{
	static volatile unsigned one = 1;
	unsigned s = n;

	for (unsigned i = 0; i < n; i++)
		s = s & 1 ? s * 3 + one : s / 2 + n;
	return s;
}

static void *
thread(void *stays)
{
	work(stays ? 1000 : 500);
	if (!stays) {
		theirs[0] = chord_events(loads);
		return NULL;
	}
	theirs[1] = chord_events(loads);
	pthread_barrier_wait(&there);
	pause();
	return NULL;
}

int
main(void)
{
	pthread_t t[2];

	pthread_barrier_init(&there, NULL, 2);
	for (long i = 0; i < 2; i++) {
		pthread_create(&t[i], NULL, thread, (void *)i);
		if (i == 0)
			pthread_join(t[i], NULL);
	}
	pthread_barrier_wait(&there);
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", theirs[0], theirs[1], chord_events(loads));
	fflush(stdout);
	pause();
	return 0;
}
