/* SPDX-License-Identifier: MIT */
/* Frames of any size, which are left by return and by exit. */
/* status: 2 */
/* expect: main 1 */
/* expect: frame 1001 */
/* expect: use 1001 */
/* line: after 1000 */
#include "situation.h"
#include <alloca.h>
#include <stdlib.h>

FUNC static void
use(volatile char *p, int n)
{
	p[0] = (char)n;
	if (n == 5001)
		exit(2);
}

FUNC static void
frame(int n)
{
	use(alloca((size_t)n), n);
	STEP; /* @after */
}

int
main(void)
{
	for (int i = 1; i <= 5001; i += 5)
		frame(i);
	return 0;
}
