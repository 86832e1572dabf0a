/* SPDX-License-Identifier: MIT */
/* A thread is cancelled at any instruction of a loop. */
/* options: -pthread */
/* expect: main 1 */
/* expect: thread 10 */
/* expect: spin 10 */
/* expect: cleanup 10 */
/* line: before 10 */
/* line: after 0 */
/* bounds: allowed because it ends anywhere, even on the way between two blocks */
/* unknown ./program: allowed because additions of events on such a way are not in the map */
/* unknown[paths] spin: allowed because the path it was on is not known */
/* paths main spin: differ because threads wait for one another */
/* without: trace because the paths of activations that ended between calls are not known */
#include "situation.h"
#include <pthread.h>
#include <unistd.h>

static pthread_barrier_t ready;
static volatile long turns;

FUNC static void
cleanup(void *arg)
{
	(void)arg;
	work();
}

FUNC static void
spin(void)
{
	for (;;)
		turns++;
}

FUNC static void *
thread(void *arg)
{
	pthread_cleanup_push(cleanup, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_barrier_wait(&ready);
	STEP; /* @before */
	spin();
	STEP; /* @after */
	pthread_cleanup_pop(0);
	return arg;
}

int
main(void)
{
	pthread_t t;
	pthread_barrier_init(&ready, NULL, 2);
	for (int i = 0; i < 10; i++) {
		pthread_create(&t, NULL, thread, NULL);
		pthread_barrier_wait(&ready);
		for (long seen = turns; turns == seen;)
			usleep(1000);
		pthread_cancel(t);
		pthread_join(t, NULL);
	}
	return 0;
}
