/* SPDX-License-Identifier: MIT */
/* A nested function jumps over a frame, to a label of the function around it. */
/* only: gcc because clang has no nested functions */
/* options: -Wl,-z,execstack */
/* notes: none */
/* expect: main 1 */
/* expect: outer 10 */
/* expect: between 10 */
/* expect: work 15 */
/* line: before 10 */
/* line: behind 5 */
/* line: out 5 */
#include "situation.h"

FUNC static void
between(void (*f)(int), int n)
{
	STEP; /* @before */
	f(n);
	STEP; /* @behind */
}

FUNC static void
outer(int n)
{
	__label__ out;
	__attribute__((noinline)) void inner(int k)
	{
		work();
		if (k % 2)
			goto out;
	}
	between(inner, n);
	work();
	return;
out:
	STEP; /* @out */
}

int
main(void)
{
	for (volatile int i = 0; i < 10; i++)
		outer(i);
	return 0;
}
