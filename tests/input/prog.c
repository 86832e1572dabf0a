// SPDX-License-Identifier: MIT
// Prints a number and ends with status 3: whatever becomes of its profile, neither may change.
#include <stdio.h>
#include <string.h>

static volatile int times = 10;

__attribute__((noinline)) int
work(int n)
{
	switch (n % 7) {
	case 0: return 3;
	case 1: return n * 5;
	case 2: return n ^ 77;
	case 3: return n - 2;
	case 4: return n << 3;
	case 5: return n | 64;
	default: return -n;
	}
}

int
main(int argc, char **argv)
{
	long sum = 0;

	for (int i = 0; i < times; i++)
		sum += work(i) + (int)strlen(argv[i % argc]) * 0;
	printf("%ld\n", sum);
	return 3;
}
