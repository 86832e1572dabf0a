/* SPDX-License-Identifier: MIT */
/* Calls the loops of borrow.s. */
long leaf(const long *, long), carry(const long *, long), aligned(const long *, long), beyond(const long *, long);

int
main(void)
{
	static const long words[] = {1, 2, 3};
	long sum = 0;

	for (long n = 1; n <= 3; n++)
		sum += leaf(words, n) + carry(words, n) + aligned(words, n) + beyond(words, n);
	return sum != 40;
}
