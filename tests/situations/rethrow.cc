/* SPDX-License-Identifier: MIT */
/* expect: main 1 */
/* expect: outer 10 */
/* expect: inner 10 */
/* expect: thrower 10 */
/* line: first 10 */
/* line: second 10 */
/* line: never 0 */
#include "situation.h"

extern "C" {

FUNC static void
thrower(int n)
{
	throw n;
}

FUNC static void
inner(int n)
{
	try {
		thrower(n);
		STEP; /* @never */
	} catch (int) {
		STEP; /* @first */
		throw;
	}
}

FUNC static void
outer(int n)
{
	try {
		inner(n);
		STEP; /* @never */
	} catch (...) {
		STEP; /* @second */
	}
}

int
main()
{
	for (int i = 0; i < 10; i++)
		outer(i);
	return 0;
}
}
