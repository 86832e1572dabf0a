/* SPDX-License-Identifier: MIT */
/* Inline functions that nothing needs are dropped, as they are from the plain program, which could not be linked with them.
 * Some functions are in two objects, one of them not measured: either of them is linked. */
/* build: $PLAIN -ffunction-sections -DFIRST -c $SRC -o first.o */
/* build: $CC -ffunction-sections -DSECOND -c $SRC -o second.o */
/* build: $CC -ffunction-sections -c $SRC -o main.o */
/* build: $CC main.o second.o first.o -Wl,--gc-sections -o program */
/* expect: main 1 */
/* expect: second 20 */
/* expect: _Z6sharedi 120 */
/* absent: dropped _Z7droppedi */
#include "situation.h"

void missing();

FUNC inline void
dropped(int n)
{
	if (n)
		missing();
}

FUNC inline int
shared(int n)
{
	STEP;
	return n + 1;
}

extern "C" {
void second();
void first();

#if defined SECOND
void
second()
{
	for (volatile int i = 0; i < 5; i++)
		shared(i);
}

void
nobody()
{
	dropped(3);
}
#elif defined FIRST
void
first()
{
	shared(1);
}
#else
void
nobody_else()
{
	dropped(1);
}

int
main()
{
	for (int i = 0; i < 20; i++) {
		second();
		shared(i);
	}
	return 0;
}
#endif
}
