/* SPDX-License-Identifier: MIT */
/* confined HOW ACTION END [NUMBER...]: confines itself, goes on, and ends. HOW: the way in which it installs the filter.
 * ACTION: what a forbidden system call does. Numbers are the forbidden system calls; without numbers all but the few that the
 * program needs are forbidden. After that it uses only memory, write() and what END says. It calls work() once before, and
 * 1,000 times afterwards. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf env;
static volatile unsigned long sum;

__attribute__((noinline)) static void
work(int n)
{
	for (volatile int i = 0; i < n % 7; i++)
		sum += (unsigned long)i;
}

__attribute__((noinline)) static void
leave(int n)
{
	if (n == 0)
		longjmp(env, 1);
	leave(n - 1);
	sum++;
}

__attribute__((noinline)) static int
deep(int n)
{
	char room[512];

	memset(room, n, sizeof room);
	sum += (unsigned char)room[n % 512];
	return n ? deep(n - 1) + room[3] : 0;
}

static void
up(int n)
{
	work(n);
}

static void
down(int n)
{
	work(n + 1);
}

static void (*const way[])(int) = {up, down};

static void
struck(int s)
{
	(void)s;
	work(3);
}

__attribute__((noinline)) static void
after(void)
{
	for (volatile int i = 0; i < 20; i++)
		if (setjmp(env) == 0)
			leave(i % 5);
	for (int i = 0; i < 999; i++)
		way[i % 2](i);
	deep(200);
	__asm__ volatile("" : : "r"(deep(1)));
	struck(1);
	if (write(1, "after\n", 6) != 6)
		__builtin_trap();
}

static void
say_bye(void)
{
	if (write(1, "bye\n", 4) != 4)
		__builtin_trap();
}

static long
raw(long n, long a, long b, long c)
{
	long e;

	__asm__ volatile("syscall" : "=a"(e) : "0"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return e;
}

static struct sock_filter code[256];
static struct sock_fprog program = {0, code};
static struct sock_filter no_code = {.code = 0xffff};
static struct sock_fprog bad = {1, &no_code};

static void
add(unsigned short op, unsigned char jt, unsigned char jf, unsigned k)
{
	code[program.len++] = (struct sock_filter){op, jt, jf, k};
}

static void
make(unsigned action, char **number)
{
	static const int good[] = {SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_rt_sigreturn};

	add(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
	for (; *number; number++) {
		add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (unsigned)atoi(*number));
		add(BPF_RET | BPF_K, 0, 0, action);
		if (!number[1]) {
			add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
			return;
		}
	}
	for (unsigned i = 0; i < sizeof good / sizeof *good; i++) {
		add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (unsigned)good[i]);
		add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	}
	add(BPF_RET | BPF_K, 0, 0, action);
}

static void
confine(const char *how)
{
	int e = 0;

	if (!strncmp(how, "strict", 6)) {
		if (!strcmp(how, "strict-prctl"))
			e = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		else if (!strcmp(how, "strict-syscall"))
			e = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, 0);
		else if (!strcmp(how, "strict-raw"))
			e = (int)raw(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0);
	} else if (strcmp(how, "none")) {
		e = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (!strcmp(how, "prctl"))
			e |= prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
		else if (!strcmp(how, "syscall"))
			e |= (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
		else if (!strcmp(how, "tsync"))
			e |= (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
		else if (!strcmp(how, "raw"))
			e |= (int)raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program);
		else if (!strcmp(how, "in-vain")) /* the kernel refuses: nothing may be lost by it */
			e |= prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 8) == 0 ||
			    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &bad) == 0;
		else
			e = 1;
	}
	if (e)
		_exit(77);
}

/* Children of a process with a filter. */
static void
children(void)
{
	int status = 0;
	pid_t p;

	for (int i = 0; i < 3; i++) {
		p = fork();
		if (p == 0) {
			work(1);
			if (i == 1)
				exit(4);
			_exit(4);
		}
		if (p < 0 || waitpid(p, &status, 0) != p || status != 4 << 8)
			_exit(9);
	}
	p = vfork();
	if (p == 0) {
		work(1);
		_exit(5);
	}
	if (p < 0 || waitpid(p, &status, 0) != p || status != 5 << 8)
		_exit(9);
}

static const char *how;
static const char *end;

__attribute__((noinline)) static void
finish(void)
{
	if (!strcmp(end, "exit"))
		exit(3);
	if (!strcmp(end, "_exit"))
		_exit(3);
	if (!strcmp(end, "syscall"))
		syscall(SYS_exit, 3);
	if (!strcmp(end, "raw"))
		raw(SYS_exit, 3, 0, 0);
	if (!strcmp(end, "group"))
		syscall(SYS_exit_group, 3);
	if (!strcmp(end, "children"))
		children();
}

static void *
thread(void *arg)
{
	(void)arg;
	work(1);
	confine(how);
	after();
	syscall(SYS_exit, 0);
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t t;
	unsigned action;

	if (argc < 4)
		return 2;
	how = argv[1];
	end = argv[3];
	signal(SIGUSR1, struck);
	action = !strcmp(argv[2], "kill") ? SECCOMP_RET_KILL_PROCESS : !strcmp(argv[2], "thread") ? SECCOMP_RET_KILL_THREAD :
	    !strcmp(argv[2], "trap") ? SECCOMP_RET_TRAP : !strcmp(argv[2], "trace") ? SECCOMP_RET_TRACE : !strcmp(argv[2], "zero") ?
	    SECCOMP_RET_ERRNO : SECCOMP_RET_ERRNO | EPERM;
	make(action, argv + 4);
	atexit(say_bye);
	if (!strcmp(end, "join")) { /* only a thread is confined, and ends by itself */
		if (pthread_create(&t, NULL, thread, NULL))
			return 77;
		pthread_join(t, NULL);
		return 3;
	}
	work(1);
	confine(how);
	after();
	finish();
	return 3;
}
