/* SPDX-License-Identifier: MIT */
/* An exception of another language than C++ runs destructors and catch (...). */
/* expect: main 1 */
/* expect: raise_it 10 */
/* expect: guarded 10 */
/* expect: catcher 10 */
/* expect: work 10 */
/* line: caught 10 */
/* line: never 0 */
#include "situation.h"
#include <unwind.h>

extern "C" {

static _Unwind_Exception thing;

struct guard {
	~guard() { work(); }
};

FUNC static void
raise_it()
{
	thing.exception_class = 0x4f54484552000000;
	_Unwind_RaiseException(&thing);
	STEP; /* @never */
}

FUNC static void
guarded()
{
	guard g;
	raise_it();
	STEP; /* @never */
}

FUNC static void
catcher()
{
	try {
		guarded();
		STEP; /* @never */
	} catch (...) {
		STEP; /* @caught */
	}
}

int
main()
{
	for (int i = 0; i < 10; i++)
		catcher();
	return 0;
}
}
