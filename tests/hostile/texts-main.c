/* SPDX-License-Identifier: MIT */
/* Calls a function in assembly by hand, and prints what it returns. */
#include <stdio.h>

long f(long);

int
main(void)
{
	unsigned long sum = 0;

	for (long i = 0; i < 10; i++) {
		long r = f(i);

		sum = sum * 31 + (unsigned long)r;
		printf("%ld\n", r);
	}
	return sum % 64;
}
