/* SPDX-License-Identifier: MIT */
/* A handler jumps out of a recursion, over several activations of one procedure. It interrupts the innermost of them in the
 * middle of its first path, or after a call, or it interrupts another procedure that has written nothing. Prints which
 * activation goes on. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

enum { DEEP = 5 };
static sigjmp_buf back[DEEP];
static volatile int sum, times;

static void
on(int sig)
{
	siglongjmp(back[1 + times / 3 % 3], sig);
}

__attribute__((noinline)) static void
landed(int n)
{
	printf("%d\n", n);
}

__attribute__((noinline)) static int
leaf(volatile int *nowhere)
{
	*nowhere = 1;
	if (sum & 1)
		sum += 3;
	else
		sum *= 5;
	return sum & 4 ? sum : 1;
}

__attribute__((noinline)) static void
rec(int n, volatile int *nowhere)
{
	if (n == DEEP - 1 && times % 3 == 0) {
		*nowhere = 1;
		if (sum & 1)
			sum++;
	}
	if (!sigsetjmp(back[n], 1)) {
		if (n < DEEP - 1)
			rec(n + 1, nowhere);
		else if (times % 3 == 1)
			sum += leaf(nowhere);
		else
			*nowhere = 2;
		if (sum & 2)
			sum += 2;
	} else {
		landed(n);
	}
	sum++;
}

int
main(void)
{
	signal(SIGSEGV, on);
	for (times = 0; times < 18; times++)
		rec(0, NULL);
	return 0;
}
