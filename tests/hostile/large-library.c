/* SPDX-License-Identifier: MIT */
/* A library that is larger than the room beside the other libraries. */
char large[6 << 20];

long
work(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += i % 7 ? i : -i;
	large[n] = 1;
	return sum;
}
