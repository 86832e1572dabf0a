/* SPDX-License-Identifier: MIT */
/* A function that is called three times, and one that is called through a pointer. */
#include <stdlib.h>

__attribute__((noinline)) int
work(int a)
{
	__asm__ volatile("");
	return a + 1;
}

__attribute__((noinline)) int
often(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum ^= rand(); /* often */
	return sum;
}

int (*volatile pointer)(int) = work;

int
main(void)
{
	int n = often(1000);

	for (int i = 0; i < 3; i++)
		n += work(i);
	return pointer(n) == 0;
}
