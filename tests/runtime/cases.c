/* SPDX-License-Identifier: MIT */
/* cases NAME [ARG]: the situations, one function each. main counts 1. */
#define _GNU_SOURCE
#include "count.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

extern void lib_count(void) __attribute__((weak));
extern void lib_other(void) __attribute__((weak));

typedef void count_fn(void);

static __attribute__((noinline)) void
count(void)
{
	CHORD_COUNT(1);
}

static void
count_many(count_fn *f, int n)
{
	while (n-- > 0)
		f();
}

static void *
thread_count(void *arg)
{
	count_many(count, (int)(long)arg);
	return arg;
}

static void
case_one(char **arg)
{
	(void)arg;
	count_many(count, 1000);
}

/* 64 threads of 100,000 each */
static void
case_threads(char **arg)
{
	pthread_t t[64];
	void *r;

	(void)arg;
	for (int i = 0; i < 64; i++)
		if (pthread_create(&t[i], NULL, thread_count, (void *)100000L))
			abort();
	for (int i = 0; i < 64; i++)
		if (pthread_join(t[i], &r) || (long)r != 100000)
			abort();
}

static void *
thread_wait(void *arg)
{
	count();
	pthread_barrier_wait(arg);
	return NULL;
}

static void
case_many(char **arg)
{
	enum { MANY = 2000 };
	static pthread_t t[MANY];
	pthread_barrier_t all;
	pthread_attr_t a;

	(void)arg;
	pthread_barrier_init(&all, NULL, MANY + 1);
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 16384);
	for (int i = 0; i < MANY; i++)
		if (pthread_create(&t[i], &a, thread_wait, &all))
			abort();
	pthread_barrier_wait(&all);
	for (int i = 0; i < MANY; i++)
		pthread_join(t[i], NULL);
}

static void
case_short_threads(char **arg)
{
	pthread_t t[4];

	(void)arg;
	for (int i = 0; i < 2500; i++) {
		for (int k = 0; k < 4; k++)
			if (pthread_create(&t[k], NULL, thread_count, (void *)1L))
				abort();
		for (int k = 0; k < 4; k++)
			pthread_join(t[k], NULL);
	}
}

static void
case_detached(char **arg)
{
	pthread_attr_t a;
	pthread_t t;

	(void)arg;
	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&a, 16384);
	for (int i = 0; i < 100; i++)
		if (pthread_create(&t, &a, thread_count, (void *)10L))
			abort();
	usleep(200000);
}

static void
case_libs(char **arg)
{
	(void)arg;
	count_many(count, 3);
	count_many(lib_count, 5);
	count_many(lib_other, 7);
}

static count_fn *
opened(const char *path, void **handle)
{
	*handle = dlopen(path, RTLD_NOW);
	if (!*handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(3);
	}
	return (count_fn *)dlsym(*handle, "lib_count");
}

static pthread_barrier_t barrier;
static count_fn *volatile late;

static void *
thread_late(void *arg)
{
	count();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	count_many(late, 1000);
	return arg;
}

/* dlopen while 8 threads live, which then count in it */
static void
case_dlopen(char **arg)
{
	pthread_t t[8];
	void *h;

	pthread_barrier_init(&barrier, NULL, 9);
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, thread_late, NULL);
	pthread_barrier_wait(&barrier);
	late = opened(arg[0], &h);
	pthread_barrier_wait(&barrier);
	count_many(late, 1000);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

/* the same library 50 times, with another one between */
static void
case_dlclose(char **arg)
{
	void *h, *g;

	for (int i = 0; i < 50; i++) {
		count_many(opened(arg[0], &h), 10);
		if (i % 3 == 0)
			count_many(opened(arg[1], &g), 1);
		dlclose(h);
		if (i % 3 == 0)
			dlclose(g);
		count();
	}
}

static void
reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status != 0) {
		fprintf(stderr, "child: status %x\n", status);
		exit(3);
	}
}

static void
case_fork(char **arg)
{
	pthread_t t;
	pid_t pid;

	(void)arg;
	count_many(count, 10);
	pid = fork();
	if (pid == 0) {
		count_many(count, 200);
		if (pthread_create(&t, NULL, thread_count, (void *)30L))
			abort();
		pthread_join(t, NULL);
		exit(0);
	}
	reap(pid);
	count_many(count, 1);
}

static void
case_fork_thread(char **arg)
{
	pthread_t t;

	pthread_create(&t, NULL, (void *(*)(void *))(void *)case_fork, arg);
	pthread_join(t, NULL);
}

static void
case_vfork(char **arg)
{
	char *argv[] = {arg[0], (char *)"one", NULL};
	pid_t pid = vfork();

	if (pid == 0) {
		count_many(count, 5);
		execv(arg[0], argv);
		_exit(1);
	}
	count_many(count, 6);
	reap(pid);
}

extern char **environ;

static void
case_spawn(char **arg)
{
	char *argv[] = {arg[0], (char *)"one", NULL};
	pid_t pid;

	if (posix_spawn(&pid, arg[0], NULL, NULL, argv, environ))
		abort();
	reap(pid);
	count();
}

