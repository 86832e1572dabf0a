/* SPDX-License-Identifier: MIT */
/* Runs until a debugger sets go to 0, with a second thread unless there is an argument. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile long n;
volatile int go = 1;

static __attribute__((noinline)) void
step(void)
{
	n++;
}

static void *
run(void *a)
{
	while (go) {
		step();
		usleep(1000);
	}
	return a;
}

int
main(int argc, char **argv)
{
	pthread_t t;

	(void)argv;
	if (argc < 2 && pthread_create(&t, NULL, run, NULL))
		return 2;
	for (int i = 0; i < 20000 && go; i++) {
		step();
		usleep(1000);
	}
	if (argc < 2)
		pthread_join(t, NULL);
	puts(go ? "not told" : "told");
	return 0;
}
