/* SPDX-License-Identifier: MIT */
/* Not even the runtime gets memory: what the program counted all the same is in the core file. */
/* need: grep -q '^core' /proc/sys/kernel/core_pattern */
/* run: ulimit -c unlimited; ulimit -v 6000; ./program */
/* says: chord: counters: there is no room at the addresses kept for them; counts of this process are lost */
/* profiles: 0 */
/* report: --core core* ./program */
/* status: 139 */
/* notes: the process had no profile */
/* expect: main 1 */
/* expect: deep 5 */
/* expect: work 50 */
/* line: returned 0 */
#include "situation.h"
#include <stddef.h>

FUNC static void
deep(int n, volatile int *p)
{
	if (n > 0)
		deep(n - 1, p);
	else
		*p = 1;
	STEP; /* @returned */
}

int
main(void)
{
	work_times(50);
	deep(4, NULL);
	return 0;
}
