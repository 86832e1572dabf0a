/* SPDX-License-Identifier: MIT */
/* unwind-all ROUNDS: runs as much of the runtime as one thread can. 9000 rounds write more than a segment of a trace. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static jmp_buf back;
static ucontext_t here, there;
static volatile int sum;

__attribute__((noinline)) static void
jump(int n)
{
	if (n)
		jump(n - 1);
	else
		longjmp(back, 1);
	sum++;
}

__attribute__((noinline)) static int
odd(int x)
{
	return x & 1 ? x : -x;
}

static void *
thread(void *arg)
{
	sum += odd(3);
	return arg;
}

static void
other(void)
{
	sum += odd(4);
}

static void
handler(int sig)
{
	sum += odd(sig);
}

__attribute__((noinline)) static void
works(int (*volatile f)(int), int rounds)
{
	for (int i = 0; i < rounds; i++)
		sum += f(i) + (i % 3 ? 1 : 2);
}

__attribute__((noinline)) static long
process_id(void)
{
	long id;

	__asm__ volatile("syscall" : "=a"(id) : "0"(SYS_getpid) : "rcx", "r11", "memory");
	return id;
}

__attribute__((noinline)) static void
leave(void)
{
	exit(sum == 0);
}

int
main(int argc, char **argv)
{
	static char stack[1 << 16];
	pthread_t t;
	pid_t child;

	if (!setjmp(back))
		jump(5);
	works(odd, argc > 1 ? atoi(argv[1]) : 10);
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	sum += process_id() != getpid();
	if (!pthread_create(&t, NULL, thread, NULL))
		pthread_join(t, NULL);
	if ((child = fork()) == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	if ((child = vfork()) == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof stack;
	there.uc_link = &here;
	makecontext(&there, other, 0);
	swapcontext(&here, &there);
	leave();
}
