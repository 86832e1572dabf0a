/* SPDX-License-Identifier: MIT */
/* -fsplit-stack: __morestack runs the rest of a function itself, and returns to the place after the instruction that follows
 * its call. Such functions are not measured. */
/* options: -fsplit-stack */
/* refused: allowed because a call comes back where no code of ours may stand */
/* expect: main 1 */
#include "situation.h"

#include <stdio.h>

__attribute__((noinline)) static long
rec(int n, char *p)
{
	char frame[3000];

	frame[n % 3000] = (char)n;
	__asm__ volatile("" : : "r"(frame) : "memory");
	return n ? rec(n - 1, frame) * 3 + frame[n % 3000] : frame[0];
}

__attribute__((no_split_stack)) int
main(void)
{
	printf("%ld\n", rec(900, 0));
	return 0;
}
