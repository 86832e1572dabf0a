/* SPDX-License-Identifier: MIT */
/* A frame of an object built without Chord lies between the throw and the catch. */
/* build: $PLAIN -x c -fexceptions -DPASS -c $SRC -o pass.o */
/* build: $CC -c $SRC -o main.o */
/* build: $CC main.o pass.o -o program */
/* expect: main 1 */
/* expect: above 10 */
/* expect: below 10 */
/* expect: work 15 */
/* line: before 10 */
/* line: after 5 */
/* line: caught 5 */
#ifdef PASS
void
pass(void (*f)(int), int n)
{
	f(n);
	__asm__ volatile("nop");
}
#else
#include "situation.h"

extern "C" {
void pass(void (*)(int), int);

FUNC static void
below(int n)
{
	work();
	if (n % 2)
		throw n;
}

FUNC static void
above(int n)
{
	STEP; /* @before */
	pass(below, n);
	STEP; /* @after */
	work();
}

int
main()
{
	for (int i = 0; i < 10; i++) {
		try {
			above(i);
		} catch (int) {
			STEP; /* @caught */
		}
	}
	return 0;
}
}
#endif
