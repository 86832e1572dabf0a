/* SPDX-License-Identifier: MIT */
/* _Unwind_ForcedUnwind runs the destructors, and ends in a longjmp. */
/* expect: main 1 */
/* expect: guarded 10 */
/* expect: force 10 */
/* expect: work 10 */
/* line: back 10 */
/* line: never 0 */
#include "situation.h"
#include <csetjmp>
#include <unwind.h>

extern "C" {

static _Unwind_Exception thing;
static jmp_buf env;

struct guard {
	~guard() { work(); }
};

FUNC static _Unwind_Reason_Code
stop(int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception *, _Unwind_Context *context, void *up_to)
{
	if (actions & _UA_END_OF_STACK || _Unwind_GetCFA(context) > (_Unwind_Word)up_to)
		longjmp(env, 1);
	return _URC_NO_REASON;
}

FUNC static void
force(void *up_to)
{
	_Unwind_ForcedUnwind(&thing, stop, up_to);
	STEP; /* @never */
}

FUNC static void
guarded(void *up_to)
{
	guard g;
	force(up_to);
	STEP; /* @never */
}

int
main()
{
	for (volatile int i = 0; i < 10; i++) {
		if (setjmp(env) == 0)
			guarded(__builtin_frame_address(0));
		STEP; /* @back */
	}
	return 0;
}
}
