/* SPDX-License-Identifier: MIT */
/* No profile can be written: the core file has the counts, also those of threads that have ended. */
/* options: -pthread */
/* need: grep -q '^core' /proc/sys/kernel/core_pattern */
/* run: ulimit -c unlimited; CHORD_FILE=/proc/none/%p ./program */
/* says: chord: /proc/none/.*: No such file or directory; counts of this process are lost */
/* profiles: 0 */
/* report: --core core* ./program */
/* status: 134 */
/* no notes: off by|short|not exact */
/* expect: main 1 */
/* expect: thread 6 */
/* expect: jump 6 */
/* expect: stays 3 */
/* expect: work 63 */
/* line: out 0 */
/* line: back 6 */
/* without: trace because what ran is in the trace, not in memory */
#include "situation.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t ready;

FUNC static void
jump(jmp_buf env)
{
	longjmp(env, 1);
}

FUNC static void
stays(void)
{
	pthread_barrier_wait(&ready);
	for (;;)
		pause();
}

FUNC static void *
thread(void *stay)
{
	jmp_buf env;

	if (setjmp(env) == 0) {
		jump(env);
		STEP; /* @out */
	}
	STEP; /* @back */
	work_times(10);
	if (stay)
		stays();
	return NULL;
}

int
main(void)
{
	pthread_t t;

	pthread_barrier_init(&ready, NULL, 4);
	for (int i = 0; i < 3; i++) {
		pthread_create(&t, NULL, thread, NULL);
		pthread_join(t, NULL);
	}
	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, thread, &ready);
	pthread_barrier_wait(&ready);
	usleep(100000); /* until all wait */
	work_times(3);
	abort();
}
