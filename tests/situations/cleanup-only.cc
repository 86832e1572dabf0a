/* SPDX-License-Identifier: MIT */
/* Three frames have destructors only, and each resumes. */
/* expect: main 1 */
/* expect: thrower 20 */
/* expect: one 20 */
/* expect: two 20 */
/* expect: three 20 */
/* expect: work 60 */
/* line: after 30 */
/* line: caught 10 */
#include "situation.h"

extern "C" {

struct guard {
	~guard() { work(); }
};

FUNC static void
thrower(int n)
{
	if (n % 2)
		throw n;
}

FUNC static void
three(int n)
{
	guard g;
	thrower(n);
	STEP; /* @after */
}

FUNC static void
two(int n)
{
	guard g;
	three(n);
	STEP; /* @after */
}

FUNC static void
one(int n)
{
	guard g;
	two(n);
	STEP; /* @after */
}

int
main()
{
	for (int i = 0; i < 20; i++) {
		try {
			one(i);
		} catch (int) {
			STEP; /* @caught */
		}
	}
	return 0;
}
}
