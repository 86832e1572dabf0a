/* SPDX-License-Identifier: MIT */
/* A handler that came in anywhere jumps out, over two frames. */
/* expect: main 1 */
/* expect: handler 20 */
/* expect: spin 20 */
/* expect: wait_here 20 */
/* line: before 20 */
/* line: after 0 */
/* line: back 20 */
/* bounds: allowed because they end anywhere, even on the way between two blocks */
/* unknown ./program: allowed because additions of events on such a way are not in the map */
/* unknown[paths] work spin: allowed because the paths they were on are not known */
/* paths work spin: differ because the timer strikes anywhere */
/* without: trace because the paths of activations that ended between calls are not known */
#include "situation.h"
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

static sigjmp_buf env;

FUNC static void
handler(int sig)
{
	(void)sig;
	siglongjmp(env, 1);
}

FUNC static void
spin(void)
{
	for (;;)
		work();
}

FUNC static void
wait_here(void)
{
	struct itimerval soon = {{0, 0}, {0, 20000}};
	setitimer(ITIMER_REAL, &soon, NULL);
	STEP; /* @before */
	spin();
	STEP; /* @after */
}

int
main(void)
{
	signal(SIGALRM, handler);
	for (volatile int i = 0; i < 20; i++) {
		if (sigsetjmp(env, 1) == 0)
			wait_here();
		STEP; /* @back */
	}
	return 0;
}
