/* SPDX-License-Identifier: MIT */
/* A jump table, and tail calls through pointers: all of them are indirect jumps. In one procedure the compiler's frames tell
 * them apart. The other procedure has no frame, and there nothing tells them apart. */
/* expect: choose 700 */
/* expect: plus 1300 */
/* expect: minus 400 */
/* expect: left 200 */
/* expect: bare 700 */
/* line: third 100 */
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

FUNC int
bare(int k, int x)
{
	switch (k) {
	case 0: return through[0](x);
	case 1: return plus(x);
	case 2: return through[1](x + 1);
	case 3: return x;
	case 4: return through[2](x);
	case 5: return x * 3;
	}
	return through[k & 1](x);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 700; i++)
		sum += choose(i % 7, i) + bare(i % 7, i);
	return sum == 1;
}
