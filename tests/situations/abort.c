/* SPDX-License-Identifier: MIT */
/* status: 134 */
/* notes: active.* may be off by one an activation */
/* expect: main 0 1 */
/* expect: one 2 3 */
/* expect: two 2 3 */
/* expect: work 1003 */
/* line: before 2 3 */
/* line: after 2 3 */
/* unknown main one two: allowed because a signal ends the process in their midst */
#include "situation.h"
#include <stdlib.h>

FUNC static void
two(int last)
{
	work();
	if (last)
		abort();
}

FUNC static void
one(int last)
{
	STEP; /* @before */
	two(last);
	STEP; /* @after */
}

int
main(void)
{
	work_times(1000);
	one(0);
	one(0);
	one(1);
	return 0;
}
