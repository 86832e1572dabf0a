/* SPDX-License-Identifier: MIT */
/* Mappings in great number, ends of files, and memory that is gone. It prints what it reads there, and the faults. maps FILES:
 * makes, maps and leaves FILES files. maps calm: only memory. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, KEPT = 40 };

static sigjmp_buf out;
static uint64_t seen;

static void
on_fault(int sig)
{
	siglongjmp(out, sig);
}

/* The byte there, or the signal. */
static int
look(const volatile char *at)
{
	int sig = sigsetjmp(out, 1);

	return sig ? -sig : *at;
}

static int
make(const char *name, int fill, size_t n)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *bytes = malloc(n);

	memset(bytes, fill, n);
	if (write(fd, bytes, n) != (ssize_t)n)
		exit(1);
	free(bytes);
	return fd;
}

/* Many files; some stay mapped while they are written. Numbers of those that are gone are used again. */
static void
many(int files)
{
	char *kept[KEPT], name[32];
	int fd[KEPT], n = 0;

	for (int i = 0; i < files; i++) {
		char *m;
		int f;

		snprintf(name, sizeof name, "many.%d", i);
		f = make(name, 'a' + i % 26, 100 + (size_t)i * 7 % 9000);
		m = mmap(NULL, 100, PROT_READ, i % 3 ? MAP_PRIVATE : MAP_SHARED, f, 0);
		seen = seen * 31 + (uint64_t)look(m + i % 100);
		unlink(name);
		if (i % 16 == 5 && n < KEPT) {
			kept[n] = m, fd[n++] = f;
			continue;
		}
		munmap(m, 100);
		seen = seen * 31 + (uint64_t)look(m);
		close(f);
	}
	for (int i = 0; i < n; i++)
		if (pwrite(fd[i], "changed", 7, 3) == 7)
			seen = seen * 31 + (uint64_t)look(kept[i] + 5);
}

/* The same file is seen whole first, and behind its end then. */
static void
ends(void)
{
	int fd = make("ends", 'e', PAGE + 100);
	char *whole = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *more;

	printf("%d %d\n", look(whole + PAGE), look(whole + PAGE + 200));
	whole[PAGE + 1] = 'w';
	more = mmap(NULL, 4 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	printf("%d %d %d\n", look(more + PAGE + 1), look(more + 2 * PAGE), look(more + 3 * PAGE));
}

static void
shrinks(void)
{
	int fd = make("shrinks", 's', 3 * PAGE);
	char *m = mmap(NULL, 3 * PAGE, PROT_READ, MAP_SHARED, fd, 0);

	printf("%d", look(m + 2 * PAGE));
	if (!ftruncate(fd, PAGE + 10))
		printf(" %d %d %d", look(m + PAGE + 9), look(m + PAGE + 10), look(m + 2 * PAGE));
	if (!ftruncate(fd, 3 * PAGE))
		printf(" %d %d", look(m + PAGE + 10), look(m + 2 * PAGE));
	if (!fork()) {
		if (pwrite(fd, "child", 5, 2 * PAGE) != 5)
			_exit(1);
		_exit(0);
	}
	wait(NULL);
	printf(" %d\n", look(m + 2 * PAGE));
}

/* Often enough for these calls to be made without a stop. */
static void
gone(void)
{
	for (int i = 0; i < 12; i++) {
		char *m = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *end = sbrk(PAGE);

		m[PAGE] = (char)i, end[0] = 'b';
		mprotect(m, PAGE, i % 2 ? PROT_NONE : PROT_READ);
		munmap(m + 4 * PAGE, PAGE);
		printf("%d %d %d %lx %d; ", look(m), look(m + PAGE), look(m + 4 * PAGE), (unsigned long)(uintptr_t)m, look(end));
		printf("%d %d\n", munmap(m + 1, PAGE), mprotect(m + 4 * PAGE, PAGE, PROT_READ));
		if (i % 3)
			munmap(m, 8 * PAGE);
	}
}

/* Nothing else comes between these. */
static void
calm(void)
{
	for (int i = 0; i < 1000; i++) {
		char *m = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		m[PAGE] = 'c';
		seen = seen * 31 + (uint64_t)(uintptr_t)m;
		mprotect(m, PAGE, PROT_READ);
		brk((char *)sbrk(0) + 64);
		munmap(m, (size_t)(i % 4 + 1) * PAGE);
	}
	printf("%llx\n", (unsigned long long)seen);
}

int
main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "calm")) {
		calm();
		return 4;
	}
	signal(SIGBUS, on_fault);
	signal(SIGSEGV, on_fault);
	many(argc > 1 ? atoi(argv[1]) : 100);
	printf("%llx\n", (unsigned long long)seen);
	gone();
	ends();
	shrinks();
	return 4;
}
