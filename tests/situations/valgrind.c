/* SPDX-License-Identifier: MIT */
/* options: -pthread */
/* Valgrind finds nothing in the program that is not there without Chord. */
/* need: valgrind -q true */
/* only: gcc because valgrind does not read what clang says of itself */
/* run: valgrind -q --error-exitcode=9 ./program */
/* expect: main 1 */
/* expect: deep 60 */
/* expect: thread 2 */
/* expect: work 200 */
#include "situation.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

static jmp_buf back;

/* Frames of a page and more, so that the walk leaves the pages that it knows. */
FUNC static void
deep(int n)
{
	volatile char frame[5000];

	frame[0] = 1;
	if (!n)
		longjmp(back, 1);
	deep(n - 1);
	(void)frame[0];
}

FUNC static void *
thread(void *arg)
{
	work_times(100);
	if (arg)
		pthread_exit(NULL);
	return NULL;
}

int
main(void)
{
	pthread_t t;

	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, thread, i ? &t : NULL);
		pthread_join(t, NULL);
	}
	for (volatile int i = 0; i < 6; i++)
		if (!setjmp(back))
			deep(9);
	exit(0);
}
