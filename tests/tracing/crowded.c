/* SPDX-License-Identifier: MIT */
/* Calls what crowded.s has. */
#include <stdio.h>

int all(int n);

int
main(void)
{
	int sum = 0;

	for (int i = 0; i < 200; i++)
		sum += all(i);
	printf("%d\n", sum);
	return 0;
}
