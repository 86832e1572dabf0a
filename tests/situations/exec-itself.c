/* SPDX-License-Identifier: MIT */
/* One process runs the program three times. The profiles of all three are kept. */
/* expect: main 3 */
/* expect: next 2 */
/* expect: work 6 */
/* line: after 0 */
/* profiles: 3 */
#include "situation.h"
#include <unistd.h>

FUNC static void
next(const char *path, int argc)
{
	if (argc < 3) {
		execl(path, path, "1", argc > 1 ? "2" : NULL, NULL);
		STEP; /* @after */
	}
	work();
}

int
main(int argc, char **argv)
{
	work_times(argc);
	if (argc < 3)
		next(argv[0], argc);
	return 0;
}
