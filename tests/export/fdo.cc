/* SPDX-License-Identifier: MIT */
/* For the profiles that compilers read: a function that is inlined in two places, one that is cloned, calls through a pointer,
 * and a constructor with code of its own. Each of them is executed a number of times that no other one has. */
#include <cstdio>

static volatile long sink;

static inline void
small(long n)
{
	if (n & 1)
		sink = sink + n;
}

struct counter {
	long n;
	explicit counter(long from);
};

__attribute__((noipa))
counter::counter(long from) : n(from)
{
	sink = sink + from;
}

static __attribute__((noinline)) long
cloned(const long *a, long n, int twice)
{
	long s = 0;

	for (long i = 0; i < n; i++)
		s += twice ? a[i] * 2 + sink : 1;
	return s;
}

static long
pointed_at(long n)
{
	return n + sink;
}

static long
other(long n)
{
	return n - sink;
}

__attribute__((noipa)) static long
never(long n)
{
	return n / 3;
}

typedef long (*function)(long);
static function volatile called;

int
main()
{
	static long a[7];
	long s = 0;

	for (int i = 0; i < 1000; i++)
		small(i);
	for (int i = 0; i < 300; i++)
		small(i * 2);
	for (int i = 0; i < 20; i++)
		s += cloned(a, 7, 1);
	for (int i = 0; i < 30; i++)
		s += counter(i).n;
	for (int i = 0; i < 600; i++) {
		called = i % 100 ? pointed_at : other;
		s += called(i);
	}
	if (s == 1)
		s = never(s);
	std::printf("%ld\n", s);
}
