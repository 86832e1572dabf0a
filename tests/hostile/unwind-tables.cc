// SPDX-License-Identifier: MIT
// Exceptions that run destructors on their way, 100 of them.
#include <cstdio>

static int live;
struct counted {
	counted() { live++; }
	~counted() { live--; }
};

extern "C" __attribute__((noinline)) int
recurse(int n)
{
	counted c;

	if (n == 0)
		throw 42;
	return recurse(n - 1) + 1;
}

extern "C" __attribute__((noinline)) int
loop(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		try {
			sum += recurse(i % 3);
		} catch (int x) {
			sum += x;
		}
	return sum;
}

int
main()
{
	printf("%d %d\n", loop(100), live);
}
