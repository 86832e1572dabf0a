/* SPDX-License-Identifier: MIT */
/* Handlers that interrupt measured code anywhere. Some count themselves, some are interrupted by another handler, some run on a
 * stack of their own, some jump out. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned struck, again;
static sigjmp_buf env;
static volatile int armed;
static char stack[65536];

static __attribute__((noinline)) unsigned
work(unsigned n)
{
	unsigned s = n;

	for (unsigned i = 0; i < n; i++)
		s = s & 1 ? s * 3 + i : s / 2 + n;
	return s;
}

static void
inner(int sig)
{
	(void)sig;
	again += work(again & 7);
}

static void
outer(int sig)
{
	(void)sig;
	struck++;
	again += work(struck % 13);
	if (struck % 3 == 0)
		raise(SIGUSR1);
	if (armed && struck % 5 == 0) {
		armed = 0;
		siglongjmp(env, 1);
	}
}

int
main(int argc, char **argv)
{
	struct sigaction a = {.sa_handler = outer, .sa_flags = SA_ONSTACK}, b = {.sa_handler = inner};
	stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
	unsigned times = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
	volatile unsigned sum = 0, k;

	if (argc > 2)
		sigaltstack(&own, NULL);
	sigaction(SIGUSR1, &b, NULL);
	sigaction(SIGURG, &a, NULL);
	for (k = 0; k < times; k++) {
		if (sigsetjmp(env, 1) == 0)
			armed = k % 7 != 0;
		sum += work(k % 40);
		armed = 0;
	}
	printf("%d\n", sum != 1);
	return 0;
}
