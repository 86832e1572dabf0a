/* SPDX-License-Identifier: MIT */
/* What the signals of lasts.c and passes.c interrupt. */

static volatile long sum, handled;

__attribute__((noinline)) static long
thrice(long n)
{
	return n * 3 + sum;
}

__attribute__((noinline)) static long
some(long n)
{
	return n & 1 ? thrice(n) : thrice(n + 1) + thrice(n);
}
