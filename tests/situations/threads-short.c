/* SPDX-License-Identifier: MIT */
/* options: -pthread */
/* 10,000 threads, four at a time. */
/* expect: main 1 */
/* expect: thread 10000 */
/* expect: work 10000 */
#include "situation.h"
#include <pthread.h>
#include <stdlib.h>

FUNC static void *
thread(void *arg)
{
	work();
	return arg;
}

int
main(void)
{
	pthread_t t[4];
	for (int i = 0; i < 2500; i++) {
		for (int k = 0; k < 4; k++)
			if (pthread_create(&t[k], NULL, thread, NULL))
				abort();
		for (int k = 0; k < 4; k++)
			pthread_join(t[k], NULL);
	}
	return 0;
}
