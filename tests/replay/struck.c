/* SPDX-License-Identifier: MIT */
/* struck HOW N US: runs until N signals have come, from its own timer, each US microseconds (default: 1000), or from outside. What
 * it prints depends on where each of them struck: in a tight loop, in recursion and in calls back from libc, or in calls that they
 * interrupt. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t x = 1, seen, count, errors;
static int some[1000];
static char big[100000];

static void
on_signal(int sig)
{
	seen = seen * 31 + x + (uint64_t)sig;
	count++;
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

static uint64_t
fib(int n)
{
	return n < 2 ? x % 3 : fib(n - 1) + fib(n - 2);
}

static void
tight(void)
{
	for (int i = 0; i < 100000; i++)
		x = x * 5 + 1;
}

static void
mixed(void)
{
	for (int i = 0; i < 1000; i++)
		some[i] = (int)((x = x * 6364136223846793005u + 1) >> 33);
	qsort(some, 1000, sizeof *some, by_value);
	x += fib(12);
	memset(big, (int)(x % 100) + 1, sizeof big - 1);
	x += strlen(big);
}

static void
note(int64_t result)
{
	if (result < 0)
		errors = errors * 3 + (uint64_t)errno;
}

static void
calls(void)
{
	static int ends[2] = {-1, -1};
	struct timespec nap = {0, 5000000};
	struct pollfd waits = {.events = POLLIN};
	sigset_t none, set;
	char text[100];

	if (ends[0] < 0)
		note(pipe(ends));
	waits.fd = ends[0];
	sigemptyset(&none);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	for (int i = 0; i < 20000; i++)
		x = x * 5 + 1;
	note(pause());
	note(nanosleep(&nap, NULL));
	note(read(ends[0], text, 10));
	sigprocmask(SIG_BLOCK, &set, NULL);
	note(sigsuspend(&none));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	note(poll(&waits, 1, 100));
	note(ppoll(&waits, 1, NULL, &none));
	raise(SIGUSR2);
	for (int i = 0; i < 50; i++)
		x += (uint64_t)snprintf(text, sizeof text, "%llu", (unsigned long long)seen) + (uint64_t)(getppid() > 0);
}

int
main(int argc, char **argv)
{
	uint64_t most = argc > 2 ? strtoull(argv[2], NULL, 10) : 50;
	long us = argc > 3 ? atol(argv[3]) : 1000;
	struct itimerval often = {{0, us}, {0, us}}, never = {{0, 0}, {0, 0}};
	struct sigaction act = {.sa_handler = on_signal};

	sigaction(SIGALRM, &act, NULL);
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGUSR2, &act, NULL);
	if (argc > 1 && *argv[1] == 'e') {
		signal(SIGALRM, SIG_DFL);
		often = (struct itimerval){{0, 0}, {0, 50000}};
	}
	setitimer(ITIMER_REAL, &often, NULL);
	while (count < most)
		switch (argc > 1 ? *argv[1] : 't') {
		case 'e': tight(); write(1, ".", 1); break;
		case 'm': mixed(); break;
		case 'c': calls(); break;
		default: tight();
		}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%llu %llu %llu %llu\n", (unsigned long long)seen, (unsigned long long)x, (unsigned long long)count,
	       (unsigned long long)errors);
	return 3;
}
