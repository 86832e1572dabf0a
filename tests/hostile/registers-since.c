/* SPDX-License-Identifier: MIT */
/* A thread is in one loop when the first copy of the profile is made, and in the next one when the second is. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile unsigned char one, two;

__attribute__((noinline, noclone)) static unsigned
spin(volatile unsigned char *p)
{
	unsigned n = 0;

	while (!*p)
		n++;
	return n;
}

static void *
run(void *arg)
{
	(void)arg;
	spin(&one);
	spin(&two);
	return NULL;
}

int
main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
	usleep(100000);
	pthread_kill(pthread_self(), SIGUSR1);
	one = 1;
	usleep(100000);
	pthread_kill(pthread_self(), SIGUSR1);
	two = 1;
	pthread_join(thread, NULL);
	return 0;
}
