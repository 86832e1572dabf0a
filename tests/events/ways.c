/* SPDX-License-Identifier: MIT */
/* Ways through code that need care: calls that do not return, jumps through tables, frames of any size, recursion, callbacks.
 * The argument says how often they run. */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned seed = 1;
static jmp_buf env;

static int
next(void)
{
	seed = seed * 1103515245 + 12345;
	return seed >> 16 & 0x7fff;
}

static __attribute__((noinline)) int
factorial(int n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}

static __attribute__((noinline)) int
choose(int x)
{
	switch (x % 11) {
	case 0: return x + 1;
	case 1: return factorial(x % 7);
	case 2: return x * 3;
	case 3: x ^= 5; break;
	case 4: x += factorial(3); /* fall through */
	case 5: x -= 7; break;
	case 7: return -x;
	case 8: x /= 3; break;
	case 9: x <<= 1; break;
	}
	return x;
}

static __attribute__((noinline)) int
interpret(const unsigned char *code)
{
	static void *const to[] = {&&stop, &&add, &&twice, &&skip, &&call};
	int x = 1;

#define NEXT goto *to[*code++ % 5]
	NEXT;
add:
	x += 3;
	NEXT;
twice:
	x *= 2;
	NEXT;
skip:
	if (x & 4)
		code++;
	NEXT;
call:
	x = choose(x & 0xffff);
	NEXT;
stop:
	return x;
}

static __attribute__((noinline)) void
deep(int n)
{
	if (n == 0)
		longjmp(env, 1 + next() % 3);
	deep(n - 1);
	seed++;
}

static __attribute__((noinline)) int
jump_back(int n)
{
	volatile int got = 0;
	int r = setjmp(env);

	got += r;
	if (got < 4)
		deep(n);
	return got;
}

static __attribute__((noinline)) long
framed(int n)
{
	char *room = alloca((size_t)n + 16);

	memset(room, n, (size_t)n + 16);
	return room[n / 2] + n;
}

static int
compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* A long one without any call, so that there are counters inside. */
static __attribute__((noinline)) long
grind(const int *at, int n)
{
	long s = 0;

	for (int i = 0; i < n; i++) {
		if (at[i] & 1)
			s += at[i];
		else if (at[i] & 2)
			s ^= i;
		for (int k = at[i] & 7; k > 0; k--)
			s = s * 3 + (s & 1 ? k : -k);
		if (s < 0)
			s = -s;
	}
	return s;
}

int
main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 100, at[60];
	long sum = 0;

	for (int k = 0; k < times; k++) {
		unsigned char code[20] = {0};

		for (int i = 0; i < 60; i++)
			at[i] = next();
		for (int i = 0; i < 18; i++)
			code[i] = (unsigned char)(1 + next() % 4);
		qsort(at, 60, sizeof *at, compare);
		sum += grind(at, 60) + interpret(code) + jump_back(k % 5) + framed(next() % 300);
		for (int i = 0; i < 60; i++)
			sum += choose(at[i]);
	}
	printf("%ld\n", sum);
	return 0;
}
