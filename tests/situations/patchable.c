/* SPDX-License-Identifier: MIT */
/* Nops that are to be patched while the program runs have to stay where their table says. */
/* options: -fpatchable-function-entry=5 */
/* expect: twice 3 */
#include "situation.h"

#include <stdio.h>

extern unsigned char *__start___patchable_function_entries[], *__stop___patchable_function_entries[];

__attribute__((noinline)) static int
twice(int n)
{
	return n * 2;
}

int
main(void)
{
	int sum = 0, wrong = 0;

	for (unsigned char **p = __start___patchable_function_entries; p < __stop___patchable_function_entries; p++)
		wrong += **p != 0x90 && **p != 0x66 && **p != 0x0f;
	for (int i = 0; i < 3; i++)
		sum += twice(i);
	printf("%d %d\n", sum, wrong);
	return 0;
}
