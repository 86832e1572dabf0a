/* SPDX-License-Identifier: MIT */
/* There is no /proc. */
/* options: -pthread */
/* need: unshare -m mount -t tmpfs none /proc */
/* run: unshare -m sh -c 'mount -t tmpfs none /proc; exec ./program' */
/* expect: main 1 */
/* expect: thread 9 */
/* expect: out 1 */
/* expect: work 9000 */
#include "situation.h"
#include <pthread.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf env;

FUNC static void
out(void)
{
	longjmp(env, 1);
}

FUNC static void *
thread(void *arg)
{
	work_times(1000);
	return arg;
}

int
main(void)
{
	pthread_t t[8];
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	usleep(50000); /* who has been joined may be ending yet, which nothing tells without /proc */
	if (setjmp(env) == 0)
		out();
	thread(NULL);
	return 0;
}
