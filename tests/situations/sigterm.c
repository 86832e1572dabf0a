/* SPDX-License-Identifier: MIT */
/* status: 143 */
/* expect: main 1 */
/* expect: work 1000 */
#include "situation.h"
#include <signal.h>
#include <unistd.h>

int
main(void)
{
	work_times(1000);
	kill(getpid(), SIGTERM);
	for (;;)
		pause();
}
