/* SPDX-License-Identifier: MIT */
/* Calls code that is written as bytes. */
#include <stdio.h>

int f(int);

int
main(void)
{
	for (int i = 0; i < 8; i++)
		printf("f(%d)=%d\n", i, f(i));
	return 0;
}
