/* SPDX-License-Identifier: MIT */
/* Some of everything that makes edges. It is short, because each of its steps is looked at. It has no rep prefixes, because a
 * debugger stops at each of their rounds. */
#include <setjmp.h>

#define HOT __attribute__((noinline))

static jmp_buf env;
static volatile int sink;

HOT static int
fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

HOT static int
classify(int n)
{
	switch (n) {
	case 0: return 12;
	case 1: sink++; return 3;
	case 2: case 3: return sink;
	case 4: sink += 7; break;
	case 5: return fib(2);
	case 6: sink -= 3; break;
	case 9: return -1;
	}
	return n * sink;
}

HOT static int
loops(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		for (int k = i; k; k &= k - 1)
			sum += k;
		if (i % 3 == 1)
			continue;
		sum ^= classify(i);
	}
	do
		sum--;
	while (sum % 5);
	return sum;
}

HOT static void
jump(int n)
{
	if (n > 0)
		jump(n - 1);
	else
		longjmp(env, 1);
	sink = n;
}

HOT static int
catch(int n)
{
	if (setjmp(env) == 0)
		jump(n);
	return n;
}

HOT static int
tail(int n, int sum)
{
	if (n == 0)
		return sum;
	sink = sum;
	return tail(n - 1, sum + n);
}

int
main(void)
{
	sink = fib(5);
	sink = loops(11);
	for (int i = 0; i < 3; i++)
		sink = catch(i);
	sink = tail(4, 0);
	return 0;
}
