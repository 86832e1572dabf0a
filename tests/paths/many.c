/* SPDX-License-Identifier: MIT */
/* A procedure with 2^20 paths; more of them run than its table has room for. And a procedure that has more paths than can be
 * numbered. */
#include <stdio.h>
#include <stdlib.h>

static unsigned sum;

/* Branches, whatever the level. */
#define BIT(i) if (n >> i & 1) { __asm__ volatile("nop" : : : "memory"); sum += i * 7 + 1; } else sum ^= i * 5
#define BITS(i) BIT(i); BIT(i + 1); BIT(i + 2); BIT(i + 3)

static __attribute__((noinline)) void
many(unsigned n)
{
	BITS(0); BITS(4); BITS(8); BITS(12); BITS(16);
}

static __attribute__((noinline)) void
more(unsigned long n)
{
	BITS(0); BITS(4); BITS(8); BITS(12); BITS(16); BITS(20); BITS(24); BITS(28);
	BITS(32); BITS(36); BITS(40); BITS(44); BITS(48); BITS(52); BITS(56); BITS(60);
}

int
main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
	unsigned long x = 88172645463325252ul;

	for (unsigned i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		many((unsigned)(x >> 20));
		if (argc > 2)
			fprintf(stderr, "%u\n", (unsigned)(x >> 20) & ((1u << 20) - 1));
		if (i % 8 == 0)
			more(x);
	}
	printf("%u\n", sum);
	return 0;
}
