/* SPDX-License-Identifier: MIT */
/* Three signal handlers with loops, calls, recursion, calls through pointers and tail calls, and a fourth one that says when it
 * is over. steps and record strike one of the three wherever it is, and what strikes that one, and so on (tests/strikes.h). */
#include <signal.h>
#include <stddef.h>

static volatile unsigned sum, times[3], over;

__attribute__((noinline)) static unsigned
leaf(unsigned n)
{
	return n * 3 + (n & 4 ? sum : 1);
}

__attribute__((noinline)) static unsigned
fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static unsigned
last(unsigned n)
{
	if (n % 3 == 0)
		sum ^= n;
	return leaf(n + 1);
}

static unsigned (*volatile way[2])(unsigned) = {leaf, last};

static void
on_first(int sig)
{
	times[0]++;
	for (int i = 0; i < 2 + sig % 2; i++) {
		if (sum & 1)
			sum += leaf((unsigned)i);
		else
			sum++;
	}
}

static void
on_second(int sig, siginfo_t *info, void *context)
{
	times[1] += 1 + (info == context);
	sum += fib((unsigned)sig % 2 + 2);
}

static void
on_third(int sig)
{
	unsigned n = ++times[2];

	do
		sum += way[n & 1](n + (unsigned)sig);
	while (n++ % 3);
	sum += last(n);
}

static void
on_end(int sig)
{
	over = (unsigned)sig;
}

__attribute__((noinline)) static unsigned
work(unsigned n)
{
	switch (n % 6) {
	case 0: return sum + 3;
	case 1: return leaf(n);
	case 2: sum ^= n; break;
	case 3: return fib(3);
	case 4: return last(n);
	default: break;
	}
	for (unsigned i = 0; i < 4; i++)
		sum += i & 1 ? 2 : way[i / 2](n);
	return leaf(sum);
}

static void
handle(void)
{
	struct sigaction a = {.sa_handler = on_first}, b = {.sa_sigaction = on_second, .sa_flags = SA_SIGINFO},
		c = {.sa_handler = on_third}, d = {.sa_handler = on_end};

	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGUSR2, &b, NULL);
	sigaction(SIGALRM, &c, NULL);
	sigaction(SIGURG, &d, NULL);
}

int
main(void)
{
	handle();
	for (unsigned i = 0; !over && i < 1000000; i++)
		sum += work(i);
	return times[0] + times[1] + times[2] == 0;
}
