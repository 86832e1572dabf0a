/* SPDX-License-Identifier: MIT */
/* Programs that fork while other threads hold locks that fork also takes; children that first of all make threads; children
 * with the process id of their parent; children in which a library is opened or closed first of all. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void lib_start(void *(*routine)(void *));
void lib_join(void);
void lib_run(void *(*routine)(void *));
void lib_child(const char *to_open, void *to_close);

static int fd[2];

__attribute__((noinline)) static void
work(void)
{
	__asm__ volatile("");
}

static void *
job(void *a)
{
	for (int i = 0; i < 200000; i++)
		work();
	return a;
}

static int
is_blocked(void)
{
	sigset_t now;

	return pthread_sigmask(SIG_SETMASK, NULL, &now) || sigismember(&now, SIGTERM);
}

static void
fork_and_wait(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(is_blocked());
	if (waitpid(pid, &status, 0) != pid || status || is_blocked())
		puts("signals are blocked behind fork");
}

static void *
idle(void *a)
{
	work();
	return a;
}

static void *
runs(void *a)
{
	for (int i = 0; i < 300; i++) {
		lib_run(idle);
		usleep(10);
	}
	return a;
}

/* The library makes threads under a lock that its handler takes before fork. */
static void
locks(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, runs, NULL);
	for (int i = 0; i < 200; i++)
		fork_and_wait();
	pthread_join(thread, NULL);
}

static void *
drains(void *a)
{
	char bytes[4096];
	long all = 0;

	for (ssize_t n; (n = read(fd[0], bytes, sizeof bytes)) > 0;)
		all += n;
	printf("%ld\n", all);
	return a;
}

static void *
flushes(void *a)
{
	enum { SIZE = 1 << 20 };
	FILE *f = fdopen(fd[1], "w");
	char *bytes = calloc(1, SIZE);

	setvbuf(f, NULL, _IOFBF, 2 * SIZE);
	fwrite(bytes, 1, SIZE, f);
	fflush(NULL);
	fclose(f);
	return a;
}

static void *
forks(void *a)
{
	fork_and_wait();
	return a;
}

/* fork waits for a stream that is flushed into a full pipe; a thread that is made meanwhile empties that. */
static void
flush(void)
{
	void *(*const routine[])(void *) = {flushes, forks, drains};
	pthread_t thread[3];

	if (pipe(fd))
		exit(2);
	for (int i = 0; i < 3; i++) {
		pthread_create(&thread[i], NULL, routine[i], NULL);
		usleep(100000);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

/* Each child has a worker of its own, made by the library before anybody else sees the child. */
static void
workers(void)
{
	int status;
	pid_t pid;

	lib_start(job);
	for (int i = 0; i < 5; i++) {
		pid = fork();
		if (!pid) {
			for (int k = 0; k < 1000; k++)
				work();
			lib_join();
			exit(3 + is_blocked());
		}
		waitpid(pid, &status, 0);
		printf("%x\n", status);
	}
	lib_join();
}

static void
libraries(int closes)
{
	void *library = closes ? dlopen("./liblist.so", RTLD_NOW) : NULL;
	int (*next)(int) = library ? (int (*)(int))dlsym(library, "next") : NULL;
	int status;
	pid_t pid;

	lib_child(closes ? NULL : "./liblist.so", library);
	for (int i = 0; i < 5; i++) {
		pid = fork();
		work();
		if (!pid)
			exit(4);
		waitpid(pid, &status, 0);
		printf("%x %d\n", status, next ? next(i) : 0);
		fflush(stdout);
	}
}

/* The first process of a numbering of its own forks the first one of another. */
static int
first_of_firsts(void)
{
	int status = 0;
	pid_t pid;

	if (getpid() != 1 || unshare(CLONE_NEWPID))
		return 9;
	pid = fork();
	job(NULL);
	if (!pid)
		return getpid() == 1 ? 5 : 9;
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status) + 1;
}

static int
spaces(void)
{
	int status = 0;
	pid_t pid;

	if (unshare(CLONE_NEWPID))
		return 77;
	pid = fork();
	if (!pid)
		return first_of_firsts();
	waitpid(pid, &status, 0);
	printf("%d\n", WEXITSTATUS(status));
	return 0;
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "locks"))
		locks();
	else if (!strcmp(mode, "flush"))
		flush();
	else if (!strcmp(mode, "workers"))
		workers();
	else if (!strcmp(mode, "opens") || !strcmp(mode, "closes"))
		libraries(*mode == 'c');
	else if (!strcmp(mode, "spaces"))
		return spaces();
	return 0;
}
