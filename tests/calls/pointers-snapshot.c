/* SPDX-License-Identifier: MIT */
/* Snapshots say which functions were called since the last snapshot. */
#include <signal.h>

static volatile int n;

static __attribute__((noinline)) void one(void) { n++; }
static __attribute__((noinline)) void two(void) { n--; }

int
main(void)
{
	void (*volatile f)(void) = one;

	for (int i = 0; i < 60; i++) {
		if (i == 10 || i == 30)
			raise(SIGUSR1);
		if (i == 20)
			f = two;
		f();
	}
	return 0;
}
