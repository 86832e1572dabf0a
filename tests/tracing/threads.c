/* SPDX-License-Identifier: MIT */
/* Threads that end by returning, by pthread_exit, and while another thread waits. */
#include <pthread.h>
#include <stdio.h>

static unsigned long out[4];

__attribute__((noinline)) static unsigned long
work(unsigned long n)
{
	return n < 3 ? n : work(n - 1) ^ work(n - 3);
}

static void *
run(void *p)
{
	unsigned long i = (unsigned long)p;

	out[i] = work(8 + i);
	if (i == 2)
		pthread_exit(NULL);
	return NULL;
}

int
main(void)
{
	pthread_t t[4];

	for (unsigned long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("%lu\n", out[0] + out[1] + out[2] + out[3]);
	return 0;
}
