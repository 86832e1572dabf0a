/* SPDX-License-Identifier: MIT */
/* Registers of several kinds in loops with branches, in recursion, and in a table of jumps: for pairs of definition and use. */
#include <stdio.h>
#include <stdlib.h>

static double a[64], b[64];
static int h[64];

__attribute__((noinline)) static double
dot(int n)
{
	double s = 0;

	for (int i = 0; i < n; i++) {
		s += a[i] * b[i];
		if (s > 100)
			s /= 2;
		else if (h[i & 63] & 1)
			s = -s;
	}
	return s;
}

/* Bytes keep what else is in their registers. */
__attribute__((noinline)) static int
mix(int n, unsigned char c)
{
	unsigned char d = c;
	int r = 0;

	for (int i = 0; i < n; i++) {
		d = (unsigned char)(d * 3 + i);
		if (d > 128)
			r += d << (i & 7);
		else
			r ^= i;
		h[i & 63] = r;
	}
	return r;
}

__attribute__((noinline)) static int
recurse(int n)
{
	return n < 2 ? n : recurse(n - 1) + recurse(n - 2) % 3;
}

__attribute__((noinline)) static long
choose(int n)
{
	long s = 0;

	for (int i = 0; i < n; i++)
		switch (i % 9) {
		case 0: s += 3; break;
		case 1: s *= 2; break;
		case 2: s -= recurse(4); break;
		case 3: s ^= 77; continue;
		case 4: s++; /* fall through */
		case 5: s += i; break;
		case 7: s = -s; break;
		}
	return s;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 40;

	for (int i = 0; i < 64; i++) {
		a[i] = i;
		b[i] = i * 0.5;
	}
	printf("%f %d %ld\n", dot(n), mix(n, (unsigned char)n), choose(n));
	printf("%f\n", dot(3));
	return 0;
}
