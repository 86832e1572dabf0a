/* SPDX-License-Identifier: MIT */
/* outputs WAY: writes to files, over and over, in one of several ways, by descriptors that lead to another file each
 * time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long sum;
static char block[5000];

static void
mix(const void *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum = sum * 31 + ((const unsigned char *)at)[i];
}

static void
need(int ok, const char *what)
{
	if (!ok) {
		dprintf(2, "%s: %s\n", what, strerror(errno));
		exit(1);
	}
}

static void
put(int fd, unsigned i)
{
	char line[64];
	int n = snprintf(line, sizeof line, "line %u of %d\n", i, fd);

	need(write(fd, line, (size_t)n) == n, "write");
}

/* One number means in turn a file, the standard output, the standard error, and that once more. */
static void
numbers(void)
{
	for (unsigned i = 0; i < 400; i++) {
		int fd = i % 4 == 0 ? open("to", O_WRONLY | O_CREAT | O_APPEND, 0600) : i % 4 == 1 ? dup(1) : i % 4 == 2 ? dup(2) :
			fcntl(2, F_DUPFD, 3);

		for (unsigned j = 0; j < 6; j++)
			put(fd, i);
		close(fd);
	}
	dup2(1, 7);
	for (unsigned i = 0; i < 40; i++) {
		int to = open("to", O_WRONLY | O_APPEND);

		for (unsigned j = 0; j < 6; j++)
			put(7, i), dup2(to, 7), put(7, i), dup2(1, 7), put(7, i);
		close(to);
	}
}

/* What is written shows in a mapping that is made when many have been written already. */
static void
mapping(void)
{
	int fd = open("mapped", O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *map;

	for (unsigned i = 0; i < 100; i++)
		put(fd, i);
	map = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
	need(map != MAP_FAILED, "mmap");
	for (unsigned i = 0; i < 100; i++) {
		need(pwrite(fd, &i, sizeof i, 3 * i) == sizeof i, "pwrite");
		mix(map, 400);
		put(fd, i);
	}
	mix(map, 4000);
	munmap(map, 8192);
	close(fd);
}

/* Writing memory by a file. */
static void
memory(void)
{
	int fd = open("/proc/self/mem", O_RDWR);
	unsigned value = 0;

	for (unsigned i = 1; i < 50; i++) {
		need(pwrite(fd, &i, sizeof i, (off_t)&value) == sizeof i, "/proc/self/mem");
		mix(&value, sizeof value);
		put(1, value);
	}
	close(fd);
}

static volatile sig_atomic_t struck;

static void
strike(int sig)
{
	(void)sig;
	struck++;
}

static void
failing(void)
{
	struct rlimit limit, most = {20000, RLIM_INFINITY};
	int fd = open("limited", O_WRONLY | O_CREAT | O_TRUNC, 0600), in = open("to", O_RDONLY);
	char *edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ssize_t n;

	for (int i = 0; i < 20; i++) {
		n = write(in, block, 3);
		need(n == -1 && errno == EBADF, "for reading only");
		n = write(fd, NULL, 3);
		need(n == -1 && errno == EFAULT, "no memory");
		put(fd, 1);
	}
	munmap(edge + 4096, 4096);
	for (int i = 0; i < 20; i++) {
		n = write(fd, edge + 4000, 4000);
		mix(&n, sizeof n);
	}
	signal(SIGXFSZ, strike);
	getrlimit(RLIMIT_FSIZE, &limit);
	setrlimit(RLIMIT_FSIZE, &most);
	for (int i = 0; i < 20; i++) {
		n = write(fd, block, sizeof block);
		need(n > 0 || struck, "no signal at once");
		mix(&n, sizeof n);
	}
	setrlimit(RLIMIT_FSIZE, &limit);
	close(fd), close(in);
}

static void *
work(void *of)
{
	for (unsigned i = 0; i < 100; i++)
		put(1, i), put(2, i);
	return of;
}

static void
others(void)
{
	pthread_t t;
	int status;

	for (unsigned round = 0; round < 3; round++) {
		work(NULL);
		if (!fork()) {
			dup2(open("to", O_WRONLY | O_APPEND), 2);
			work(NULL);
			_exit(0);
		}
		wait(&status);
		work(NULL);
		if (!vfork()) {
			close(2);
			_exit(0);
		}
		work(NULL);
		pthread_create(&t, NULL, work, NULL);
		work(NULL);
		pthread_join(t, NULL);
	}
}

/* Until a child ends it. */
static void
killed(int sig)
{
	pid_t self = getpid();

	for (unsigned i = 0; i < 100; i++)
		put(1, i);
	if (!fork()) {
		usleep(30000);
		kill(self, sig);
		_exit(0);
	}
	for (unsigned i = 0;; i++)
		put(1, i);
}

int
main(int argc, char **argv)
{
	const char *way = argv[argc > 1];

	if (!strcmp(way, "kill"))
		killed(SIGKILL);
	if (!strcmp(way, "term"))
		killed(SIGTERM);
	memset(block, 'b', sizeof block);
	numbers();
	mapping();
	memory();
	failing();
	others();
	printf("%lx\n", sum);
	return 3;
}
