/* SPDX-License-Identifier: MIT */
/* A crash in the middle of a block: the handler leaves it by siglongjmp. */
/* expect: main 1 */
/* expect: crash 20 */
/* expect: handler 10 */
/* expect: work 20 */
/* line: before 20 */
/* line: after 10 */
/* expect: caught 10 */
/* without: trace because the paths of activations that ended between calls are not known */
#include "situation.h"
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static sigjmp_buf env;

FUNC static void
handler(int sig)
{
	(void)sig;
	siglongjmp(env, 1);
}

FUNC static void
crash(volatile int *p)
{
	work();
	STEP; /* @before */
	*p = 1;
	STEP; /* @after */
}

FUNC static void
caught(void)
{
	STEP;
}

int
main(void)
{
	int fine;
	signal(SIGSEGV, handler);
	for (volatile int i = 0; i < 20; i++)
		if (sigsetjmp(env, 1) == 0)
			crash(i % 2 ? &fine : NULL);
		else
			caught();
	return 0;
}
