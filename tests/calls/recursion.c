/* SPDX-License-Identifier: MIT */
/* Calls of every kind: mutual recursion, through pointers, abandoned by longjmp and by exit, and calls back from a library. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf out;
static volatile int sink;

static int odd(int n);

static __attribute__((noinline)) int
even(int n)
{
	return n == 0 ? 1 : odd(n - 1) + sink;
}

static __attribute__((noinline)) int
odd(int n)
{
	return n == 0 ? 0 : even(n - 1) + sink;
}

static __attribute__((noinline)) int
ackermann(int m, int n)
{
	if (m == 0)
		return n + 1 + sink;
	if (n == 0)
		return ackermann(m - 1, 1) + sink;
	return ackermann(m - 1, ackermann(m, n - 1)) + sink;
}

static __attribute__((noinline)) void
jump(int n)
{
	sink = n * 0;
	if (n == 0)
		longjmp(out, 1);
	jump(n - 1);
	sink = 0;
}

static __attribute__((noinline)) int
order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) int
through(int (*f)(int), int n)
{
	return f(n) + sink;
}

static __attribute__((noinline)) void
leave(int n)
{
	if (n == 0)
		exit(3);
	leave(n - 1);
	sink = 1;
}

int
main(void)
{
	int v[] = {5, 2, 8, 1, 9, 3};
	volatile int i;

	for (i = 0; i < 3; i++)
		if (!setjmp(out))
			jump(4 + i);
	qsort(v, 6, sizeof *v, order);
	printf("%d %d %d %d\n", even(9), ackermann(2, 3), through(even, 4) + through(odd, 7), v[0]);
	leave(4);
	return 0;
}
