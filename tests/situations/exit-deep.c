/* SPDX-License-Identifier: MIT */
/* status: 3 */
/* expect: main 1 */
/* expect: one 11 */
/* expect: two 11 */
/* expect: three 11 */
/* line: before 11 */
/* line: after 10 */
#include "situation.h"
#include <stdlib.h>

FUNC static void
three(int n)
{
	if (n == 10)
		exit(3);
	STEP;
}

FUNC static void
two(int n)
{
	three(n);
	STEP; /* @after */
}

FUNC static void
one(int n)
{
	STEP; /* @before */
	two(n);
	STEP;
}

int
main(void)
{
	for (int i = 0;; i++)
		one(i);
}
