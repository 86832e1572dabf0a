/* SPDX-License-Identifier: MIT */
/* Threads that are joined. Each has a number of rounds that identifies it. For each joined thread a line has that number. With
 * an argument: threads that create and join others, all at the same time. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { FIRST = 4, SECOND = 4, MAKERS = 6, EACH = 5 };

static pthread_t thread[FIRST + SECOND];
static volatile pid_t tid[FIRST];
static sem_t go;

__attribute__((noinline)) static void
work(void)
{
	__asm__ volatile("");
}

static void *
works(void *p)
{
	for (long i = 0; i < (long)p; i++)
		work();
	if ((long)p <= FIRST)
		tid[(long)p - 1] = (pid_t)syscall(SYS_gettid);
	return NULL;
}

static void *
waits(void *p)
{
	sem_wait(&go);
	return works(p);
}

static int
works_too(void *p)
{
	works(p);
	return 7;
}

static void
joined(int error, long n)
{
	if (!error)
		printf("%ld\n", n);
}

/* Threads that have ended before others begin, and are joined after these. */
static void
out_of_order(void)
{
	long i;

	for (i = 0; i < FIRST; i++)
		pthread_create(&thread[i], NULL, works, (void *)(i + 1));
	for (i = 0; i < FIRST; i++)
		while (!tid[i] || !syscall(SYS_tgkill, getpid(), tid[i], 0))
			sched_yield();
	for (; i < FIRST + SECOND; i++)
		pthread_create(&thread[i], NULL, works, (void *)(i + 1));
	for (i = FIRST + SECOND; i-- > 0;)
		joined(pthread_join(thread[i], NULL), i + 1);
}

/* Its handle may be another thread's before, who was not joined. */
static void
detached(void)
{
	pthread_t t;

	for (long i = 0; i < FIRST; i++) {
		tid[i] = 0;
		pthread_create(&t, NULL, works, (void *)(i + 1));
		pthread_detach(t);
		while (!tid[i] || !syscall(SYS_tgkill, getpid(), tid[i], 0))
			sched_yield();
		pthread_create(&t, NULL, works, (void *)(20 + i));
		joined(pthread_join(t, NULL), 20 + i);
	}
}

static void *
unmaps(void *p)
{
	munmap(p, 4096);
	return NULL;
}

/* A thread that takes away what its handle is in, as soon as it runs. */
static void
handle_gone(void)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < 20; i++) {
		pthread_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		pthread_create(p, &attr, unmaps, p);
	}
}

static void
other_ways(void)
{
	struct timespec far = {.tv_sec = time(NULL) + 1000}, past = {0};
	pthread_t t;
	thrd_t c;
	int result;

	pthread_create(&t, NULL, waits, (void *)30);
	joined(pthread_tryjoin_np(t, NULL), -1);
	joined(pthread_timedjoin_np(t, NULL, &past), -2);
	joined(pthread_join(pthread_self(), NULL), -3);
	sem_post(&go);
	joined(pthread_timedjoin_np(t, NULL, &far), 30);
	pthread_create(&t, NULL, works, (void *)31);
	while ((result = pthread_tryjoin_np(t, NULL)) == EBUSY)
		sched_yield();
	joined(result, 31);
	thrd_create(&c, works_too, (void *)32);
	joined(thrd_join(c, &result), 32);
	joined(result == 7, -4);
}

static void *
makes(void *p)
{
	pthread_t t;

	for (long i = 0; i < EACH; i++) {
		pthread_create(&t, NULL, works, (void *)(FIRST + 1 + i));
		pthread_join(t, NULL);
	}
	return p;
}

int
main(int argc, char **argv)
{
	(void)argv;
	sem_init(&go, 0, 0);
	if (argc > 1) {
		for (int i = 0; i < MAKERS; i++)
			pthread_create(&thread[i], NULL, makes, NULL);
		for (int i = 0; i < MAKERS; i++)
			pthread_join(thread[i], NULL);
		return 0;
	}
	out_of_order();
	detached();
	handle_gone();
	other_ways();
	return 0;
}
