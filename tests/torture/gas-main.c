/* SPDX-License-Identifier: MIT */
/* Calls the procedure f0 of texts of gas, and prints what it returns. */
#include <stdio.h>

unsigned long f0(unsigned long);

int
main(void)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < 10; i++) {
		unsigned long r = f0(i);

		sum = sum * 31 + r;
		printf("%lx\n", r);
	}
	return sum % 64;
}
