/* SPDX-License-Identifier: MIT */
/* Functions and branches for exporters, with known counts. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noipa)) static long
sum(const long *a, long n)
{
	long s = 0;

	for (long i = 0; i < n; i++)
		if (a[i] % 3)
			s += a[i];
	return s;
}

__attribute__((noipa)) long
never(long n)
{
	return n * 3;
}

int
main(int argc, char **argv)
{
	static long a[100];
	long s = 0;

	for (long i = 0; i < 100; i++)
		a[i] = i;
	for (int i = 0; i < 50; i++)
		s += sum(a, 100);
	if (argc > 5)
		s = never(atol(argv[1]));
	printf("%ld\n", s);
	return 0;
}
