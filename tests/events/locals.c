/* SPDX-License-Identifier: MIT */
/* Procedures that only calls of this text enter, and some that only look so. The argument says how often they run. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define ALONE __attribute__((noinline)) static

static unsigned seed = 1, calls;
static jmp_buf away;

ALONE unsigned
straight(unsigned n)
{
	return n * 2654435761u >> 7;
}

ALONE unsigned
next(void)
{
	seed = seed * 1103515245 + 12345;
	return seed >> 16 & 0x7fff;
}

/* Calls itself. */
ALONE unsigned
fib(unsigned n)
{
	return n < 2 ? straight(n) + n : fib(n - 1) + fib(n - 2);
}

/* Call each other: one of them has to be right where it is entered. */
static unsigned odd(unsigned n);

ALONE unsigned
even(unsigned n)
{
	return n ? odd(n - 1) * 3 + 1 : straight(n + 7);
}

ALONE unsigned
odd(unsigned n)
{
	return n ? even(n - 1) ^ 5 : next();
}

/* Does not always come back. */
ALONE void
leave(unsigned n)
{
	calls += straight(n);
	if (n % 5 == 0)
		longjmp(away, 1);
	calls++;
}

/* Its address is taken as well. */
ALONE int
order(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* A tail call leads to it as well. */
ALONE unsigned
twice(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n % 4; i++)
		sum += straight(i) + next();
	return sum;
}

ALONE unsigned
thrice(unsigned n)
{
	if (n & 1)
		return twice(n + 3);
	return straight(n) + twice(n);
}

__attribute__((noinline)) unsigned
shared(unsigned n)
{
	return thrice(n) + fib(n % 6);
}

int
main(int argc, char **argv)
{
	unsigned times = argc > 1 ? (unsigned)atoi(argv[1]) : 10, sum = 0, list[16];

	for (volatile unsigned i = 0; i < times; i++) {
		sum += shared(next()) + even(next() % 9) + odd(next() % 8);
		for (unsigned k = 0; k < 16; k++)
			list[k] = next();
		qsort(list, 16, sizeof *list, order);
		sum += (unsigned)order(list, list + 5);
		if (!setjmp(away))
			leave(next());
	}
	printf("%u %u\n", sum, calls);
	return 0;
}
