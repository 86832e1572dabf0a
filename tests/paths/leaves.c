/* SPDX-License-Identifier: MIT */
/* Activations that do not return, in recursions and in loops. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf back;
static int depth, jumps;

static __attribute__((noinline)) void
jump(int n)
{
	jumps++;
	if (n)
		longjmp(back, n);
}

static __attribute__((noinline)) int
down(int n, int at)
{
	int sum = 0;

	depth++;
	for (int i = 0; i < 3; i++) {
		if (n == at)
			jump(at & 3);
		if (n % 3 == i)
			sum += n < at ? down(n + 1, at) : i;
		else if (i == 2)
			jump(0);
	}
	return sum;
}

static __attribute__((noinline)) int
try(int n)
{
	int what = setjmp(back);

	if (what == 1)
		return down(n, n + 2);
	if (what == 2)
		return -1;
	if (what)
		n++;
	return down(0, n);
}

static __attribute__((noinline)) int
compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

static __attribute__((noinline)) int
table(unsigned n)
{
	switch (n % 9) {
	case 0: return depth;
	case 1: return 3;
	case 2: depth++; return 5;
	case 3: return jumps + 1;
	case 4: depth--; /* fallthrough */
	case 5: return 9;
	case 6: return depth > 3 ? 1 : 7;
	default: return 2;
	}
}

int
main(void)
{
	int v[20], sum = 0;

	for (int i = 0; i < 12; i++)
		sum += try(i);
	for (int i = 0; i < 20; i++) {
		v[i] = i * 7 % 20;
		sum += table((unsigned)i);
	}
	qsort(v, 20, sizeof *v, compare);
	printf("%d %d %d %d\n", sum, depth, jumps, v[3]);
	if (sum != 12345)
		exit(3);
	return 0;
}
