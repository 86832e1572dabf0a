/* SPDX-License-Identifier: MIT */
/* A procedure that uses neither r10 nor r11. */
long reserved(long x);

__attribute__((externally_visible, noinline)) long
reserved(long x)
{
	long sum = 0;

	for (long i = 0; i < x; i++) {
		if (i & 1)
			sum += i * 3;
		else
			sum ^= i;
	}
	return sum;
}
