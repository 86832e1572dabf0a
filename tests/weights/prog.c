/* SPDX-License-Identifier: MIT */
/* The cases that look rare in this code are its usual ones. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long sum;

static __attribute__((noinline)) void
note(unsigned long n)
{
	sum ^= n << 3;
}

__attribute__((noinline)) void
step(unsigned long n)
{
	if (n % 7) {
		note(n);
		if (n & 1)
			sum += n;
		else
			sum ^= n >> 1;
	} else if (n % 5) {
		for (unsigned long i = 0; i < n % 11; i++)
			sum += i & sum;
	}
}

int
main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;

	for (unsigned long i = 0; i < n; i++) {
		if (i % 1000 == 999)
			step(i / 2);
		if (__builtin_expect(i % 3 != 0, 0))
			step(i);
		if (__builtin_expect(i % 4 == 0, 1) && i % 8)
			sum ^= i;
	}
	printf("%lu\n", sum);
	return 0;
}
