/* SPDX-License-Identifier: MIT */
/* options: -static */
/* expect: main 1 */
/* expect: thrower 10 */
/* expect: guarded 10 */
/* expect: work 10 */
/* line: caught 10 */
#include "situation.h"

extern "C" {

struct guard {
	~guard() { work(); }
};

FUNC static void
thrower(int n)
{
	throw n;
}

FUNC static void
guarded(int n)
{
	guard g;
	thrower(n);
	STEP; /* @never */
}

int
main()
{
	for (int i = 0; i < 10; i++) {
		try {
			guarded(i);
		} catch (int) {
			STEP; /* @caught */
		}
	}
	return 0;
}
}
