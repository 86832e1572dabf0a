/* SPDX-License-Identifier: MIT */
/* With --icf=all identical functions would be one. With counters they are not: each has counts of its own. */
/* options: -ffunction-sections -fuse-ld=gold -Wl,--icf=all,--gc-sections */
/* need: ld.gold --version || gold --version */
/* expect: main 1 */
/* expect: same_1 10 */
/* expect: same_2 20 */
/* expect: same_3 30 */
/* line: one 10 */
/* line: two 20 */
/* line: three 30 */
#include "situation.h"

/* STEP would tell them apart. */
#define SAME __asm__ volatile("nop" : : : "memory")

FUNC static void
same_1(void)
{
	SAME; /* @one */
}

FUNC static void
same_2(void)
{
	SAME; /* @two */
}

FUNC static void
same_3(void)
{
	SAME; /* @three */
}

int
main(void)
{
	for (volatile int i = 0; i < 10; i++) {
		same_1();
		same_2();
		same_2();
		same_3();
		same_3();
		same_3();
	}
	return 0;
}
