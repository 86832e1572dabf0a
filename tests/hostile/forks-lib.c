/* SPDX-License-Identifier: MIT */
/* A library that takes its lock before fork, blocks signals until after it, and makes its worker thread again in the child. Its
 * handlers are registered before those of the program's runtime. In the child it opens another library, or closes it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t worker;
static sigset_t mask;
static void *(*job)(void *);
static const char *opens;
static void *closes;

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
before(void)
{
	sigset_t all, was;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	lock();
	mask = was;
}

static void
behind(void)
{
	sigset_t was = mask;

	unlock();
	pthread_sigmask(SIG_SETMASK, &was, NULL);
}

static void
restart(void)
{
	behind();
	if (job)
		pthread_create(&worker, NULL, job, NULL);
	if (opens)
		((int (*)(int))dlsym(dlopen(opens, RTLD_NOW), "next"))(1);
	if (closes)
		dlclose(closes);
}

__attribute__((constructor)) static void
begin(void)
{
	pthread_atfork(before, behind, restart);
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

void
lib_child(const char *to_open, void *to_close)
{
	opens = to_open;
	closes = to_close;
}
