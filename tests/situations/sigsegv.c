/* SPDX-License-Identifier: MIT */
/* status: 139 */
/* notes: where (it|these) stood is not known, so counts are bounds|where they stood is not known, so counts are bounds */
/* expect: main 0 1 */
/* expect: crash 3 4 */
/* expect: work 1004 */
/* line: after 3 4 */
#include "situation.h"
#include <stddef.h>

FUNC static void
crash(volatile int *p)
{
	work();
	*p = 1;
	STEP; /* @after */
}

int
main(void)
{
	int fine;
	work_times(1000);
	crash(&fine);
	crash(&fine);
	crash(&fine);
	crash(NULL);
	return 0;
}
