/* SPDX-License-Identifier: MIT */
/* options: -pthread */
/* expect: main 1 */
/* expect: thread 10 */
/* expect: leave 10 */
/* expect: cleanup 10 */
/* expect: work 20 */
/* line: before 10 */
/* line: after 0 */
#include "situation.h"
#include <pthread.h>

FUNC static void
cleanup(void *arg)
{
	(void)arg;
	work();
}

FUNC static void
leave(void)
{
	work();
	pthread_exit(NULL);
}

FUNC static void *
thread(void *arg)
{
	pthread_cleanup_push(cleanup, NULL);
	STEP; /* @before */
	leave();
	STEP; /* @after */
	pthread_cleanup_pop(0);
	return arg;
}

int
main(void)
{
	pthread_t t[10];
	for (int i = 0; i < 10; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 10; i++)
		pthread_join(t[i], NULL);
	return 0;
}
