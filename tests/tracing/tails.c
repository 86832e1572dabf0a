/* SPDX-License-Identifier: MIT */
/* Jump tables beside tail calls through pointers, in a procedure with a frame and in one without: 7 tail calls in 7 rounds. */
#include <stdio.h>

static volatile int n;

__attribute__((noinline)) int
plus(int x)
{
	n++;
	return x + n;
}

__attribute__((noinline)) int
minus(int x)
{
	n++;
	return x - n;
}

int (*volatile through[2])(int) = {plus, minus};

__attribute__((noinline)) int
choose(int k, int x)
{
	switch (k) {
	case 0: x = plus(x); n += 3; break;
	case 1: x *= 3; return through[1](x);
	case 2: plus(x); minus(x); break;
	case 3: return x;
	case 4: x = minus(x) + 4; return through[0](x);
	case 5: x -= 2; break;
	case 6: x ^= 55; n++; break;
	}
	return plus(x) + plus(x + 1);
}

__attribute__((noinline)) int
bare(int k, int x)
{
	switch (k) {
	case 0: return through[0](x);
	case 1: return plus(x);
	case 2: return through[1](x + 1);
	case 3: return x;
	case 4: return through[1](x);
	case 5: return x * 3;
	}
	return through[k & 1](x);
}

int
main(void)
{
	int sum = 0;

	for (int i = 0; i < 70; i++)
		sum += choose(i % 7, i) + bare(i % 7, i);
	printf("%d\n", sum);
	return 0;
}
