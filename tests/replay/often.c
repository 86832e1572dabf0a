/* SPDX-License-Identifier: MIT */
/* often HOW US: timers fire every US microseconds, perhaps faster than their signals can be recorded. HOW: fork, in processes that
 * look at their masks; nested, in a handler that does not block its signal; chains of timers that each fire once; taken by
 * sigwaitinfo() or by signalfd. Prints what was wrong, and a number that depends on where signals struck. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHAINS = 4, LINKS = 50, TIMES = 20, MARK = 77 };
static volatile unsigned long x = 1, count, wrong, link_of[CHAINS];
static timer_t timer[CHAINS];
static long us;

static void
on_signal(int sig)
{
	count++;
}

static void
set_itimer(long period)
{
	setitimer(ITIMER_REAL, &(struct itimerval){{0, period}, {0, period}}, NULL);
}

static int
blocks_some(void)
{
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	return !sigisemptyset(&set);
}

static void
in_processes(void)
{
	int status;

	sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART}, NULL);
	set_itimer(us);
	for (int i = 0; i < TIMES; i++) {
		pid_t child = fork();

		if (!child)
			_exit(blocks_some() ? 1 : 3);
		while (waitpid(child, &status, 0) < 0)
			;
		wrong += (unsigned long)(status != 3 << 8) + (unsigned long)blocks_some();
		for (int j = 0; j < 20000; j++)
			x = x * 5 + 1;
	}
	set_itimer(0);
}

static void
nested(void)
{
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_NODEFER}, NULL);
	set_itimer(us);
	while (count < 200)
		x = x * 5 + 1;
	set_itimer(0);
}

/* ---- POSIX's timers ---- */

static void
arm(int i, int again)
{
	long ns = us * 1000 + i * 1000;

	timer_settime(timer[i], 0, &(struct itimerspec){{0, again ? ns : 0}, {0, ns}}, NULL);
}

static void
on_timer(int sig, siginfo_t *info, void *context)
{
	int i = info->si_value.sival_int;

	wrong += info->si_code != SI_TIMER;
	count++;
	if (i < CHAINS && ++link_of[i] < LINKS)
		arm(i, 0);
}

static void
make_timer(int i, int sig, int value)
{
	sigaction(sig, &(struct sigaction){.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO}, NULL);
	timer_create(CLOCK_MONOTONIC, &(struct sigevent){.sigev_signo = sig, .sigev_value.sival_int = value}, &timer[i]);
}

static void
chains(void)
{
	for (int i = 0; i < CHAINS; i++)
		make_timer(i, SIGRTMIN, i);
	for (int i = 0; i < CHAINS; i++)
		arm(i, 0);
	while (count < CHAINS * LINKS)
		x = x * 5 + 1;
}

static void
taken(int by_file)
{
	struct signalfd_siginfo got;
	siginfo_t info;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	fd = signalfd(-1, &set, 0);
	make_timer(0, SIGUSR1, MARK);
	arm(0, 1);
	for (unsigned long i = 0; i < TIMES; i++) {
		while (count < i)
			x = x * 5 + 1;
		sigprocmask(SIG_BLOCK, &set, NULL);
		if (by_file)
			wrong += read(fd, &got, sizeof got) != sizeof got || got.ssi_code != SI_TIMER || got.ssi_int != MARK;
		else
			wrong += sigwaitinfo(&set, &info) != SIGUSR1 || info.si_code != SI_TIMER || info.si_value.sival_int != MARK;
		sigprocmask(SIG_UNBLOCK, &set, NULL);
	}
	timer_delete(timer[0]);
}

int
main(int argc, char **argv)
{
	us = atol(argv[2]);
	switch (*argv[1]) {
	case 'f': in_processes(); break;
	case 'n': nested(); break;
	case 'c': chains(); break;
	default: taken(*argv[1] == 's'); break;
	}
	printf("%lu wrong %lu\n", wrong, x);
	return 3;
}
