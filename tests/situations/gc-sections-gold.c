/* SPDX-License-Identifier: MIT */
/* gold keeps the map records of functions that it drops: of single functions, and of whole objects with many. */
/* need: ld.gold --version */
/* build: $CC -ffunction-sections -fdata-sections -DOTHER -c $SRC -o other.o */
/* build: $CC -DUNUSED -c $SRC -o unused.o */
/* build: $CC -ffunction-sections -fdata-sections $SRC other.o unused.o -fuse-ld=gold -Wl,--gc-sections -o program */
/* expect: main 1 */
/* expect: used 100 */
/* expect: work 1100 */
/* absent: dropped dropped_too never_1 never_2 never_3 */
#include "situation.h"
void used(void);
#if defined OTHER
void
used(void)
{
	work();
}

void
dropped(void)
{
	work();
}
#elif defined UNUSED
/* Longer than all the program: offsets in what was dropped look like addresses in it. */
void
never_1(void)
{
	__asm__ volatile(".skip 70000, 0x90");
}

void
never_2(void)
{
	__asm__ volatile(".skip 5000, 0x90");
}

void
never_3(void)
{
	never_1();
}
#else
void
dropped_too(void)
{
	work();
}

int
main(void)
{
	work_times(1000);
	for (int i = 0; i < 100; i++)
		used();
	return 0;
}
#endif
