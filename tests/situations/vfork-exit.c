/* SPDX-License-Identifier: MIT */
/* The child of vfork ends, and executes no other program. */
/* expect: main 1 */
/* expect: start 10 */
/* expect: work 20 */
/* line: child 10 */
/* line: parent 10 */
/* profiles: 1 */
#include "situation.h"
#include <sys/wait.h>
#include <unistd.h>

FUNC static void
start(void)
{
	if (vfork() == 0) {
		STEP; /* @child */
		work();
		_exit(0);
	}
	STEP; /* @parent */
	work();
}

int
main(void)
{
	for (int i = 0; i < 10; i++) {
		start();
		wait(NULL);
	}
	return 0;
}
