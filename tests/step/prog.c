/* SPDX-License-Identifier: MIT */
/* Some of everything that makes edges. It is short, because each of its steps is looked at. It has no rep prefixes, because a
 * debugger stops at each of their rounds. */
#include <setjmp.h>
#include <stddef.h>

#define HOT __attribute__((noinline))

struct item {
	const struct item *next;
	unsigned long value;
};

static unsigned char numbers[4] = {1, 0, 2, 1};
static struct item items[2] = {{items + 1, 5}, {NULL, 7}};

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

/* In gcc's code nothing but padding is between the test before the second loop and the loop. */
HOT static unsigned long
count(unsigned long a, unsigned long n)
{
	unsigned long equal = a, other = 757, again = a;

	__asm__("" : "+r"(equal), "+r"(other), "+r"(again));
	for (const struct item *item = items + (a & 1); item; item = item->next)
		equal += item->value;
	for (const unsigned char *p = numbers, *end = numbers + n; p < end; p++)
		equal += *p == (unsigned char)a;
	return equal + other * 2 + again * 3;
}

int
main(void)
{
	sink = fib(5);
	sink = loops(11);
	for (int i = 0; i < 3; i++)
		sink = catch(i);
	sink = tail(4, 0);
	for (unsigned n = 0; n < 4; n++)
		sink = (int)count(n, n);
	return 0;
}
