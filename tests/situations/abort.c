/* SPDX-License-Identifier: MIT */
/* status: 134 */
/* expect: main 1 */
/* expect: one 3 */
/* expect: two 3 */
/* expect: work 1003 */
/* line: before 3 */
/* line: after 2 */
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
