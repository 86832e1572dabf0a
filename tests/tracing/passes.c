/* SPDX-License-Identifier: MIT */
/* Signal handlers that end with a jump to another function, and pass it their arguments: no other signal has come. */
#include "interrupted.h"

#include <signal.h>
#include <unistd.h>

/* May be called from elsewhere, so it asks itself whether it is a handler. */
__attribute__((noinline)) void
handle(int sig, siginfo_t *info, void *context)
{
	handled += sig + !info + !context;
}

__attribute__((noinline)) void
handle_others(int sig, siginfo_t *info, void *context)
{
	handled += 2 * sig + !info + !context;
}

static void
on_first(int sig, siginfo_t *info, void *context)
{
	handled++;
	handle(sig, info, context);
}

static void
on_second(int sig, siginfo_t *info, void *context)
{
	if (handled & 2)
		handle(sig, info, context);
	else
		handle_others(sig, info, context);
}

int
main(void)
{
	struct sigaction a = {.sa_sigaction = on_first, .sa_flags = SA_SIGINFO},
	                 b = {.sa_sigaction = on_second, .sa_flags = SA_SIGINFO};

	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGUSR2, &b, NULL);
	for (long i = 0; i < 60; i++)
		sum += thrice(i) ^ some(i);
	return sum == 5;
}
