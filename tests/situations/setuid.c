/* SPDX-License-Identifier: MIT */
/* A program with rights that its caller lacks leaves no profile, whatever the environment says. See tests/hostile/files.test. */
/* need: test "$(id -u)" = 0 && grep -q '^NoNewPrivs:.0' /proc/self/status */
/* build: $CC $SRC -o program; cp program owned.so; chown 65534 owned.so; chmod 4755 owned.so */
/* run: chmod 777 .; mkdir -m 777 no; CHORD_FILE=$PWD/no/%p ./owned.so; rmdir no */
/* profiles: 0 */
#include "situation.h"
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

int
main(void)
{
	printf("%d %lu\n", geteuid() != getuid(), getauxval(AT_SECURE));
	work_times(10);
	return 0;
}
