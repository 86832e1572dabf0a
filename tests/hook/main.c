// SPDX-License-Identifier: MIT
/* Calls the functions of work.c, so the program has two objects. */
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
