/* SPDX-License-Identifier: MIT */
/* expect: main 1 */
/* run: ./program told >/dev/null */
/* expect: compare $(cat told) */
/* expect: work $(cat told) */
#include "situation.h"
#include <stdio.h>
#include <stdlib.h>

static long calls;

FUNC static int
compare(const void *a, const void *b)
{
	work();
	calls++;
	return *(const int *)a - *(const int *)b;
}

int
main(int argc, char **argv)
{
	static int n[1000];
	FILE *told = fopen(argv[argc - 1], "w");
	for (int i = 0; i < 1000; i++)
		n[i] = i * 7919 % 1000;
	qsort(n, 1000, sizeof *n, compare);
	fprintf(told, "%ld\n", calls);
	return 0;
}
