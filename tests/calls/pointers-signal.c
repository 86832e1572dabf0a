/* SPDX-License-Identifier: MIT */
/* A handler of a timer's signals calls through the same call site that it interrupts. */
/* callees: through one 3000000 */
/* callees: through two 1500000 */
/* callees: through three 300 */
#include <signal.h>
#include <sys/time.h>

typedef void fn(void);

static volatile int n, ticks;

static __attribute__((noinline)) void one(void) { n++; }
static __attribute__((noinline)) void two(void) { n--; }
static __attribute__((noinline)) void three(void) { n += 3; }

static __attribute__((noinline)) void
through(fn *f)
{
	f();
	n = 0;
}

static void
tick(int sig)
{
	(void)sig;
	if (ticks < 300) {
		ticks++;
		through(three);
	}
}

int
main(void)
{
	struct itimerval often = {{0, 50}, {0, 50}};

	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &often, 0);
	for (int i = 0; i < 4500000; i++)
		through(i % 3 ? one : two);
	while (ticks < 300)
		;
	return 0;
}
