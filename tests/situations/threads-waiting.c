/* SPDX-License-Identifier: MIT */
/* The process ends while other threads wait in the kernel, each in another way. Their activations are known all the same. The
 * kernel tells no frame pointer, so no frame may need one that libc has not saved. */
/* options: -pthread -fomit-frame-pointer */
/* notes: none */
/* expect: main 1 */
/* expect: thread 7 */
/* expect: deeper 28 */
/* expect: work 150 */
/* expect: after 0 */
/* line: BEFORE 7 */
/* line: BEHIND 0 */
/* line: INNER 28 */
/* line: OUTER 0 */
#include "situation.h"
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t none, begun;
static int ends[2];
static pthread_t first;

FUNC static void
after(void)
{
	STEP;
}

FUNC static void
wait_in_some_way(long way)
{
	char c;

	STEP; /* @BEFORE */
	sem_post(&begun);
	switch (way) {
	case 0: pause(); break;
	case 1: sem_wait(&none); break;
	case 2: pthread_mutex_lock(&held); break;
	case 3: pthread_mutex_lock(&mutex); for (;;) pthread_cond_wait(&never, &mutex);
	case 4: if (read(ends[0], &c, 1) > 0) after(); break;
	case 5: poll(NULL, 0, -1); break;
	default: nanosleep(&(struct timespec){1000, 0}, NULL);
	}
	STEP; /* @BEHIND */
	after();
}

FUNC static void
deeper(long way, int n)
{
	STEP; /* @INNER */
	if (n)
		deeper(way, n - 1);
	else
		wait_in_some_way(way);
	STEP; /* @OUTER */
	after();
}

FUNC static void *
thread(void *arg)
{
	work_times(20);
	deeper((long)arg, 3);
	after();
	return arg;
}

int
main(void)
{
	pthread_t t;

	sem_init(&none, 0, 0);
	sem_init(&begun, 0, 0);
	pthread_mutex_lock(&held);
	if (pipe(ends) != 0)
		return 1;
	for (long i = 0; i < 7; i++)
		pthread_create(i ? &t : &first, NULL, thread, (void *)i);
	for (int i = 0; i < 7; i++)
		sem_wait(&begun);
	usleep(200000);
	work_times(10);
	return 0;
}
