/* SPDX-License-Identifier: MIT */
/* A measured C frame that cleans up lies between. Its personality routine is libgcc_s's own, which calls the unwinder there.
 * Below it is a frame without a landing pad. Link-time optimisation gives the same routine to C++ functions that only clean up. */
/* build: $CC -x c -fexceptions -DPASS -c $SRC -o pass.o */
/* build: $CC -c $SRC -o main.o */
/* build: $CC main.o pass.o -o program */
/* expect: main 1 */
/* expect: pass 10 */
/* expect: through 10 */
/* expect: clean 10 */
/* expect: below 10 */
/* line: before 10 */
/* line: behind 5 */
/* line: after 5 */
/* line: caught 5 */
/* notes: none */
#include "situation.h"
#ifdef PASS
FUNC static void
clean(int *p)
{
	++*p;
}

FUNC static void
through(void (*f)(int), int n)
{
	f(n);
	STEP; /* @behind */
}

void
pass(void (*f)(int), int n)
{
	__attribute__((cleanup(clean))) int kept = n;

	STEP; /* @before */
	through(f, kept);
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
