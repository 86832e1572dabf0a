/* SPDX-License-Identifier: MIT */
/* Functions that the linker drops are not in the report; nor are those of an object that it drops whole. */
/* build: $CC -ffunction-sections -fdata-sections -DOTHER -c $SRC -o other.o */
/* build: $CC -ffunction-sections -fdata-sections $SRC other.o -Wl,--gc-sections -o program */
/* expect: main 1 */
/* expect: used 100 */
/* expect: work 1100 */
/* absent: dropped dropped_too */
#include "situation.h"
void used(void);
#ifdef OTHER
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
