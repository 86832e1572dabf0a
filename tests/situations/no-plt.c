/* SPDX-License-Identifier: MIT */
/* Without a PLT calls go through the GOT, also calls of functions that the runtime watches; a text has more than one of each. */
/* options: -fno-plt -pthread */
/* expect: main 1 */
/* expect: thread 2 */
/* expect: leave 2 */
/* expect: work 20 */
/* line: after 0 */
/* line: landed 2 */
/* unknown[paths] main: allowed because clang calls _setjmp through a register */
#include "situation.h"
#include <pthread.h>
#include <setjmp.h>

static jmp_buf env;

FUNC static void *
thread(void *arg)
{
	work_times(10);
	return arg;
}

FUNC static void
leave(int where)
{
	if (where)
		longjmp(env, 1);
	longjmp(env, 2);
	STEP; /* @after */
}

int
main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, thread, NULL);
	pthread_join(a, NULL);
	pthread_create(&b, NULL, thread, NULL);
	pthread_join(b, NULL);
	for (volatile int i = 0; i < 2; i++) {
		if (!setjmp(env))
			leave(i);
		STEP; /* @landed */
	}
	return 0;
}
