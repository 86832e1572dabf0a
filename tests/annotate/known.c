/* SPDX-License-Identifier: MIT */
/* Lines that run a known number of times. */
#include <stdio.h>
#include <stdlib.h>

#define STEP __asm__ volatile("nop")

__attribute__((noinline)) static void
once(long n)
{
	STEP; /* once */
	if (n > 1000) {
		STEP; /* never */
	}
}

__attribute__((noinline)) static void
loop(long n)
{
	for (long i = 0; i < n; i++) {
		STEP; /* each */
		if (i % 4 == 0) {
			STEP; /* fourth */
		}
	}
}

int
main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100;

	once(n);
	loop(n);
	return 0;
}
