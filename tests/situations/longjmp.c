/* SPDX-License-Identifier: MIT */
/* expect: main 1 */
/* expect: jumper 10 */
/* expect: one 10 */
/* expect: two 10 */
/* expect: three 10 */
/* expect: work 15 */
/* line: before 10 */
/* line: after 5 */
/* line: back 5 */
/* line: both 10 */
#include "situation.h"
#include <setjmp.h>

static jmp_buf env;

FUNC static void
three(int jump)
{
	work();
	if (jump)
		longjmp(env, 1);
	work();
}

FUNC static void
two(int jump)
{
	three(jump);
	STEP; /* @after */
}

FUNC static void
one(int jump)
{
	STEP; /* @before */
	two(jump);
	STEP;
}

FUNC static void
jumper(int jump)
{
	if (setjmp(env) == 0)
		one(jump);
	else
		STEP; /* @back */
	STEP; /* @both */
}

int
main(void)
{
	for (volatile int i = 0; i < 10; i++)
		jumper(i % 2);
	return 0;
}
