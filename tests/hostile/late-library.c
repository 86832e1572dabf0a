/* SPDX-License-Identifier: MIT */
/* late-library MEBIBYTES THREADS: opens a large library while threads wait in a system call that is resumed after a handler,
 * and calls it in all of them. The program's own mappings must not change. Half of the threads have signals blocked, as far as
 * the C library permits. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64 };

static pthread_barrier_t ready;
static int wake[2];
static long (*work)(long);

static void *
call_it(void *number)
{
	sigset_t all;
	char c;

	sigfillset(&all);
	if ((long)number % 2)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_barrier_wait(&ready);
	if (read(wake[0], &c, 1) != 1)
		perror("read");
	return (void *)work(1000);
}

/* Can all pages be read? */
static int
is_whole(const unsigned char *p, size_t size)
{
	size_t changed = 0;

	for (size_t i = 0; i < size; i += 4096)
		changed += p[i] != 0;
	return !changed;
}

static int
is_whole_in_child(const unsigned char *p, size_t size)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(!is_whole(p, size));
	return waitpid(pid, &status, 0) == pid && !status;
}

int
main(int argc, char **argv)
{
	size_t size = argc > 2 ? (size_t)atol(argv[1]) << 20 : 0, changed = 0;
	int threads = argc > 2 ? atoi(argv[2]) : 0;
	unsigned char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	long sum = 0;
	pthread_t thread[MOST];
	void *library, *result;

	if (p == MAP_FAILED || threads > MOST || pipe(wake))
		return 2;
	pthread_barrier_init(&ready, NULL, (unsigned)threads + 1);
	for (long i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, call_it, (void *)i))
			return 2;
	pthread_barrier_wait(&ready);
	library = dlopen("./large.so", RTLD_NOW);
	work = library ? (long (*)(long))dlsym(library, "work") : NULL;
	if (!work)
		return 2;
	for (int i = 0; i < threads; i++)
		if (write(wake[1], "", 1) != 1)
			return 2;
	sum = work(1000);
	for (int i = 0; i < threads; i++) {
		pthread_join(thread[i], &result);
		sum += (long)result;
	}
	for (size_t i = 0; i < size; i++)
		changed += p[i] != 0;
	printf("%ld, %zu bytes changed\n", sum, changed);
	fflush(stdout);
	return changed != 0 || !is_whole_in_child(p, size) || dlclose(library) || !is_whole(p, size);
}
