/* SPDX-License-Identifier: MIT */
/* Resolvers run before the program is relocated. */
/* expect: main 1 */
/* expect: first 10 */
/* expect: second 0 */
/* expect: chosen 1 */
/* refused chosen: allowed because a resolver runs before the program is relocated */
#include "situation.h"

FUNC static int
first(void)
{
	work();
	return 1;
}

FUNC static int
second(void)
{
	work();
	return 2;
}

static int (*resolve(void))(void)
{
	return __builtin_cpu_init(), __builtin_cpu_supports("sse2") ? first : second;
}

int chosen(void) __attribute__((ifunc("resolve")));

int
main(void)
{
	int sum = 0;
	for (int i = 0; i < 10; i++)
		sum += chosen();
	return sum != 10;
}
