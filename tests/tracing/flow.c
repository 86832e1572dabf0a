/* SPDX-License-Identifier: MIT */
/* Recursion, loops, tables of jumps, calls through pointers, callbacks, tail calls, longjmp, a signal that is raised. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf back;
static volatile sig_atomic_t struck;
static volatile unsigned sum;

__attribute__((noinline)) static unsigned
fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static unsigned
table(unsigned n)
{
	switch (n % 8) {
	case 0: return sum + 3;
	case 1: return sum * 5;
	case 2: return sum ^ 77;
	case 3: return fib(3);
	case 4: sum++; /* fall through */
	case 5: return sum - 9;
	case 6: return sum << 1;
	default: return sum >> 2;
	}
}

static int
by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void
deep(int n)
{
	if (!n)
		longjmp(back, 7);
	deep(n - 1);
	sum += (unsigned)n;
}

__attribute__((noinline)) static unsigned
even(unsigned n);
__attribute__((noinline)) static unsigned
odd(unsigned n)
{
	return n ? even(n - 1) : 0;
}
__attribute__((noinline)) static unsigned
even(unsigned n)
{
	return n ? odd(n - 1) : 1;
}

static void
handler(int sig)
{
	struck += sig;
	sum += fib(4);
}

__attribute__((noinline)) static void
sorted(void)
{
	int v[] = {5, 3, 9, 1, 7, 7, 2};

	qsort(v, sizeof v / sizeof *v, sizeof *v, by_value);
	sum += (unsigned)v[3];
}

int
main(void)
{
	unsigned (*volatile f[])(unsigned) = {fib, table, even, odd};

	signal(SIGUSR1, handler);
	for (unsigned i = 0; i < 20; i++)
		sum += f[i % 4](i % 9);
	for (int round = 0; round < 3; round++)
		if (!setjmp(back))
			deep(round + 2);
	raise(SIGUSR1);
	sorted();
	for (unsigned i = 0; i < 9; i++)
		for (unsigned k = 0; k < i; k++)
			if (k % 3 == 1)
				sum += table(k);
			else if (i % 2)
				sum ^= k;
	printf("%u %d\n", sum, struck);
	return 0;
}
