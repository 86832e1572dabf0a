/* SPDX-License-Identifier: MIT */
/* Orders numbers by the procedure in pieces of live-split.s. */
#include <stdio.h>

int compare(long a, long b);

int
main(void)
{
	for (long a = -3; a < 4; a++)
		for (long b = -3; b < 4; b++)
			printf("%d", compare(a, b) + 1);
	putchar('\n');
	return 0;
}
