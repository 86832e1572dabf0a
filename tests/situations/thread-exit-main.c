/* SPDX-License-Identifier: MIT */
/* The first thread ends with pthread_exit, and the other one goes on alone. */
/* options: -pthread */
/* expect: main 1 */
/* expect: leave 1 */
/* expect: thread 1 */
/* expect: work 1001 */
/* line: never 0 */
#include "situation.h"
#include <pthread.h>
#include <stddef.h>

static pthread_t first;

FUNC static void *
thread(void *arg)
{
	pthread_join(first, NULL);
	work_times(1000);
	return arg;
}

FUNC static void
leave(void)
{
	work();
	pthread_exit(NULL);
}

int
main(void)
{
	pthread_t t;
	first = pthread_self();
	pthread_create(&t, NULL, thread, NULL);
	leave();
	STEP; /* @never */
	return 0;
}
