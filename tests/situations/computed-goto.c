/* SPDX-License-Identifier: MIT */
/* expect: main 1 */
/* expect: interpret 10 */
/* line: add 5000 */
/* line: sub 2500 */
/* line: end 10 */
#include "situation.h"

FUNC static int
interpret(const char *code, int turns)
{
	static const void *const table[] = {&&add, &&sub, &&again, &&end};
	int n = 0, at = 0;
next:
	goto *table[(int)code[at++]];
add:
	STEP; /* @add */
	n += 2;
	goto next;
sub:
	STEP; /* @sub */
	n--;
	goto next;
again:
	if (--turns > 0)
		at = 0;
	goto next;
end:
	STEP; /* @end */
	return n;
}

int
main(void)
{
	int sum = 0;
	for (int i = 0; i < 10; i++)
		sum += interpret((const char[]){0, 1, 0, 2, 3}, 250);
	return sum != 10 * 250 * 3;
}
