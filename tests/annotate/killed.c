/* SPDX-License-Identifier: MIT */
/* Waits in a call until it is killed. The branches before that call went in ways that are not known for certain. */
#include <unistd.h>

static inline __attribute__((always_inline)) int
half(volatile int n)
{
	int s = 0;

	if (n > 3)
		s += n;
	else
		s ^= n * 3;
	if (n & 1)
		s *= 5;
	return s;
}

__attribute__((noinline)) static int
other(int n)
{
	return half(n) + 1;
}

int
main(int argc, char **argv)
{
	int r = half(argc + 4);

	(void)argv;
	if (argc > 2)
		r += other(3);
	else
		r ^= half(argc + 7);
	if (argc > 5)
		r += 3;
	pause();
	if (argc == 3)
		r += other(3);
	return r + half(argc);
}
