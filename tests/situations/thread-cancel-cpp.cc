/* SPDX-License-Identifier: MIT */
/* Cancelling runs destructors, and passes through catch (...), which has to throw again. */
/* options: -pthread */
/* expect: main 1 */
/* expect: thread 10 */
/* expect: sleeper 10 */
/* expect: work 10 */
/* line: caught 10 */
/* line: never 0 */
#include "situation.h"
#include <pthread.h>
#include <unistd.h>

extern "C" {

static pthread_barrier_t ready;

struct guard {
	~guard() { work(); }
};

FUNC static void
sleeper()
{
	guard g;
	pthread_barrier_wait(&ready);
	for (;;)
		pause();
}

FUNC static void *
thread(void *arg)
{
	try {
		sleeper();
		STEP; /* @never */
	} catch (...) {
		STEP; /* @caught */
		throw;
	}
	return arg;
}

int
main()
{
	pthread_t t;
	pthread_barrier_init(&ready, nullptr, 2);
	for (int i = 0; i < 10; i++) {
		pthread_create(&t, nullptr, thread, nullptr);
		pthread_barrier_wait(&ready);
		pthread_cancel(t);
		pthread_join(t, nullptr);
	}
	return 0;
}
}
