/* SPDX-License-Identifier: MIT */
/* status: 143 */
/* notes: active.* may be off by one an activation */
/* expect: main 0 1 */
/* expect: work 1000 */
/* unknown main: allowed because a signal ends the process in its midst */
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
