/* SPDX-License-Identifier: MIT */
/* 1,000,000 times longjmp, each over two frames. */
/* expect: main 1, catcher 1000000, middle 1000000, jumper 1000000, caught 1000000 */
#include <setjmp.h>

#define FUNC __attribute__((noinline, noclone)) void

static jmp_buf env;
static volatile unsigned long done;

FUNC
caught(void)
{
	done = done + 1;
}

FUNC
jumper(int n)
{
	longjmp(env, n);
}

FUNC
middle(int n)
{
	jumper(n + 1);
	done = done + 1;
}

FUNC
catcher(int n)
{
	if (!setjmp(env))
		middle(n);
	else
		caught();
}

int
main(void)
{
	for (int i = 0; i < 1000000; i++)
		catcher(i);
}
