/* SPDX-License-Identifier: MIT */
/* A function that exit calls ends the process at once. */
/* status: 4 */
/* expect: main 1 */
/* expect: first 1 */
/* expect: second 1 */
/* expect: work 111 */
/* line: never 0 */
#include "situation.h"
#include <stdlib.h>
#include <unistd.h>

FUNC static void
first(void)
{
	work_times(100);
}

FUNC static void
second(void)
{
	work_times(10);
	_exit(4);
	STEP; /* @never */
}

int
main(void)
{
	atexit(second);
	atexit(first);
	work();
	exit(3);
}
