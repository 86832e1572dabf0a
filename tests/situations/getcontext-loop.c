/* SPDX-License-Identifier: MIT */
/* setcontext goes back to the place after getcontext. */
/* expect: main 1 */
/* expect: loop 1 */
/* expect: again 9 */
/* line: behind 10 */
#include "situation.h"
#include <ucontext.h>

static ucontext_t here;

FUNC static void
again(void)
{
	setcontext(&here);
}

FUNC static void
loop(void)
{
	volatile int n = 0;
	getcontext(&here);
	STEP; /* @behind */
	if (++n < 10)
		again();
}

int
main(void)
{
	loop();
	return 0;
}
