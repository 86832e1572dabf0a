/* SPDX-License-Identifier: MIT */
/* ucontext: a hundred fibres return, and control goes on where uc_link says. */
/* expect: main 1 */
/* expect: fibre 100 */
/* expect: work 500 */
/* line: after 100 */
#include "situation.h"
#include <stdlib.h>
#include <ucontext.h>

FUNC static void
fibre(int n)
{
	work_times(n);
	STEP; /* @after */
}

int
main(void)
{
	ucontext_t home, own;
	char *stack = malloc(65536);
	for (int i = 0; i < 100; i++) {
		getcontext(&own);
		own.uc_stack.ss_sp = stack;
		own.uc_stack.ss_size = 65536;
		own.uc_link = &home;
		makecontext(&own, (void (*)(void))fibre, 1, 5);
		swapcontext(&home, &own);
	}
	return 0;
}
