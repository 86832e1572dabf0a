/* SPDX-License-Identifier: MIT */
/* Known calls and counts: three levels of calls, one function with two callers, one called by pointer, one that never runs. */
#include <stdio.h>
#include <stdlib.h>

static volatile long sink;

__attribute__((noipa)) static void
shared(long n)
{
	for (long i = 0; i < n; i++)
		sink += i;
}

__attribute__((noipa)) static void
inner(long n)
{
	shared(n);
	sink++;
}

__attribute__((noipa)) static void
outer(long n)
{
	for (long i = 0; i < n; i++)
		inner(3);
	sink++;
}

__attribute__((noipa)) static void
pointed(long n)
{
	sink += n;
}

__attribute__((noipa)) void
never(long n)
{
	sink = n;
}

int
main(int argc, char **argv)
{
	void (*volatile pointer)(long) = pointed;

	outer(10);
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 5); i++)
		shared(2);
	pointer(1);
	if (argc > 5)
		never(1);
	printf("%ld\n", sink);
	return 0;
}
