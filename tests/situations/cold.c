/* SPDX-License-Identifier: MIT */
/* Unlikely code lies in a part of its own. It returns, goes on, or never comes back. */
/* status: 3 */
/* expect: main 1 */
/* expect: check 10001 */
/* expect: complain 10 */
/* expect: fail 1 */
/* line: rare 10 */
/* line: usual 10000 */
#include "situation.h"
#include <stdlib.h>

__attribute__((cold)) FUNC static void
complain(void)
{
	work();
}

__attribute__((cold, noreturn)) FUNC static void
fail(void)
{
	exit(3);
}

FUNC static void
check(int n)
{
	if (__builtin_expect(n % 1000 == 1, 0)) {
		STEP; /* @rare */
		complain();
	}
	if (__builtin_expect(n == 10000, 0))
		fail();
	STEP; /* @usual */
}

int
main(void)
{
	for (int i = 0;; i++)
		check(i);
}
