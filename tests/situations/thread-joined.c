/* SPDX-License-Identifier: MIT */
/* options: -pthread -D_GNU_SOURCE */
/* expect: main 1 */
/* expect: thread 1 */
/* expect: work 1 */
/* notes: none */
/* A thread that was joined runs no more, also while the kernel is still busy with its end: here it has files of its own
 * to close, which takes longer than what is left of main. So nothing is said of other threads. */
#include "situation.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

FUNC static void *
thread(void *arg)
{
	work();
	if (unshare(CLONE_FILES) == 0)
		while (eventfd(0, 0) >= 0)
			;
	return arg;
}

int
main(void)
{
	struct rlimit limit;
	pthread_t t;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max < 300000 ? limit.rlim_max : 300000;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL))
		abort();
	return 0;
}
