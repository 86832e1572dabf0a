/* SPDX-License-Identifier: MIT */
/* options: -pthread -fuse-ld=gold -Wl,--gc-sections -ffunction-sections */
/* need: ld.gold --version */
/* status: 3 */
/* expect: main 1 */
/* expect: thread 8 */
/* expect: one 11 */
/* expect: thrower 10 */
/* expect: work 8011 */
/* line: caught 10 */
/* line: back 10 */
/* line: never 0 */
#include "situation.h"
#include <csetjmp>
#include <cstdlib>
#include <pthread.h>

extern "C" {

static jmp_buf env;

FUNC static void *
thread(void *arg)
{
	work_times(1000);
	return arg;
}

FUNC static void
thrower(int n)
{
	throw n;
}

FUNC static void
one(int n)
{
	work();
	if (n == 10)
		exit(3);
	longjmp(env, 1);
	STEP; /* @never */
}

int
main()
{
	pthread_t t[8];
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], nullptr, thread, nullptr);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], nullptr);
	for (int i = 0; i < 10; i++) {
		try {
			thrower(i);
		} catch (int) {
			STEP; /* @caught */
		}
	}
	for (volatile int i = 0;; i++) {
		if (setjmp(env) == 0)
			one(i);
		STEP; /* @back */
	}
}
}
