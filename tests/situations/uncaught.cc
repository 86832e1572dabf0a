/* SPDX-License-Identifier: MIT */
/* Nothing catches the exception: terminate, abort. */
/* status: 134 */
/* expect: main 1 */
/* expect: thrower 1 */
/* expect: guarded 1 */
/* expect: work 1000 */
/* line: never 0 */
#include "situation.h"

extern "C" {

struct guard {
	~guard() { work(); }
};

FUNC static void
thrower()
{
	throw 1;
}

FUNC static void
guarded()
{
	guard g;
	thrower();
	STEP; /* @never */
}

int
main()
{
	work_times(1000);
	guarded();
	return 0;
}
}
