/* SPDX-License-Identifier: MIT */
/* options: -pthread -static */
/* status: 3 */
/* expect: main 1 */
/* expect: thread 8 */
/* expect: one 11 */
/* expect: work 8011 */
/* line: back 10 */
/* line: after 0 */
/* profiles: 2 */
#include "situation.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf env;

FUNC static void *
thread(void *arg)
{
	work_times(1000);
	return arg;
}

FUNC static void
one(int n)
{
	work();
	if (n == 10)
		exit(3);
	longjmp(env, 1);
	STEP; /* @after */
}

int
main(void)
{
	pthread_t t[8];
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	if (fork() == 0)
		_exit(0);
	wait(NULL);
	for (volatile int i = 0;; i++) {
		if (setjmp(env) == 0)
			one(i);
		STEP; /* @back */
	}
}
