/* SPDX-License-Identifier: MIT */
/* One function has no code of its own. Another one has, but it is not called there. */
#include <stdio.h>

static inline __attribute__((always_inline)) long
inner(long n)
{
	return n % 7 ? n + 3 : n * 5;
}

/* It is called as inlined code only. */
long both(long n) { return n * n + 1; }

__attribute__((noipa)) static long
outer(long n)
{
	long s = inner(n);

	return s + both(s);
}

int
main(void)
{
	long s = 0;

	for (long i = 0; i < 20; i++) s += outer(i);
	return printf("%ld\n", s) < 0;
}
