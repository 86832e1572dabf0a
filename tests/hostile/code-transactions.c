/* SPDX-License-Identifier: MIT */
/* Transactions (-fgnu-tm): three of 300 are cancelled. */
#include <stdio.h>

static long shared[8];

__attribute__((transaction_pure, noinline)) void
mark(void)
{
	__asm__ volatile("" : : : "memory");
}

__attribute__((transaction_safe, noinline)) long
add(int i)
{
	mark();
	if (i % 3 == 0)
		shared[i % 8]++;
	return shared[i % 8];
}

__attribute__((noinline)) static int
begin(int i)
{
	__transaction_atomic {
		add(i);
		if (i % 100 == 7)
			__transaction_cancel;
	}
	return i;
}

int
main(void)
{
	long sum = 0;

	for (int i = 0; i < 300; i++)
		sum += begin(i);
	printf("%ld %ld\n", sum, shared[3]);
	return 0;
}
