/* SPDX-License-Identifier: MIT */
/* A handler takes backtraces of what it interrupts, while main jumps and computes: each backtrace leads to main. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile long n, cut;
static void *volatile within; /* main */

static void
tick(int sig)
{
	void *frame[64];
	int k = backtrace(frame, 64), found = 0;

	(void)sig;
	for (int i = 0; i < k; i++)
		found |= frame[i] >= within && (char *)frame[i] < (char *)within + 4096;
	cut += !found;
	n++;
}

__attribute__((noinline)) static void
jump(jmp_buf to)
{
	longjmp(to, 1);
}

__attribute__((noinline)) static long
work(long x)
{
	long s = 0;

	while (x--)
		if (x & 3)
			s += x ^ s >> 3;
	return s;
}

int
main(void)
{
	struct itimerval often = {{0, 300}, {0, 300}};
	struct sigaction sa = {.sa_handler = tick, .sa_flags = SA_RESTART};
	volatile long s = 0;
	void *first[4];
	jmp_buf to;

	backtrace(first, 4); /* loads libgcc_s */
	within = (void *)main;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (n < 500) {
		if (!setjmp(to))
			jump(to);
		s += work(20);
	}
	often = (struct itimerval){0};
	setitimer(ITIMER_REAL, &often, NULL);
	printf("%ld\n", cut);
	return cut != 0;
}
