/* SPDX-License-Identifier: MIT */
/* births WAY: makes threads and processes by system calls. t_births knows how often work() is called. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char stack[1 << 18];
static volatile int done;

__attribute__((noinline)) void
work(void)
{
	__asm__ volatile("");
}

static void
many(int n)
{
	for (int i = 0; i < n; i++)
		work();
}

static inline __attribute__((always_inline)) long
call(long n, long a, long b, long c)
{
	long r;
	register long r10 __asm__("r10") = 0;
	register long r8 __asm__("r8") = 0;

	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return r;
}

/* The number is not known here. */
__attribute__((noinline)) long
any(long n, long a)
{
	return call(n, a, 0, 0);
}

static int
first(void *n)
{
	many((int)(long)n);
	return 4;
}

__attribute__((noinline, noreturn)) void
thread(void)
{
	many(2000);
	done = 1;
	for (;;)
		syscall(SYS_exit, 0);
}

static void
make_thread(void)
{
	void **top = (void **)(stack + sizeof stack - 64);
	long r, flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	register long r10 __asm__("r10") = 0;
	register long r8 __asm__("r8") = 0;

	__asm__ volatile("syscall; test %%eax, %%eax; jnz 1f; xor %%ebp, %%ebp; call *%[f]; 1:" : "=a"(r)
			 : "a"(SYS_clone), "D"(flags), "S"(top), "d"(0), "r"(r10), "r"(r8), [f] "b"(thread)
			 : "rcx", "r11", "memory");
	many(1000);
	while (!done)
		usleep(1000);
	usleep(100000);
}

int
main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	pid_t p = 0;
	int status = 0;

	if (!strcmp(way, "fork") && (many(1), p = (pid_t)call(SYS_fork, 0, 0, 0), many(1000), !p))
		call(SYS_exit_group, 3, 0, 0);
	if (!strcmp(way, "any-fork") && (p = (pid_t)any(SYS_fork, 0), many(1000), !p))
		any(SYS_exit_group, 3);
	if (!strcmp(way, "any-clone") && (p = (pid_t)any(SYS_clone, SIGCHLD), many(1000), !p))
		exit(3);
	if (!strcmp(way, "libc-fork") && (p = (pid_t)syscall(SYS_fork), many(1000), !p))
		syscall(SYS_exit_group, 3);
	if (!strcmp(way, "libc-clone") && (p = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), many(1000), !p))
		exit(3);
	if (!strcmp(way, "vfork")) {
		p = (pid_t)call(SYS_vfork, 0, 0, 0);
		if (!p) {
			many(500);
			call(SYS_exit, 3, 0, 0);
		}
		many(1000);
	}
	if (!strcmp(way, "clone"))
		p = clone(first, stack + sizeof stack, CLONE_VM | SIGCHLD, (void *)700L), many(1000);
	if (!strcmp(way, "clone-process"))
		p = clone(first, stack + sizeof stack, SIGCHLD, (void *)700L), many(1000);
	if (!strcmp(way, "thread"))
		make_thread();
	if (!strcmp(way, "exit"))
		many(10), call(SYS_exit, 3, 0, 0);
	if (!strcmp(way, "kill"))
		many(10), call(SYS_kill, getpid(), SIGTERM, 0);
	if (p)
		waitpid(p, &status, __WALL);
	printf("%s %d\n", way, WEXITSTATUS(status));
	return 0;
}
