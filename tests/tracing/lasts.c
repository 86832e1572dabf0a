/* SPDX-License-Identifier: MIT */
/* Signal handlers that end with a jump to code that is not traced: it returns to what they interrupted. */
#include "interrupted.h"

#include <signal.h>
#include <unistd.h>

static void
on_first(int sig)
{
	handled += sig;
	getppid();
}

static void
on_second(int sig, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	handled += sig;
	if (handled & 2)
		getppid();
	else
		getpgrp();
}

int
main(void)
{
	struct sigaction a = {.sa_handler = on_first}, b = {.sa_sigaction = on_second, .sa_flags = SA_SIGINFO};

	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGUSR2, &b, NULL);
	for (long i = 0; i < 60; i++)
		sum += thrice(i) ^ some(i);
	return sum == 5;
}
