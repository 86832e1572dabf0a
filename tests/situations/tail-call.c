/* SPDX-License-Identifier: MIT */
/* Each function calls the other one at its end. At -O2 that call is a jump. */
/* expect: main 1 */
/* expect: even 5050 */
/* expect: odd 5050 */
/* expect: indirect 100 */
/* expect: work 300 */
#include "situation.h"

FUNC static void odd(int n);

FUNC static void
even(int n)
{
	if (n == 0)
		return work();
	odd(n - 1);
}

FUNC static void
odd(int n)
{
	if (n == 0)
		return work();
	even(n - 1);
}

FUNC static void
indirect(void (*f)(void))
{
	f();
}

int
main(void)
{
	for (int i = 0; i < 100; i++) {
		even(i);
		odd(i);
		indirect(work);
	}
	return 0;
}
