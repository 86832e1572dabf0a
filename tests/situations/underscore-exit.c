/* SPDX-License-Identifier: MIT */
/* status: 7 */
/* expect: main 1 */
/* expect: one 3 */
/* expect: two 3 */
/* expect: work 1003 */
/* line: before 3 */
/* line: after 2 */
#include "situation.h"
#include <unistd.h>

FUNC static void
two(int last)
{
	work();
	if (last)
		_exit(7);
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
