/* SPDX-License-Identifier: MIT */
/* options: -pthread */
/* expect: main 1 */
/* expect: thread 10 */
/* expect: sleeper 10 */
/* expect: cleanup 10 */
/* expect: work 20 */
/* line: before 10 */
/* line: after 0 */
#include "situation.h"
#include <pthread.h>
#include <unistd.h>

static pthread_barrier_t ready;

FUNC static void
cleanup(void *arg)
{
	(void)arg;
	work();
}

FUNC static void
sleeper(void)
{
	work();
	pthread_barrier_wait(&ready);
	for (;;)
		pause();
}

FUNC static void *
thread(void *arg)
{
	pthread_cleanup_push(cleanup, NULL);
	STEP; /* @before */
	sleeper();
	STEP; /* @after */
	pthread_cleanup_pop(0);
	return arg;
}

int
main(void)
{
	pthread_t t[10];
	pthread_barrier_init(&ready, NULL, 11);
	for (int i = 0; i < 10; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	pthread_barrier_wait(&ready);
	for (int i = 0; i < 10; i++) {
		pthread_cancel(t[i]);
		pthread_join(t[i], NULL);
	}
	return 0;
}
