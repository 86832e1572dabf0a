/* SPDX-License-Identifier: MIT */
/* 10,000 short threads, four at a time. */
/* options: -pthread */
/* expect: main 1, thread 10000, work 10000 */
#include <pthread.h>
#include <stdlib.h>

static __thread volatile unsigned long done;

__attribute__((noinline, noclone)) void
work(void)
{
	done = done + 1;
}

__attribute__((noinline, noclone)) void *
thread(void *arg)
{
	work();
	return arg;
}

int
main(void)
{
	pthread_t t[4];

	for (int i = 0; i < 2500; i++) {
		for (int k = 0; k < 4; k++)
			if (pthread_create(&t[k], NULL, thread, NULL))
				abort();
		for (int k = 0; k < 4; k++)
			pthread_join(t[k], NULL);
	}
}
