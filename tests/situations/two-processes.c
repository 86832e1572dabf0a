/* SPDX-License-Identifier: MIT */
/* Two processes of one program run at the same time, and both want the same name for their profile. */
/* run: CHORD_FILE=same.chord; export CHORD_FILE; ./program first | ./program */
/* profiles: 2 */
/* report: ./program same.chord same.chord.[0-9]*[0-9] */
/* expect: main 2 */
/* expect: work 2000 */
#include "situation.h"
#include <poll.h>
#include <unistd.h>

/* The first lives until the second is gone. */
int
main(int argc, char **argv)
{
	struct pollfd gone = {.fd = 1};
	char c = 0;

	(void)argv;
	work_times(1000);
	if (argc > 1)
		return write(1, &c, 1) != 1 || poll(&gone, 1, -1) != 1;
	return read(0, &c, 1) != 1;
}
