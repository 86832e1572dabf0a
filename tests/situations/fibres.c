/* SPDX-License-Identifier: MIT */
/* ucontext: two fibres take turns and never end. */
/* expect: main 1 */
/* expect: fibre 2 */
/* expect: turn 1000 */
/* expect: work 1000 */
/* line: switched 1000 */
/* line: back 998 */
#include "situation.h"
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t home, own[2];

FUNC static void
turn(int k)
{
	work();
	STEP; /* @switched */
	swapcontext(&own[k], &home);
	STEP; /* @back */
}

FUNC static void
fibre(int k)
{
	for (;;)
		turn(k);
}

int
main(void)
{
	for (int k = 0; k < 2; k++) {
		getcontext(&own[k]);
		own[k].uc_stack.ss_sp = malloc(65536);
		own[k].uc_stack.ss_size = 65536;
		makecontext(&own[k], (void (*)(void))fibre, 1, k);
	}
	for (int i = 0; i < 1000; i++)
		swapcontext(&home, &own[i % 2]);
	return 0;
}
