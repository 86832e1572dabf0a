/* SPDX-License-Identifier: MIT */
/* Unmeasured code jumps over a measured frame into another one. The place where it lands is counted, and the report says that
 * the counts of what it jumped over are not exact. */
/* build: $PLAIN -DLEAVE -c $SRC -o leave.o */
/* build: $CC -c $SRC -o main.o */
/* build: $CC main.o leave.o -o program */
/* notes: jumps into other activations (were not|may not have been) seen */
/* unknown: allowed because nothing says what was abandoned */
/* events: not exact because edges of what was abandoned are not */
/* expect: main 1 */
/* line: again 5 */
#include "situation.h"

typedef void *receiver[5];
void leave(receiver r);

#ifdef LEAVE
void
leave(receiver r)
{
	__builtin_longjmp(r, 1);
}
#else
static receiver env;

FUNC static void
over(void)
{
	leave(env);
	STEP;
}

FUNC static void
receive(void)
{
	if (__builtin_setjmp(env)) {
		STEP; /* @again */
		return;
	}
	over();
	STEP;
}

int
main(void)
{
	for (volatile int i = 0; i < 5; i++)
		receive();
	return 0;
}
#endif
