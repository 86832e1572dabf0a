/* SPDX-License-Identifier: MIT */
/* Functions that are called by one function, by several, and by themselves. */
#include <stdio.h>

volatile long sink;

static inline __attribute__((always_inline)) void
inlined(long n)
{
	for (long i = 0; i < n; i++)
		sink += i;
}

__attribute__((noipa)) static void leaf(void) { sink++; }
__attribute__((noipa)) static void below(long n) { inlined(n); }
__attribute__((noipa)) static void under(void) { sink += 2; }
__attribute__((noipa)) static void twice(void) { under(); sink += 3; }
__attribute__((noipa)) static long again(long n) { return n ? again(n - 1) + n : 0; }

__attribute__((noipa)) static void
only(void)
{
	below(5);
	leaf();
	twice();
}

int
main(void)
{
	for (int i = 0; i < 3; i++)
		only();
	for (int i = 0; i < 10; i++)
		leaf();
	twice();
	sink += again(9);
	return printf("%ld\n", sink) < 0;
}
