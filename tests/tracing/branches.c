/* SPDX-License-Identifier: MIT */
/* A loop with a known number of branches: in each round one that leaves it or not, and one that is taken every third time. */
#include <stdio.h>

static volatile unsigned third, other;

__attribute__((noinline)) static void
thirds(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (i % 3 == 0)
			third = i;
		else
			other = i;
		__asm__ volatile("");
	}
}

int
main(void)
{
	thirds(1000000);
	printf("%u %u\n", third, other);
	return 0;
}
