/* SPDX-License-Identifier: MIT */
/* expect: main 1 */
/* expect: odd 1000 */
/* line: odd 500 */
/* line: even 500 */
#include "situation.h"

FUNC static void
odd(int n)
{
	__asm__ goto("testl $1, %0; jnz %l[is_odd]" : : "r"(n) : "cc" : is_odd);
	STEP; /* @even */
	return;
is_odd:
	STEP; /* @odd */
}

int
main(void)
{
	for (int i = 0; i < 1000; i++)
		odd(i);
	return 0;
}
