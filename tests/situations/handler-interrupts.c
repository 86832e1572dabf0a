/* SPDX-License-Identifier: MIT */
/* A timer interrupts counting at any instruction. */
/* run: ./program told >/dev/null */
/* expect: work 3000000 */
/* expect: handler $(cat told) */
/* expect: ticked $(cat told) */
/* paths handler ticked: differ because the timer ticks as it likes */
#include "situation.h"
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile long ticks;

FUNC static void
ticked(void)
{
	ticks++;
}

FUNC static void
handler(int sig)
{
	(void)sig;
	ticked();
}

int
main(int argc, char **argv)
{
	struct itimerval on = {{0, 100}, {0, 100}}, off = {{0, 0}, {0, 0}};
	FILE *told = fopen(argv[argc - 1], "w");
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &on, NULL);
	work_times(3000000);
	setitimer(ITIMER_REAL, &off, NULL);
	signal(SIGALRM, SIG_IGN);
	fprintf(told, "%ld\n", ticks);
	return 0;
}
