/* SPDX-License-Identifier: MIT */
/* The handler of SIGABRT jumps out by longjmp. */
/* expect: main 1 */
/* expect: fail 5 */
/* expect: handler 5 */
/* expect: work 10 */
/* line: before 5 */
/* line: back 5 */
#include "situation.h"
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

static sigjmp_buf env;

FUNC static void
handler(int sig)
{
	(void)sig;
	work();
	siglongjmp(env, 1);
}

FUNC static void
fail(void)
{
	STEP; /* @before */
	work();
	abort();
}

int
main(void)
{
	signal(SIGABRT, handler);
	for (volatile int i = 0; i < 5; i++) {
		if (sigsetjmp(env, 1) == 0)
			fail();
		STEP; /* @back */
	}
	return 0;
}
