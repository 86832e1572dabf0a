/* SPDX-License-Identifier: MIT */
/* The second member's constructor throws. The first member is destroyed, and the third is never made. */
/* expect: main 1 */
/* expect: made 50 */
/* expect: work 20 */
/* expect: destroyed 40 */
/* line: caught 10 */
#include "situation.h"

extern "C" FUNC void
made(bool fails)
{
	if (fails)
		throw 1;
}

extern "C" FUNC void
destroyed()
{
	STEP;
}

struct member {
	explicit member(bool fails) { made(fails); }
	~member() { destroyed(); }
};

struct whole {
	member first, second, third;
	explicit whole(bool fails) : first(false), second(fails), third(false) { work(); }
};

int
main()
{
	for (int i = 0; i < 10; i++) {
		try {
			whole w(false);
			work();
		} catch (int) {
			work();
		}
		try {
			whole w(true);
			work();
		} catch (int) {
			STEP; /* @caught */
		}
	}
	return 0;
}
