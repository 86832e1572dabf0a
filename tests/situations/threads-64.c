/* SPDX-License-Identifier: MIT */
/* options: -pthread */
/* expect: main 1 */
/* expect: thread 64 */
/* expect: work 6400000 */
#include "situation.h"
#include <pthread.h>

FUNC static void *
thread(void *arg)
{
	work_times(100000);
	return arg;
}

int
main(void)
{
	pthread_t t[64];
	for (int i = 0; i < 64; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 64; i++)
		pthread_join(t[i], NULL);
	return 0;
}
