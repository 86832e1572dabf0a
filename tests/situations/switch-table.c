/* SPDX-License-Identifier: MIT */
/* expect: main 1 */
/* expect: choose 800 */
/* line: zero 100 */
/* line: three 200 */
/* line: six 100 */
/* line: default 300 */
#include "situation.h"

FUNC static void
choose(int n)
{
	switch (n) {
	case 0:
		STEP; /* @zero */
		break;
	case 1:
		STEP;
		work();
		break;
	case 2: /* falls */
	case 3:
		STEP; /* @three */
		break;
	case 6:
		STEP; /* @six */
		work();
		break;
	case 7:
		work();
		__attribute__((fallthrough));
	default:
		STEP; /* @default */
	}
}

int
main(void)
{
	for (int i = 0; i < 800; i++)
		choose(i % 8);
	return 0;
}
