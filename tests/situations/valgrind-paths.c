/* SPDX-License-Identifier: MIT */
/* Valgrind loads a program at such low addresses that the number of a path may look like the address of a counter. Activations
 * end in the middle of paths with large and with small numbers. */
/* need: valgrind -q true */
/* only: gcc because valgrind does not read what clang says of itself */
/* run: valgrind -q --error-exitcode=9 ./program */
/* expect: main 1 */
/* expect: many 40 */
/* expect: ends 40 */
/* line: LAST 0 */
/* status: 3 */
#include "situation.h"
#include <setjmp.h>
#include <stdlib.h>

static jmp_buf back;
static unsigned left = 40;

FUNC static void
ends(void)
{
	if (!--left)
		exit(3);
	longjmp(back, 1);
}

#define WAY(i) if (x >> (i) & 1) work(); else v += x
#define WAYS(i) WAY(i); WAY(i + 1); WAY(i + 2); WAY(i + 3); WAY(i + 4); WAY(i + 5)

FUNC static void
many(unsigned x)
{
	volatile unsigned v = 0;

	WAYS(0);
	WAYS(6);
	WAYS(12);
	WAYS(18);
	ends();
	STEP; /* @LAST */
}

int
main(void)
{
	setjmp(back);
	many(left * 0x9e3779b1u);
	return 0;
}
