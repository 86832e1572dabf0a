/* SPDX-License-Identifier: MIT */
/* Reads and writes pipes in all ways, with waiting and without. What it prints depends on what came through. It also prints
 * what differs from what the kernel has to do. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned long sum;
static char bytes[100000];

static void
mix(const void *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum = sum * 31 + ((const unsigned char *)at)[i];
}

#define must(ok) do if (!(ok)) printf("line %d: not %s (errno %d)\n", __LINE__, #ok, errno); while (0)

/* To itself: nothing waits. */
static void
to_itself(void)
{
	int end[2];
	ssize_t n;

	must(!pipe(end));
	for (size_t size = 1; size < 12000; size += 37) {
		memset(bytes, (int)size, size);
		must(write(end[1], bytes, size) == (ssize_t)size);
		for (size_t left = size; left; left -= (size_t)n) {
			n = read(end[0], bytes, size % 5 ? 4000 : 70000);
			if (n <= 0)
				break;
			mix(bytes, (size_t)n);
		}
	}
	must(write(end[1], "a", 0) == 0);
	must(read(end[0], bytes, 0) == 0);
	must(write(end[1], NULL, 1) == -1 && errno == EFAULT);
	must(pwrite(end[1], "a", 1, 0) == -1 && errno == ESPIPE);
	must(pread(end[0], bytes, 1, 0) == -1 && errno == ESPIPE);
	must(read(end[1], bytes, 1) == -1 && errno == EBADF);
	must(write(end[0], "a", 1) == -1 && errno == EBADF);
	close(end[0]);
	close(end[1]);
}

/* From one process to another, of which one waits for the other. */
static void
to_another(size_t size, size_t piece)
{
	int end[2], status;
	pid_t child;
	ssize_t n;

	must(!pipe(end));
	child = fork();
	if (!child) {
		close(end[0]);
		for (size_t left = 600000; left; left -= left < size ? left : size) {
			memset(bytes, (int)left, size);
			must(write(end[1], bytes, left < size ? left : size) == (ssize_t)(left < size ? left : size));
		}
		_exit(0);
	}
	close(end[1]);
	while ((n = read(end[0], bytes, piece)) > 0)
		mix(bytes, (size_t)n);
	for (int i = 0; i < 20; i++)
		must(read(end[0], bytes, piece) == 0);
	waitpid(child, &status, 0);
	must(status == 0);
	close(end[0]);
}

static volatile sig_atomic_t struck;

static void
strike(int sig)
{
	(void)sig;
	struck++;
}

/* Nobody reads: the handler runs before write() comes back. */
static void
to_nobody(void)
{
	int end[2];

	must(!pipe(end));
	signal(SIGPIPE, strike);
	for (int i = 0; i < 50; i++)
		must(write(end[1], "a", 1) == 1);
	close(end[0]);
	struck = 0;
	for (int i = 0; i < 50; i++)
		must(write(end[1], "a", 1) == -1 && errno == EPIPE && struck == i + 1);
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 50; i++)
		must(write(end[1], "a", 1) == -1 && errno == EPIPE && struck == 50);
	signal(SIGPIPE, SIG_DFL);
	close(end[1]);
}

/* Full and empty, where it does not want to wait. */
static void
not_waiting(void)
{
	int end[2], full = 0, n = 0;

	must(!pipe2(end, O_NONBLOCK));
	for (int i = 0; i < 30; i++)
		must(read(end[0], bytes, 1) == -1 && errno == EAGAIN);
	while (write(end[1], bytes, 1000) == 1000)
		full++;
	must(errno == EAGAIN);
	while (read(end[0], bytes, 1000) == 1000)
		n++;
	must(n == full);
	mix(&full, sizeof full);
	close(end[0]);
	close(end[1]);
}

