/* SPDX-License-Identifier: MIT */
/* Some hundred thousand paths, which is more than a ring keeps. */
#include <stdio.h>

static __attribute__((noinline)) unsigned
step(unsigned x)
{
	return x & 1 ? 3 * x + 1 : x / 2;
}

static __attribute__((noinline)) unsigned
length(unsigned x)
{
	unsigned n = 0;

	for (; x != 1; n++)
		x = step(x);
	return n;
}

int
main(void)
{
	unsigned sum = 0;

	for (unsigned i = 1; i < 2000; i++)
		sum += length(i);
	printf("%u\n", sum);
	return 0;
}
