/* SPDX-License-Identifier: MIT */
/* expect: main 4 */
/* expect: start 3 */
/* expect: work 130 */
/* profiles: 4 */
#include "situation.h"
#include <spawn.h>
#include <stddef.h>
#include <sys/wait.h>

FUNC static void
start(char *path)
{
	char again[] = "again", *argv[] = {path, again, NULL};
	posix_spawn(&(int){0}, path, NULL, NULL, argv, NULL);
}

int
main(int argc, char **argv)
{
	work_times(argc > 1 ? 10 : 100);
	for (int i = 0; argc == 1 && i < 3; i++) {
		start(argv[0]);
		wait(NULL);
	}
	return 0;
}
