/* SPDX-License-Identifier: MIT */
/* Functions that call in every way: some have one caller, some have several; there is recursion below one and between two. */
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline, noipa))

APART int
leaf(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		s += i;
		__asm__ volatile("" : "+r"(s));
	}
	return s;
}

APART int shared(int n) { return leaf(n) + 1; }
APART int first(int n) { return shared(n) + leaf(3); }
APART int second(int n) { return shared(2 * n) * 2; }

APART int
inner(int n)
{
	for (; n > 3; n -= 2)
		__asm__ volatile("" : "+r"(n));
	return n;
}

APART int fib(int n) { return n < 2 ? inner(n + 5) : fib(n - 1) + fib(n - 2); }
APART int alone(int n) { return fib(n) + inner(n) + 1; }

APART int even(int n);
APART int odd(int n) { return n ? even(n - 1) + 1 : 0; }
APART int even(int n) { return n ? odd(n - 1) + 2 : 1; }

APART int order(const void *x, const void *y) { return *(const int *)x - *(const int *)y; }

APART int
sorts(int n)
{
	int v[16];

	for (int i = 0; i < 16; i++)
		v[i] = (i * 7 + n) % 16;
	qsort(v, 16, sizeof *v, order);
	return v[3];
}

/* At -O2 this is left by a jump. */
APART int passes(int n) { return leaf(n + 4); }

APART int says(int n) { return printf("%d\n", n) + 1; }

int
main(int argc, char **argv)
{
	int s = first(10) + second(7) + alone(9) + odd(9) + even(4) + passes(2);

	(void)argv;
	if (argc > 1)
		s += sorts(argc);
	return says(s) == 7;
}
