/* SPDX-License-Identifier: MIT */
/* options: -pthread */
/* status: 5 */
/* bounds: allowed because main may not have come to wait yet, and traces do not record where it waits */
/* expect: main 0 1 */
/* expect: thread 1 */
/* expect: leave 1 */
/* expect: work 1001 */
/* line: before 1 */
/* line: after 0 */
#include "situation.h"
#include <pthread.h>
#include <stdlib.h>

FUNC static void
leave(void)
{
	work();
	exit(5);
}

FUNC static void *
thread(void *arg)
{
	work_times(1000);
	STEP; /* @before */
	leave();
	STEP; /* @after */
	return arg;
}

int
main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	return 0;
}
