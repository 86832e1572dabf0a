/* SPDX-License-Identifier: MIT */
/* expect: main 1 */
/* expect: split 1 */
/* expect: work 5 */
/* line: behind 2 */
/* expect: child 1 */
/* profiles: 2 */
#include "situation.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

FUNC static int
split(void)
{
	int pid = fork();
	STEP; /* @behind */
	return pid;
}

FUNC static void
child(void)
{
	STEP;
}

int
main(void)
{
	work_times(1);
	if (split() == 0) {
		child();
		work_times(3);
		return 0;
	}
	wait(NULL);
	work_times(1);
	return 0;
}
