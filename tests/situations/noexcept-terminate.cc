/* SPDX-License-Identifier: MIT */
/* status: 9 */
/* expect: main 1 */
/* expect: thrower 1 */
/* expect: strict 1 */
/* expect: last_words 1 */
/* expect: work 1 */
/* line: before 1 */
/* line: never 0 */
#include "situation.h"
#include <cstdlib>
#include <exception>

extern "C" {

FUNC static void
last_words()
{
	work();
	exit(9);
}

FUNC static void
thrower()
{
	throw 1;
}

FUNC static void
strict() noexcept
{
	STEP; /* @before */
	thrower();
	STEP; /* @never */
}

int
main()
{
	std::set_terminate(last_words);
	try {
		strict();
	} catch (...) {
		STEP; /* @never */
	}
	return 0;
}
}
