/* SPDX-License-Identifier: MIT */
/* The location of the largest of 100,000 random numbers: Weinberger 1984, VIII. The numbers are the same in every run. */
#include <stdlib.h>

#define N 100000
long x[N];

int
max(long v[], int n)
{
	int i, j;

	j = 0;
	for (i = 1; i < n; i++) {
		if (v[i] > v[j])
			j = i;
	}
	return j;
}

int
main(void)
{
	int i;

	srand48(1);
	for (i = 0; i < N; i++)
		x[i] = lrand48();
	return max(x, N) < 0;
}
