// SPDX-License-Identifier: MIT
/* The other object. */
// Called ten times, with a loop of a hundred.
int work(int n)
{
	int sum = 0;

	for (volatile int i = 0; i < 100; i++)
		sum += n ^ i;
	return sum;
}
