/* SPDX-License-Identifier: MIT */
/* bounds: allowed because the process may end without the runtime being told */
/* The system call itself, past everything of libc. */
/* status: 7 */
/* expect: work 1000 */
#include "situation.h"
#include <sys/syscall.h>
#include <unistd.h>

FUNC static void
stop(void)
{
	syscall(SYS_exit_group, 7);
	STEP;
}

int
main(void)
{
	work_times(1000);
	stop();
	return 0;
}
