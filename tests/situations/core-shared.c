/* SPDX-License-Identifier: MIT */
/* A static program, and a core file that also has shared mappings; the profile is lost. */
/* need: grep -q '^core' /proc/sys/kernel/core_pattern */
/* options: -static */
/* run: exec 2>/dev/null; ulimit -c unlimited; echo 0x7f >/proc/self/coredump_filter; ./program; s=$?; rm *.chord; exit $s */
/* profiles: 0 */
/* report: --core core* ./program */
/* status: 139 */
/* no notes: off by|short|not exact */
/* expect: main 1 */
/* expect: deep 9 */
/* expect: handler 1 */
/* expect: crash 3 */
/* expect: again 5 */
/* expect: work 1003 */
/* line: before 3 */
/* line: after 1 */
/* line: struck 1 */
/* line: returned 4 */
/* line: back 5 */
/* line: end 0 */
/* without: trace because what ran is in the trace, not in memory */
#include "situation.h"
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static jmp_buf env;

FUNC static void
crash(volatile int *p)
{
	work();
	STEP; /* @before */
	*p = 1;
	STEP; /* @after */
}

FUNC static void
handler(int sig)
{
	(void)sig;
	signal(SIGSEGV, SIG_DFL);
	STEP; /* @struck */
	crash(NULL);
	STEP; /* @end */
}

FUNC static void
deep(int n, volatile int *p)
{
	if (n > 0)
		deep(n - 1, p);
	else
		crash(p);
	STEP; /* @returned */
}

FUNC static void
again(int n)
{
	if (n && setjmp(env) == 0)
		longjmp(env, 1);
	STEP; /* @back */
}

int
main(void)
{
	volatile int fine;

	for (volatile int i = 0; i < 5; i++)
		again(i);
	work_times(1000);
	deep(3, &fine);
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER};
	sigaction(SIGSEGV, &action, NULL);
	deep(4, NULL);
	return 0;
}
