/* SPDX-License-Identifier: MIT */
/* Leaves of a convention that keeps more than the usual one. Nothing but the registers that they change shows it. */
volatile int left;
volatile long from[8] = {1, 2, 3, 4, 5, 6, 7, 8}, to;

__attribute__((CONVENTION)) void
few(void)
{
	for (left = 20; left > 0; left--)
		if (left & 1)
			to += left;
}

__attribute__((CONVENTION)) void
many(void)
{
	for (left = 20; left > 0; left--) {
		long a = from[0], b = from[1], c = from[2], d = from[3], e = from[4];

		if (left & 1)
			to += a * b ^ c * d + e * (a - d);
		else if (left & 2)
			to -= (c ^ e) * a - b * d;
	}
}
