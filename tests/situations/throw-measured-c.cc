/* SPDX-License-Identifier: MIT */
/* A measured C frame lies between, with unwind tables and without landing pads. */
/* build: $CC -x c -fexceptions -DPASS -c $SRC -o pass.o */
/* build: $CC -c $SRC -o main.o */
/* build: $CC main.o pass.o -o program */
/* expect: main 1 */
/* expect: pass 10 */
/* expect: below 10 */
/* line: before 10 */
/* line: after 5 */
/* line: caught 5 */
#include "situation.h"
#ifdef PASS
void
pass(void (*f)(int), int n)
{
	STEP; /* @before */
	f(n);
	STEP; /* @after */
}
#else

extern "C" {
void pass(void (*)(int), int);

FUNC static void
below(int n)
{
	if (n % 2)
		throw n;
}

int
main()
{
	for (int i = 0; i < 10; i++) {
		try {
			pass(below, i);
		} catch (int) {
			STEP; /* @caught */
		}
	}
	return 0;
}
}
#endif
