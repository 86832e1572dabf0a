/* SPDX-License-Identifier: MIT */
/* options: -falign-functions=1 */
/* status: 3 */
/* expect: main 1 */
/* expect: caller 1 */
/* expect: leave 1 */
/* line: before 1 */
/* line: inside 1 */
/* A call that does not come back may be the last instruction of a procedure, and what it calls the next. Where code of
 * other makes takes its own address (call 1f; 1: pop), such a call calls nothing. */
#include "situation.h"
#include <stdlib.h>

#ifdef __clang__
#define IN_ORDER
#else
#define IN_ORDER __attribute__((no_reorder))
#endif

static void leave(void) __attribute__((noinline, noreturn));

FUNC IN_ORDER void
caller(void)
{
	STEP; /* @before */
	leave();
}

IN_ORDER static void
leave(void)
{
	STEP; /* @inside */
	exit(3);
}

int
main(void)
{
	caller();
}
