/* SPDX-License-Identifier: MIT */
/* Nothing catches: terminate, abort. */
/* status: 134 */
/* notes: active.* may be off by one an activation */
/* expect: main 0 1 */
/* expect: thrower 0 1 */
/* expect: guarded 0 1 */
/* expect: work 1000 */
/* line: never 0 1 */
/* unknown main guarded thrower: allowed because a signal ends the process in their midst */
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
