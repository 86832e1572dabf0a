/* SPDX-License-Identifier: MIT */
/* Calls the jumps of code-jumps.s. */
#include <stdio.h>

int minus(int), scaled(int), popped(int), returned(int), numbers(int), called(int), halved(int);
int table(int), distances(int), chosen(int);

/* Compilers' own: by labels, by their distances, by a distance that is a number in the code. */
__attribute__((noinline)) static int
by_labels(int n)
{
	static const void *const at[] = {&&zero, &&one, &&two};
	static const int far[] = {&&zero - &&two, &&one - &&two, 0};
	int sum = 0;

	goto *at[n % 3];
two:	sum++;
one:	sum++;
zero:	if (n-- > 3)
		goto *(&&two + far[n % 3]);
	return sum;
}

__attribute__((noinline)) static int
by_number(int n)
{
	static const int far[] = {&&one - &&zero, &&two - &&zero};
	int sum = 0, k = n & 1 ? far[0] : far[1];

zero:	if (sum > 8)
		return sum;
	goto *(&&zero + k);
two:	sum++;
one:	sum++;
	goto zero;
}

int
main(void)
{
	int s = 0;

	for (int n = 0; n < 9; n++) {
		s = s * 3 + minus(n) + scaled(n) + popped(n) + returned(n) + numbers(n) + called(n) + table(n) + distances(n);
		s = s * 3 + by_labels(n) + by_number(n) + halved(n) + chosen(n);
	}
	printf("%d\n", s);
	return 0;
}
