/* SPDX-License-Identifier: MIT */
/* A recursion 100,000 deep, twice. The second time exit is called at the deepest place. */
/* run: ulimit -s unlimited; ./program */
/* status: 1 */
/* expect: main 1 */
/* expect: recurse 200002 */
/* expect: work 200000 */
/* line: up 100000 */
#include "situation.h"
#include <stdlib.h>

FUNC static void
recurse(int n, int last)
{
	if (n == 0) {
		if (last)
			exit(1);
		return;
	}
	work();
	recurse(n - 1, last);
	STEP; /* @up */
}

int
main(void)
{
	recurse(100000, 0);
	recurse(100000, 1);
	return 0;
}
