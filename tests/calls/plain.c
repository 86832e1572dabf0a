/* SPDX-License-Identifier: MIT */
/* Calls without recursion, and without calls in a library: callgrind has to give the same numbers for each call. */
static volatile int sink;

static __attribute__((noinline)) int
leaf(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i ^ sink;
	return sum;
}

static __attribute__((noinline)) int
middle(int n)
{
	return n & 1 ? leaf(n) + leaf(n / 2) : leaf(3) * sink;
}

static __attribute__((noinline)) int
top(int n)
{
	int sum = 0;

	while (n-- > 0)
		sum += middle(n);
	return sum;
}

int
main(void)
{
	return (top(50) + middle(7) + leaf(100)) & 0;
}
