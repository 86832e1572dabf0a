/* SPDX-License-Identifier: MIT */
/* Nothing but calls. */
#include <stdio.h>
#include <stdlib.h>

static unsigned __attribute__((noinline))
fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int
main(int argc, char **argv)
{
	printf("%u\n", fib(argc > 1 ? (unsigned)atoi(argv[1]) : 30));
	return 0;
}
