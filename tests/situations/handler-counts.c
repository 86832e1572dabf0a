/* SPDX-License-Identifier: MIT */
/* expect: main 1 */
/* expect: handler 1000 */
/* expect: work 3000 */
#include "situation.h"
#include <signal.h>

FUNC static void
handler(int sig)
{
	(void)sig;
	work_times(2);
}

int
main(void)
{
	signal(SIGUSR1, handler);
	for (int i = 0; i < 1000; i++) {
		raise(SIGUSR1);
		work();
	}
	return 0;
}
