/* SPDX-License-Identifier: MIT */
/* Calls the functions of unwind-woven.s, each by all of its ways. */
#include <stdio.h>

long flags(long a, long b);
long early(long a, long b);
long rounds(long n, const long *from, long size);

long
other(long a)
{
	return a * 3;
}

int
main(void)
{
	static const long numbers[] = {3, -4, 5, 6, -7, 8, 9, 10};
	long sum = 0;

	for (long a = -3; a < 4; a++)
		for (long b = -3; b < 4; b++)
			sum = sum * 3 + flags(a, b) + early(a, b);
	for (long n = 1; n < 9; n++)
		sum = sum * 5 + rounds(n, numbers, n % 3);
	printf("%lu\n", (unsigned long)sum);
	return 0;
}
