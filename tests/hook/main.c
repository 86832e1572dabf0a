// SPDX-License-Identifier: MIT
/* Calls what work.c has: two objects. */
#include <stdio.h>

int work(int n);

int main(void)
{
	long sum = 0;

	for (int i = 0; i < 10; i++)
		sum += work(i);
	printf("%ld\n", sum);
	return 0;
}
