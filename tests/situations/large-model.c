/* SPDX-License-Identifier: MIT */
/* The large model: functions are called through registers, also static ones. Across such calls gcc keeps values in registers
 * that calls destroy otherwise. The code that asks for a thread's variable is four instructions, which the linker replaces
 * together. */
/* options: -mcmodel=large -fPIC */
/* expect: square 4 */
/* expect: many 1 */
#include "situation.h"

#include <stdio.h>

static __thread long seen;

__attribute__((noinline)) static long
square(long a, long b)
{
	seen += a;
	return a * b - (a > b ? a : b);
}

long many(long a, long b, long c, long d, long e, long f, long g, long h);
__attribute__((noinline)) long
many(long a, long b, long c, long d, long e, long f, long g, long h)
{
	long r = square(a, b);

	r += square(c, d) * e;
	r ^= square(e, f) + g;
	r += square(g, h) * a + b + c + d + e + f + h;
	return r;
}

int
main(void)
{
	printf("%ld %ld\n", many((long)stdout != 0, 2, 3, 4, 5, 6, 7, 8), seen);
	return 0;
}
