/* SPDX-License-Identifier: MIT */
/* expect: main 1 */
/* expect: early 1 */
/* expect: late 1 */
/* expect: at_exit 3 */
/* expect: work 4321 */
#include "situation.h"
#include <cstdlib>

extern "C" {

static struct object {
	object() { work_times(300); }
	~object() { work_times(4000); }
} object;

FUNC static void
at_exit()
{
	work_times(5);
}

__attribute__((constructor(101))) FUNC static void
early()
{
	work();
}

__attribute__((destructor)) FUNC static void
late()
{
	work_times(2);
}

int
main()
{
	for (int i = 0; i < 3; i++)
		atexit(at_exit);
	work_times(3);
	return 0;
}
}
