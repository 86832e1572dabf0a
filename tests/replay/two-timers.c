/* SPDX-License-Identifier: MIT */
/* Two timers share a real-time signal that comes faster than it can be recorded. Prints whether both have come, how often a value
 * or the mask was wrong, and a number that depends on where the loop has ended. */
#include <signal.h>
#include <stdio.h>
#include <time.h>

static volatile unsigned long n[2], x = 1, wrong;

static void
on_timer(int sig, siginfo_t *info, void *context)
{
	int k = info->si_value.sival_int;

	if (k == 0 || k == 1)
		n[k]++;
	else
		wrong++;
}

int
main(void)
{
	struct sigaction act = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO};
	timer_t timer[2];
	sigset_t mask;

	sigaction(SIGRTMIN, &act, NULL);
	for (int k = 0; k < 2; k++) {
		struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = k};
		struct itimerspec often = {{0, 40000}, {0, 40000 + k * 7000}};

		timer_create(CLOCK_MONOTONIC, &event, &timer[k]);
		timer_settime(timer[k], 0, &often, NULL);
	}
	for (unsigned long i = 0; n[0] + n[1] < 100; i++) {
		x = x * 5 + 1;
		if (i % 100000)
			continue;
		sigprocmask(SIG_BLOCK, NULL, &mask);
		wrong += (unsigned long)sigismember(&mask, SIGRTMIN);
	}
	timer_delete(timer[0]);
	timer_delete(timer[1]);
	printf("%d %d %lu %lu\n", n[0] > 0, n[1] > 0, wrong, x);
	return 3;
}
