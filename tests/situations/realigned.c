/* SPDX-License-Identifier: MIT */
/* Calls through pointers where the frame is aligned, so its state cannot be stated elsewhere. */
/* expect: main 1 */
/* expect: realigned 40 */
/* expect: one 40 */
/* expect: other 40 */
#include "situation.h"

#include <alloca.h>
#include <stdint.h>

FUNC static long
one(char *p)
{
	return (uintptr_t)p % 64 == 0;
}

FUNC static long
other(char *p)
{
	return (uintptr_t)p % 64 != 0;
}

/* More arguments than registers: they are found by a register of their own. */
FUNC static long
realigned(long (*f)(char *), int n, long c, long d, long e, long g, long h)
{
	__attribute__((aligned(64))) char a[64];
	char *b = alloca((size_t)n);

	b[0] = a[0] = (char)n;
	return f(a) + f(b) + h + (c + d + e + g) + b[0] + a[0];
}

int
main(void)
{
	long sum = 0;

	for (int i = 0; i < 20; i++) {
		sum += realigned(one, 100 + i, i, 2, 3, 4, 5);
		sum += realigned(other, 100, 1, i, 3, 4, 5);
	}
	return sum == 0;
}
