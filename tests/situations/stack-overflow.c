/* SPDX-License-Identifier: MIT */
/* Recursion overflows the stack. The handler, which has a stack of its own, jumps back. */
/* expect: main 1 */
/* expect: handler 3 */
/* expect: work 3 */
/* line: back 3 */
/* line: returned 0 */
/* without: trace because the paths of activations that ended between calls are not known */
#include "situation.h"
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

static sigjmp_buf env;

FUNC static void
handler(int sig)
{
	(void)sig;
	work();
	siglongjmp(env, 1);
}

FUNC static void
deeper(volatile char *up)
{
	volatile char here[4000] = {0};
	deeper(here);
	STEP; /* @returned */
	up[0] = here[1];
}

int
main(void)
{
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
	struct sigaction action = {.sa_flags = SA_ONSTACK};
	action.sa_handler = handler;
	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	for (volatile int i = 0; i < 3; i++) {
		if (sigsetjmp(env, 1) == 0)
			deeper(stack.ss_sp);
		STEP; /* @back */
	}
	return 0;
}
