/* SPDX-License-Identifier: MIT */
/* signals N: runs until N signals have come. What it prints depends on where each of them struck: in its own loops, in
 * recursion, in calls of libc, in calls back from there, in a handler, or while they are masked. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile uint64_t x = 1, seen, count;
static char text[4096];

static uint64_t
mix(uint64_t v, int depth)
{
	return depth ? mix(v * 3 + 1, depth - 1) ^ v : v;
}

static void
on_alarm(int sig)
{
	seen = seen * 31 + x + (uint64_t)sig;
	count++;
	/* One that another one can interrupt. */
	if (count % 7 == 0)
		raise(SIGUSR1);
	seen += mix(x, 3);
}

static int
by_value(const void *a, const void *b)
{
	int u, v;

	memcpy(&u, a, sizeof u);
	memcpy(&v, b, sizeof v);
	x++;
	return (u > v) - (u < v);
}

static void
work(void)
{
	int some[100];

	for (int i = 0; i < 3000; i++)
		x = x * 6364136223846793005u + 1;
	x += mix(x, 20);
	memset(text, 'a' + (int)(x % 20), sizeof text - 1);
	for (int i = 0; i < 100; i++)
		some[i] = (int)(x >> i % 40);
	qsort(some, 100, sizeof *some, by_value);
	x += (uint64_t)some[7] + strlen(text);
}

int
main(int argc, char **argv)
{
	uint64_t most = argc > 1 ? strtoull(argv[1], NULL, 10) : 50;
	struct itimerval often = {{0, 1300}, {0, 1300}}, never = {{0, 0}, {0, 0}};
	struct sigaction usr = {.sa_handler = on_alarm, .sa_flags = SA_NODEFER}, alrm = {.sa_handler = on_alarm};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigaction(SIGUSR1, &usr, NULL);
	sigaction(SIGALRM, &alrm, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int round = 0; count < most; round++) {
		work();
		if (round % 16 == 0) {
			sigprocmask(SIG_BLOCK, &set, NULL);
			work();
			sigprocmask(SIG_UNBLOCK, &set, NULL);
		}
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%llu %llu %llu\n", (unsigned long long)seen, (unsigned long long)x, (unsigned long long)count);
	return 0;
}
