/* SPDX-License-Identifier: MIT */
/* Jumps back: setjmp that returns again and again in an activation that goes on, also from two places; __builtin_longjmp out of
 * recursion; siglongjmp out of a handler. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static jmp_buf again;
static sigjmp_buf out;
static void *plain[5];
static volatile unsigned sum, rounds;

__attribute__((noinline)) static unsigned
leaf(unsigned n)
{
	return n & 1 ? n * 3 : n + 1;
}

__attribute__((noinline)) static void
deep(int n, int how)
{
	sum += leaf((unsigned)n);
	if (!n && how)
		__builtin_longjmp(plain, 1);
	if (!n)
		longjmp(again, 1 + (int)rounds);
	deep(n - 1, how);
	sum++;
}

__attribute__((noinline)) static unsigned
re_enters(void)
{
	volatile unsigned before = sum;
	int got = setjmp(again);

	sum += (unsigned)got;
	if (rounds++ < 3)
		deep((int)rounds, 0);
	sum += leaf(before);
	if (rounds++ < 6)
		longjmp(again, 9);
	return sum;
}

__attribute__((noinline)) static unsigned
plainly(int n)
{
	if (!__builtin_setjmp(plain))
		deep(n, 1);
	return leaf(sum);
}

static void
handler(int sig)
{
	sum += (unsigned)sig;
	siglongjmp(out, 1);
}

int
main(void)
{
	sum += re_enters();
	for (int i = 1; i < 4; i++)
		sum += plainly(i);
	signal(SIGUSR1, handler);
	for (volatile int i = 0; i < 3; i++)
		if (!sigsetjmp(out, 1))
			raise(SIGUSR1);
	printf("%u\n", sum);
	return 0;
}
