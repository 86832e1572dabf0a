/* SPDX-License-Identifier: MIT */
/* A process, its child, and a grandchild that a signal's handler forks: each counts its own. */
/* callees: work here 1700 */
/* callees: work there 800 */
/* callees: handler there 2 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void fn(void);

static volatile int n;

static __attribute__((noinline)) void here(void) { n++; }
static __attribute__((noinline)) void there(void) { n--; }

static __attribute__((noinline)) void
work(fn *f, int times)
{
	for (int i = 0; i < times; i++)
		f();
}

static void
handler(int sig)
{
	fn *volatile f = there;

	(void)sig;
	if (fork())
		wait(NULL);
	f();
}

int
main(void)
{
	work(here, 1000);
	if (fork() == 0) {
		work(here, 300);
		signal(SIGUSR1, handler);
		raise(SIGUSR1);
		work(there, 400);
		exit(0);
	}
	wait(NULL);
	work(here, 400);
	return 0;
}
