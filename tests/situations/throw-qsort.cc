/* SPDX-License-Identifier: MIT */
/* An exception passes through qsort, which was not built with Chord. */
/* expect: main 1 */
/* expect: sorter 10 */
/* expect: compare 30 */
/* expect: work 10 */
/* line: caught 10 */
/* line: sorted 0 */
#include "situation.h"
#include <cstdlib>

extern "C" {

static int calls;

FUNC static int
compare(const void *, const void *)
{
	if (++calls % 3 == 0)
		throw calls;
	return 1;
}

FUNC static void
sorter()
{
	int n[8] = {};
	qsort(n, 8, sizeof *n, compare);
	STEP; /* @sorted */
}

int
main()
{
	for (int i = 0; i < 10; i++) {
		try {
			sorter();
		} catch (int) {
			STEP; /* @caught */
			work();
		}
	}
	return 0;
}
}
