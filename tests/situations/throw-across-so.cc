/* SPDX-License-Identifier: MIT */
/* An exception is thrown in one shared object, passes through another one, and is caught in the program. */
/* build: $CC -DTHROWS -fPIC -shared $SRC -o libthrows.so */
/* build: $CC -DPASSES -fPIC -shared $SRC -o libpasses.so */
/* build: $CC $SRC -o program -L. -lpasses -lthrows -Wl,-rpath,'$ORIGIN' */
/* expect: main 1 */
/* expect: throws 100 */
/* expect: passes 100 */
/* expect: work 100 */
/* line: caught 100 */
/* line: never 0 */
#include "situation.h"

extern "C" {
void throws(int);
void passes(int);

#if defined THROWS
void
throws(int n)
{
	throw n;
}
#elif defined PASSES
struct guard {
	~guard() { work(); }
};

void
passes(int n)
{
	guard g;
	throws(n);
	STEP; /* @never */
}
#else
int
main()
{
	for (int i = 0; i < 100; i++) {
		try {
			passes(i);
			STEP; /* @never */
		} catch (int) {
			STEP; /* @caught */
		}
	}
	return 0;
}
#endif
}
