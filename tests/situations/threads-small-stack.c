/* SPDX-License-Identifier: MIT */
/* options: -pthread */
/* 16 KiB of stack: the threads return, exit, and jump. */
/* expect: main 1 */
/* expect: thread 30 */
/* expect: work 60 */
/* expect: out 20 */
#include "situation.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

FUNC static void
out(long n, jmp_buf *env)
{
	work();
	if (n % 3 == 1)
		pthread_exit(NULL);
	longjmp(*env, 1);
}

FUNC static void *
thread(void *arg)
{
	jmp_buf env;
	work();
	if ((long)arg % 3 && setjmp(env) == 0)
		out((long)arg, &env);
	else if ((long)arg % 3 == 0)
		work();
	return NULL;
}

int
main(void)
{
	pthread_attr_t small;
	pthread_t t;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	for (long i = 0; i < 30; i++) {
		if (pthread_create(&t, &small, thread, (void *)i))
			abort();
		pthread_join(t, NULL);
	}
	return 0;
}
