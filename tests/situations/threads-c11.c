/* SPDX-License-Identifier: MIT */
/* options: -pthread */
/* thrd_create and thrd_exit. */
/* expect: main 1 */
/* expect: thread 20 */
/* expect: work 20000 */
#include "situation.h"
#include <threads.h>

FUNC static int
thread(void *arg)
{
	work_times(1000);
	if (arg)
		thrd_exit(1);
	return 0;
}

int
main(void)
{
	thrd_t t[20];
	for (int i = 0; i < 20; i++)
		thrd_create(&t[i], thread, i % 2 ? t : NULL);
	for (int i = 0; i < 20; i++)
		thrd_join(t[i], NULL);
	return 0;
}
