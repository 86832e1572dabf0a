/* SPDX-License-Identifier: MIT */
/* expect: main 2 */
/* expect: start 1 */
/* expect: work 111 */
/* line: child 1 */
/* profiles: 3 */
#include "situation.h"
#include <sys/wait.h>
#include <unistd.h>

FUNC static void
start(const char *path)
{
	if (fork() == 0) {
		STEP; /* @child */
		work_times(1);
		execl(path, path, "again", NULL);
		_exit(1);
	}
}

int
main(int argc, char **argv)
{
	if (argc > 1) {
		work_times(10);
		return 0;
	}
	start(argv[0]);
	wait(NULL);
	work_times(100);
	return 0;
}
