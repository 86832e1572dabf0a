/* SPDX-License-Identifier: MIT */
/* A library that takes its lock before fork, and makes its worker again in the child. Its handlers are there before those of the
 * program's runtime. */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t worker;
static void *(*job)(void *);

static void
lock(void)
{
	pthread_mutex_lock(&mutex);
}

static void
unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

static void
restart(void)
{
	unlock();
	if (job)
		pthread_create(&worker, NULL, job, NULL);
}

__attribute__((constructor)) static void
begin(void)
{
	pthread_atfork(lock, unlock, restart);
}

void
lib_start(void *(*routine)(void *))
{
	job = routine;
	pthread_create(&worker, NULL, job, NULL);
}

void
lib_join(void)
{
	pthread_join(worker, NULL);
}

void
lib_run(void *(*routine)(void *))
{
	pthread_t thread;

	lock();
	if (!pthread_create(&thread, NULL, routine, NULL))
		pthread_detach(thread);
	unlock();
}
