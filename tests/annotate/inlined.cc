/* SPDX-License-Identifier: MIT */
/* Functions that are inlined, into one another, more than once, and not in all places. */
#include <cstdio>
#include <cstdlib>
#include <vector>

#define STEP __asm__ volatile("nop")

static inline __attribute__((always_inline)) int
innermost(int a)
{
	STEP; /* innermost */
	return a * 3;
}

static inline __attribute__((always_inline)) int
middle(int a)
{
	STEP; /* middle */
	return innermost(a) + innermost(a + 1);
}

namespace {
/* Also has a copy of its own, which is called. */
int twofold(int a)
{
	STEP; /* twofold */
	return a ^ 5;
}
}

int (*volatile pointer)(int) = twofold;

__attribute__((noinline)) static int
alone(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += middle(i) + twofold(i);
	return sum;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;
	std::vector<int> v;
	int sum = alone(n) + middle(n);

	for (int i = 0; i < n; i++)
		v.push_back(pointer(i) + [](int x) { STEP; return x + 1; }(i));
	for (int x : v)
		sum += innermost(x);
	return sum == 0;
}
