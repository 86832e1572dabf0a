/* SPDX-License-Identifier: MIT */
/* expect: main 1 */
/* expect: handler 10 */
/* expect: work 1010 */
/* line: jumped 10 */
/* line: raised 10 */
#include "situation.h"
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

static sigjmp_buf env;

FUNC static void
handler(int sig)
{
	(void)sig;
	work_times(101);
	siglongjmp(env, 1);
}

FUNC static void
provoke(void)
{
	STEP; /* @raised */
	raise(SIGUSR1);
	work();
}

int
main(void)
{
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
	struct sigaction action = {.sa_flags = SA_ONSTACK};
	action.sa_handler = handler;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (volatile int i = 0; i < 10; i++)
		if (sigsetjmp(env, 1) == 0)
			provoke();
		else
			STEP; /* @jumped */
	return 0;
}
