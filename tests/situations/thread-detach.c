/* SPDX-License-Identifier: MIT */
/* options: -pthread */
/* expect: main 1 */
/* expect: thread 100 */
/* expect: work 1000 */
#include "situation.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

static sem_t done;

FUNC static void
finish(void)
{
	sem_post(&done);
}

FUNC static void *
thread(void *arg)
{
	work_times(10);
	finish();
	return arg;
}

int
main(void)
{
	pthread_attr_t detached;
	pthread_t t;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < 100; i++)
		if (pthread_create(&t, &detached, thread, NULL))
			abort();
	for (int i = 0; i < 100; i++)
		sem_wait(&done);
	usleep(100000);
	return 0;
}
