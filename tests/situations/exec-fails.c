/* SPDX-License-Identifier: MIT */
/* expect: main 1 */
/* expect: try 10 */
/* expect: work 10 */
/* line: after 10 */
#include "situation.h"
#include <unistd.h>

FUNC static void
try(void)
{
	execl("/nowhere/at/all", "all", NULL);
	STEP; /* @after */
	work();
}

int
main(void)
{
	for (int i = 0; i < 10; i++)
		try();
	return 0;
}
