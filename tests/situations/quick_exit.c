/* SPDX-License-Identifier: MIT */
/* status: 8 */
/* expect: main 1 */
/* expect: handler 2 */
/* expect: not_called 0 */
/* expect: leave 1 */
/* expect: work 21 */
/* line: after 0 */
#include "situation.h"
#include <stdlib.h>

FUNC static void
handler(void)
{
	work_times(10);
}

FUNC static void
not_called(void)
{
	work();
}

FUNC static void
leave(void)
{
	work();
	quick_exit(8);
	STEP; /* @after */
}

int
main(void)
{
	at_quick_exit(handler);
	at_quick_exit(handler);
	atexit(not_called);
	leave();
	return 0;
}
