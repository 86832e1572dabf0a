/* SPDX-License-Identifier: MIT */
/* Double fork, setsid, every descriptor closed, another working folder. */
/* run: ./program "$PWD/done"; until [ -e done ]; do sleep 0.01; done; sleep 0.3 */
/* expect: main 1 */
/* expect: daemonize 1 */
/* expect: work 1010 */
/* line: grandchild 1 */
/* profiles: 3 */
#include "situation.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

FUNC static void
daemonize(void)
{
	if (fork() != 0) {
		wait(NULL);
		_exit(0);
	}
	setsid();
	if (fork() != 0)
		_exit(0);
	STEP; /* @grandchild */
	for (int i = 0; i < 1024; i++)
		close(i);
	umask(0);
	if (chdir("/") < 0)
		abort();
}

int
main(int argc, char **argv)
{
	work_times(10);
	daemonize();
	work_times(1000);
	close(open(argv[argc - 1], O_CREAT | O_WRONLY, 0666));
	return 0;
}