/* Numbers that were a pipe's, and are not any more. */
static void
other_files(void)
{
	int end[2], file = open("pipes.c.copy", O_RDWR | O_CREAT | O_TRUNC, 0600), was;

	for (int way = 0; way < 4; way++) {
		must(!pipe(end));
		for (int i = 0; i < 30; i++)
			must(write(end[1], "abc", 3) == 3 && read(end[0], bytes, 3) == 3);
		was = end[0];
		switch (way) {
		case 0: close(end[0]); must(fcntl(file, F_DUPFD, was) == was); break;
		case 1: dup2(file, end[0]); break;
		case 2: dup3(file, end[0], O_CLOEXEC); break;
		case 3: close(end[0]); must(open("pipes.c.copy", O_RDWR) == was); break;
		}
		for (int i = 0; i < 30; i++) {
			must(pwrite(was, &i, sizeof i, (i + way) * 4) == sizeof i);
			must(lseek(was, (i + way) * 4, SEEK_SET) == (i + way) * 4);
			must(read(was, bytes, sizeof i) == sizeof i && !memcmp(bytes, &i, sizeof i));
			must(write(was, "file", 4) == 4);
		}
		close(was);
		close(end[1]);
	}
	unlink("pipes.c.copy");
}

/* Registers are as the instruction leaves them. */
static void
registers(void)
{
	int end[2];

	must(!pipe(end));
	for (int i = 0; i < 60; i++) {
		register long r10 __asm__("r10") = 10, r8 __asm__("r8") = 8, r9 __asm__("r9") = 9;
		long rax = i % 2 ? SYS_read : SYS_write, rdi = end[1 - i % 2], rsi = (long)bytes, rdx = 3;

		__asm__ volatile("jmp 1f\n.p2align 4\n1: syscall\njmp 2f\n.p2align 5, 0x90\n2:"
		                 : "+a"(rax), "+D"(rdi), "+S"(rsi), "+d"(rdx), "+r"(r10), "+r"(r8), "+r"(r9)
		                 : : "rcx", "r11", "memory");
		must(rax == 3 && rdi == end[1 - i % 2] && rsi == (long)bytes && rdx == 3 && r10 == 10 && r8 == 8 && r9 == 9);
	}
	close(end[0]);
	close(end[1]);
}

/* Signals strike wherever they do. */
static void
among_signals(void)
{
	struct itimerval often = {{0, 500}, {0, 500}};
	struct sigaction act = {.sa_handler = strike, .sa_flags = SA_RESTART};
	int end[2];

	must(!pipe(end));
	struck = 0;
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned i = 0; struck < 100; i++) {
		must(write(end[1], &i, sizeof i) == sizeof i);
		must(read(end[0], bytes, 100) == sizeof i && !memcmp(bytes, &i, sizeof i));
		sum += (unsigned)struck * i;
	}
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	close(end[0]);
	close(end[1]);
}

/* The writer is killed, wherever that strikes. */
static void
killed(void)
{
	int end[2], status;
	unsigned long got = 0;
	ssize_t n;
	pid_t child;

	must(!pipe(end));
	child = fork();
	if (!child) {
		close(end[0]);
		for (unsigned i = 0;; i++)
			if (write(end[1], bytes, 1 + i % 4096) < 0)
				_exit(1);
	}
	close(end[1]);
	while (got < 500000 && (n = read(end[0], bytes, 3000)) > 0)
		got += (unsigned long)n;
	kill(child, SIGKILL);
	while ((n = read(end[0], bytes, 3000)) > 0)
		got += (unsigned long)n;
	waitpid(child, &status, 0);
	must(WIFSIGNALED(status));
	printf("%lu bytes of one that was killed\n", got);
	close(end[0]);
}

int
main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	to_itself();
	for (size_t size = 100; size < 100000; size = size * 7 + 1)
		to_another(size, size % 2 ? 1000 : 65536);
	to_another(4096, 4096);
	to_another(4097, 4095);
	to_nobody();
	not_waiting();
	other_files();
	registers();
	printf("%lx\n", sum);
	among_signals();
	killed();
	for (int i = 0; i < 300; i++)
		printf("line %d of output\n", i);
	return 3;
}