/* Counts, and says so: what the reader was told was counted. */
static void
case_forever(char **arg)
{
	(void)arg;
	for (long n = 1;; n++) {
		count();
		if (write(1, "12345678\n", 9) < 0)
			_exit(2);
	}
}

/* The same process runs the program once more. */
static void
case_again(char **arg)
{
	count_many(count, 10);
	execl(arg[0], arg[0], "one", (char *)NULL);
}

/* Lives on without a descriptor until there is a file named go. */
static void
case_hold(char **arg)
{
	(void)arg;
	for (int i = 3; i < 2000; i++)
		close(i);
	count();
	close(open("held", O_CREAT | O_WRONLY, 0666));
	for (int i = 0; i < 1000 && access("go", F_OK) < 0; i++)
		usleep(10000);
}

/* The child of a forked child keeps a lock on its own profile only. */
static void
case_orphan(char **arg)
{
	(void)arg;
	if (fork() == 0) {
		count_many(count, 100);
		for (int i = 0; i < 1000 && access("go", F_OK) < 0; i++)
			usleep(10000);
		close(open("gone", O_CREAT | O_WRONLY, 0666));
		_exit(0);
	}
	count_many(count, 10);
	usleep(100000); /* as long as the child has not run at all it holds what its parent held */
}

/* the program closes all descriptors, then needs room for threads */
static void
case_closefrom(char **arg)
{
	int fd;

	for (int i = 3; i < 2000; i++)
		close(i);
	fd = open("/dev/null", O_RDWR);
	if (fd != 3)
		abort();
	for (int i = 4; i < 1024; i++)
		dup2(fd, i);
	for (int i = 1000; i < 1024; i++)
		close(i);
	if (chdir("/"))
		abort();
	case_threads(arg);
}

static void
case_first_fd(char **arg)
{
	(void)arg;
	if (open("/dev/null", O_RDONLY) != 3)
		abort();
}

static void
on_signal(int sig)
{
	(void)sig;
	count();
}

static void
case_signal(char **arg)
{
	(void)arg;
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 100; i++)
		raise(SIGUSR1);
}

/* In a program that is not position independent this is its own PLT entry. */
static void
case_address(char **arg)
{
	int (*make)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = pthread_create;
	pthread_t t;

	(void)arg;
	__asm__ volatile("" : "+r"(make));
	if (make(&t, NULL, thread_count, (void *)50000L))
		abort();
	count_many(count, 50000);
	pthread_join(t, NULL);
}

static int
thread_c11(void *arg)
{
	count_many(count, 50000);
	return (int)(long)arg;
}

static void
case_c11(char **arg)
{
	thrd_t t[4];
	int r;

	(void)arg;
	for (long i = 0; i < 4; i++)
		thrd_create(&t[i], thread_c11, (void *)i);
	for (int i = 0; i < 4; i++)
		if (thrd_join(t[i], &r) != thrd_success || r != i)
			abort();
}

/* A local symbol with the name of something that is watched. */
static int own_clone(int x) __asm__("clone");

static __attribute__((noinline, used)) int
own_clone(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

static void
case_local(char **arg)
{
	(void)arg;
	if (own_clone(1) != 2)
		abort();
	case_c11(arg);
}

static void
timer_fired(union sigval v)
{
	(void)v;
	count();
	*(volatile int *)v.sival_ptr = 1;
}

static void
case_timer(char **arg)
{
	static volatile int done;
	struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = timer_fired};
	struct itimerspec in = {.it_value.tv_nsec = 1000};
	timer_t t;

	(void)arg;
	e.sigev_value.sival_ptr = (void *)(uintptr_t)&done;
	if (timer_create(CLOCK_MONOTONIC, &e, &t) || timer_settime(t, 0, &in, NULL))
		abort();
	while (!done)
		usleep(100);
}

static void
case_pointer(char **arg)
{
	static int (*volatile make)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = pthread_create;
	pthread_t t;

	(void)arg;
	if (make(&t, NULL, thread_count, (void *)50000L))
		abort();
	count_many(count, 50000);
	pthread_join(t, NULL);
}

static const struct {
	const char *name;
	void (*run)(char **arg);
} cases[] = {
	{"one", case_one}, {"threads", case_threads}, {"short_threads", case_short_threads},
	{"many", case_many}, {"detached", case_detached}, {"libs", case_libs}, {"dlopen", case_dlopen},
	{"dlclose", case_dlclose}, {"fork", case_fork}, {"fork_thread", case_fork_thread},
	{"vfork", case_vfork}, {"spawn", case_spawn}, {"forever", case_forever},
	{"closefrom", case_closefrom}, {"first_fd", case_first_fd}, {"again", case_again},
	{"hold", case_hold}, {"orphan", case_orphan}, {"signal", case_signal}, {"pointer", case_pointer},
	{"address", case_address}, {"local", case_local}, {"c11", case_c11}, {"timer", case_timer},
};

int
main(int argc, char **argv)
{
	CHORD_COUNT(1);
	for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
		if (strcmp(argv[1], cases[i].name) == 0) {
			cases[i].run(argv + 2);
			return 0;
		}
	fprintf(stderr, "no such case\n");
	return 2;
}
