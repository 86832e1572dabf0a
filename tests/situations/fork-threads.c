/* SPDX-License-Identifier: MIT */
/* options: -pthread */
/* A process with threads forks in one of them; the child makes one more. */
/* expect: main 1 */
/* expect: thread 4 */
/* expect: work 4000 */
/* line: behind 2 */
#include "situation.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

FUNC static void *
thread(void *arg)
{
	work_times(1000);
	if (arg == NULL)
		return arg;
	if (fork() == 0) {
		pthread_t t;
		pthread_create(&t, NULL, thread, NULL);
		pthread_join(t, NULL);
		STEP; /* @behind */
		exit(0);
	}
	STEP; /* @behind */
	wait(NULL);
	return arg;
}

int
main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, thread, i == 1 ? t : NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
