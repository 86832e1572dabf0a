/* SPDX-License-Identifier: MIT */
/* Handlers that do not return end activations that were about to call through pointers. The callees of these pointers change
 * all the time. */
/* callees: main handled 300 */
/* by chance: forever */
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

static volatile int n;
static sigjmp_buf out;

static __attribute__((noinline)) void one(void) { n++; }
static __attribute__((noinline)) void two(void) { n--; }
static __attribute__((noinline)) void handled(void) { n = 0; }

static void
tick(int sig)
{
	(void)sig;
	siglongjmp(out, 1);
}

__attribute__((noinline)) void
forever(void)
{
	static void (*const volatile f[])(void) = {one, two};

	for (unsigned i = 0;; i++)
		f[i % 2]();
}

int
main(void)
{
	struct itimerval once = {{0, 0}, {0, 300}};
	void (*volatile f)(void) = handled;
	volatile int i;

	signal(SIGALRM, tick);
	for (i = 0; i < 300; i++) {
		if (!sigsetjmp(out, 1)) {
			setitimer(ITIMER_REAL, &once, 0);
			forever();
		}
		f();
	}
	return 0;
}
