/* SPDX-License-Identifier: MIT */
/* build: $CC -DONE -fPIC -shared $SRC -o libone.so */
/* build: $CC -DTWO -fPIC -shared $SRC -o libtwo.so */
/* build: $CC $SRC -o program -L. -lone -ltwo -Wl,-rpath,'$ORIGIN' */
/* expect: main 1 */
/* expect: one 30 */
/* expect: two 2000 */
/* expect: work 2031 */
#include "situation.h"
void one(void);
void two(void);
#if defined ONE
void
one(void)
{
	work();
}
#elif defined TWO
void
two(void)
{
	work();
}
#else
int
main(void)
{
	work();
	for (int i = 0; i < 30; i++)
		one();
	for (int i = 0; i < 2000; i++)
		two();
	return 0;
}
#endif
