/* SPDX-License-Identifier: MIT */
/* Signals, which steps sends, may come at any time. Their handlers interrupt loops, calls, tail calls, recursion, callbacks,
 * each other, and jumps out of activations. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned sum, first, second;
static jmp_buf back;

__attribute__((noinline)) static unsigned
leaf(unsigned n)
{
	return n * 3 + (n & 4 ? sum : 1);
}

__attribute__((noinline)) static unsigned
fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static unsigned
jumps(unsigned n)
{
	switch (n % 7) {
	case 0: return sum + 3;
	case 1: return leaf(n);
	case 2: sum ^= n; break;
	case 3: return fib(3);
	case 4: sum++; /* fall through */
	case 5: return sum - 9;
	default: break;
	}
	while (n--)
		sum += n & 1 ? 2 : n;
	return leaf(sum);
}

static void
on_first(int sig)
{
	first++;
	for (int i = 0; i < sig % 4; i++)
		sum += leaf((unsigned)i);
}

static void
on_second(int sig, siginfo_t *info, void *context)
{
	second += sig + (info != context);
}

static int
by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void
deep(unsigned n)
{
	if (!n)
		longjmp(back, 1);
	deep(n - 1);
	sum += n;
}

static void
handle(void)
{
	struct sigaction a = {.sa_handler = on_first}, b = {.sa_sigaction = on_second, .sa_flags = SA_SIGINFO};

	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGUSR2, &b, NULL);
}

int
main(void)
{
	int v[] = {5, 3, 9, 1, 7, 2};

	handle();
	for (unsigned i = 0; i < 30; i++)
		sum += jumps(i);
	for (unsigned i = 0; i < 3; i++)
		if (!setjmp(back))
			deep(i + 1);
	sum += fib(6);
	qsort(v, sizeof v / sizeof *v, sizeof *v, by_value);
	return first + second == 0;
}
