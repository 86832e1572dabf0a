/* SPDX-License-Identifier: MIT */
/* A recursion 100,000 deep, which one jump leaves. */
/* run: ulimit -s unlimited; ./program */
/* expect: main 1 */
/* expect: recurse 100001 */
/* line: up 0 */
/* line: back 1 */
#include "situation.h"
#include <setjmp.h>

static jmp_buf env;

FUNC static void
recurse(int n)
{
	if (n == 0)
		longjmp(env, 1);
	recurse(n - 1);
	STEP; /* @up */
}

int
main(void)
{
	if (setjmp(env) == 0)
		recurse(100000);
	else
		STEP; /* @back */
	return 0;
}
