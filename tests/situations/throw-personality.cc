/* SPDX-License-Identifier: MIT */
/* The personality routine is measured, too. When it has said where an exception lands, it goes on, and so does its caller. The
 * activations that the exception leaves do not go on. */
/* options: -rdynamic -ldl */
/* expect: main 1 */
/* expect: thrower 20 */
/* expect: passed 20 */
/* expect: helper $(<../out) */
/* expect: __gxx_personality_v0 $(<../out) */
/* line: before $(<../out) */
/* line: behind $(<../out) */
/* line: further $(<../out) */
/* line: never 0 */
/* line: caught 20 */
/* line: ends 1 */
#include "situation.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unwind.h>

static int asked;

typedef _Unwind_Reason_Code routine(int, _Unwind_Action, _Unwind_Exception_Class, _Unwind_Exception *, _Unwind_Context *);

extern "C" {

FUNC static _Unwind_Reason_Code
helper(routine *real, int version, _Unwind_Action actions, _Unwind_Exception_Class kind, _Unwind_Exception *e, _Unwind_Context *context)
{
	_Unwind_Reason_Code what = real(version, actions, kind, e, context);

	asked++;
	STEP; /* @behind */
	return what;
}

FUNC _Unwind_Reason_Code
__gxx_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class kind, _Unwind_Exception *e, _Unwind_Context *context)
{
	static routine *real = (routine *)dlsym(RTLD_NEXT, "__gxx_personality_v0");
	_Unwind_Reason_Code what;

	STEP; /* @before */
	what = helper(real, version, actions, kind, e, context);
	STEP; /* @further */
	return what;
}

FUNC static void
thrower(int n)
{
	throw n;
}

FUNC static void
passed(int n)
{
	struct at_end {
		~at_end() { work(); }
	} end;

	thrower(n);
	STEP; /* @never */
}

}

int
main()
{
	for (int i = 0; i < 20; i++)
		try {
			passed(i);
		} catch (int) {
			STEP; /* @caught */
		}
	STEP; /* @ends */
	printf("%d\n", asked);
	return 0;
}
