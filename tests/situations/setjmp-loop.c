/* SPDX-License-Identifier: MIT */
/* One call of setjmp returns again a thousand times; setjmp is called ten times. */
/* expect: main 1 */
/* expect: loop 10 */
/* expect: jump 1000 */
/* expect: work 1010 */
/* line: again 1010 */
/* line: called 10 */
#include "situation.h"
#include <setjmp.h>

static jmp_buf env;

FUNC static void
jump(int n)
{
	longjmp(env, n);
}

FUNC static void
loop(void)
{
	int n;
	STEP; /* @called */
	n = setjmp(env);
	STEP; /* @again */
	work();
	if (n < 100)
		jump(n + 1);
}

int
main(void)
{
	for (volatile int i = 0; i < 10; i++)
		loop();
	return 0;
}
