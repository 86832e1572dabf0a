/* SPDX-License-Identifier: MIT */
/* Two objects, which are inlined into one another when they are linked. */
/* only: gcc because clang's linker plug-in assembles by itself, which chord cc says */
/* build: $CC -flto -DOTHER -c $SRC -o other.o */
/* build: $CC -flto -c $SRC -o main.o */
/* build: $CC -flto main.o other.o -o program */
/* expect: main 1 */
/* expect: main_work 1000 */
/* expect: other_work 100 */
/* line: inlined 100 */
#include "situation.h"
void other(void);
#ifdef OTHER
FUNC static void
other_work(void)
{
	STEP;
}

void
other(void)
{
	STEP; /* @inlined */
	other_work();
}
#else
FUNC static void
main_work(void)
{
	STEP;
}

int
main(void)
{
	for (int i = 0; i < 1000; i++)
		main_work();
	for (int i = 0; i < 100; i++)
		other();
	return 0;
}
#endif
