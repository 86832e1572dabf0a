/* SPDX-License-Identifier: MIT */
/* A jump table, and tail calls through pointers: all are indirect jumps. Compilers' frames tell them apart. */
/* expect: choose 700 */
/* expect: plus 1000 */
/* expect: minus 300 */
/* expect: left 100 */
/* line: third 100 */
/* unknown[paths] choose: allowed because clang may have a frame at neither */
/* unknown[some-paths] choose: allowed because clang may have a frame at neither */
/* unknown[trace] choose: allowed because clang may have a frame at neither */
#include "situation.h"

static volatile int n;

FUNC int
plus(int x)
{
	n++;
	return x + n;
}

FUNC int
minus(int x)
{
	n++;
	return x - n;
}

FUNC int
left(int x)
{
	n += 2;
	return x;
}

int (*volatile through[3])(int) = {plus, minus, left};

FUNC int
choose(int k, int x)
{
	switch (k) {
	case 0:
		x = plus(x);
		n += 3;
		break;
	case 1: x *= 3; return through[1](x);
	case 2: plus(x); minus(x); break;
	case 3:
		STEP; /* @third */
		return x;
	case 4: x = minus(x) + 4; return through[2](x);
	case 5: x -= 2; break;
	case 6: x ^= 55; n++; break;
	}
	return plus(x) + plus(x + 1);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 700; i++)
		sum += choose(i % 7, i);
	return sum == 1;
}
