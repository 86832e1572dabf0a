/* SPDX-License-Identifier: MIT */
/* exits NAME: activations that do not return. run.sh has, beside each of them, how often and where they
 * end. */
#define _GNU_SOURCE
#include "count.h"

#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define AFTER() __asm__ volatile("" : : : "memory") /* no tail call */

static void (*volatile last)(void);
static jmp_buf buf;
static sigjmp_buf sigbuf;
static volatile int times;

NOINLINE static void
three(char *big)
{
	CHORD_COUNT(1);
	big[0] = 1;
	last();
	AFTER();
}

NOINLINE static void
two(int n)
{
	char big[n];

	three(big);
	__asm__ volatile("" : : "r"(big) : "memory");
}

NOINLINE static void
one(void)
{
	two(300);
	AFTER();
}

NOINLINE static void call_exit(void) { exit(0); }
static void call__exit(void) { _exit(0); }
static void call_quick_exit(void) { quick_exit(0); }
static void call_abort(void) { abort(); }
static void call_assert(void) { assert(!"so"); }
static void call_raise(void) { raise(SIGTERM); AFTER(); }
static void call_kill(void) { kill(getpid(), SIGKILL); AFTER(); }
static void call_pthread_exit(void) { pthread_exit(NULL); }
static void call_longjmp(void) { longjmp(buf, 1); }
static void call_siglongjmp(void) { siglongjmp(sigbuf, 1); }
static void call_execv(void) { execv("/bin/true", (char *[]){(char *)"true", NULL}); }

static void
call_execl(void)
{
	execl("/bin/sh", "sh", "-c", "test \"$0$1$2$3$4$5\" = abcdef", "a", "b", "c", "d", "e", "f", (char *)NULL);
}

static void
call_execle(void)
{
	execle("/bin/sh", "sh", "-c", "test $X = y", (char *)NULL, (char *[]){(char *)"X=y", NULL});
}

static void call_execlp(void) { execlp("true", "true", (char *)NULL); AFTER(); }
static void fail_exec(void) { if (execl("/nowhere", "x", (char *)NULL) != -1) abort(); }
static void raise_usr1(void) { raise(SIGUSR1); AFTER(); }
static void on_exit_signal(int sig) { (void)sig; one(); AFTER(); }

NOINLINE static void
jumper(void)
{
	volatile int n = 0;

	if (setjmp(buf) == 0 || ++n < 5)
		one();
	times = n;
}

NOINLINE static void
sigjumper(void)
{
	volatile int n = 0;

	if (sigsetjmp(sigbuf, 1) == 0 || ++n < 5)
		one();
	times = n;
}

#pragma GCC diagnostic ignored "-Winfinite-recursion"
NOINLINE static int
recurse(volatile int n)
{
	if (n == 0)
		call_exit();
	n += recurse(n - 1);
	AFTER();
	return n;
}

static void *
thread(void *arg)
{
	one();
	return arg;
}

static void
in_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
}

static void
on_signal(int sig)
{
	(void)sig;
	call_siglongjmp();
	AFTER();
}

static void
alternate(int flags)
{
	static char stack[32768];
	stack_t ss = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = flags};

	sigaltstack(&ss, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	last = raise_usr1;
	sigjumper();
}

/* A handler of SIGABRT that does not let it happen: by a jump, by exit; or returns. */
static void (*volatile instead)(void);

static void
on_abort(int sig)
{
	(void)sig;
	instead();
	AFTER();
}

static void nothing(void) { CHORD_COUNT(1); }

static ucontext_t context;
static void call_setcontext(void) { setcontext(&context); AFTER(); }

NOINLINE static void
contexts(void)
{
	volatile int n = 0;

	getcontext(&context);
	if (n++ < 5)
		one();
}

static ucontext_t home, own;
static void call_swapcontext(void) { swapcontext(&own, &home); AFTER(); }
static void back_home(void) { setcontext(&home); AFTER(); }

static void
fibre(int how)
{
	one();
	if (how == 2)
		back_home();
	AFTER();
}

NOINLINE static void go_on(void) { swapcontext(&home, &own); AFTER(); }

/* One is given up in the middle, one goes on and returns, one goes on and leaves by
 * setcontext; they have one stack after the other. */
NOINLINE static void *
fibres(void *arg)
{
	static char stack[65536];

	last = call_swapcontext;
	for (volatile int i = 0; i < 9; i++) {
		getcontext(&own);
		own.uc_stack.ss_sp = stack;
		own.uc_stack.ss_size = sizeof stack;
		own.uc_link = &home;
		makecontext(&own, (void (*)(void))fibre, 1, i % 3);
		go_on();
		if (i % 3)
			go_on();
	}
	return arg;
}

NOINLINE static void
wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		abort();
}

static void
call_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execl("/nowhere", "x", (char *)NULL);
		_exit(0);
	}
	wait_for(pid);
}

/* The child calls vfork as well, and both processes are killed at the same time. */
NOINLINE static void
call_vforks(void)
{
	for (volatile int i = 0; i < 2; i++) {
		pid_t pid = vfork();

		if (pid == 0) {
			setpgid(0, 0);
			if (vfork() == 0)
				kill(0, SIGKILL);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &(int){0}, 0) != pid)
			abort();
	}
}

NOINLINE static void
call_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		return;
	wait_for(pid);
	call_exit();
}

static pthread_barrier_t ready;

static void
clean(void *arg)
{
	(void)arg;
	CHORD_COUNT(1);
}

static void
sleeper(void)
{
	pthread_barrier_wait(&ready);
	for (;;)
		pause();
}

NOINLINE static void *
cancelled(void *arg)
{
	pthread_cleanup_push(clean, NULL);
	one();
	pthread_cleanup_pop(0);
	return arg;
}

static void
cancel(void)
{
	pthread_t t;

	pthread_barrier_init(&ready, NULL, 2);
	last = sleeper;
	for (int i = 0; i < 3; i++) {
		pthread_create(&t, NULL, cancelled, NULL);
		pthread_barrier_wait(&ready);
		pthread_cancel(t);
		pthread_join(t, NULL);
	}
}

static void
own_handler(int sig)
{
	(void)sig;
	CHORD_COUNT(1);
}

/* Three times, at one place. */
NOINLINE static void
snapshots(void)
{
	last = raise_usr1;
	for (volatile int i = 0; i < 3; i++)
		one();
}

/* A thread that counts is struck wherever it is. */
NOINLINE static void
snapshots_while(void)
{
	for (volatile int i = 0; i < 20000000; i++)
		if (i % 1000000 == 0)
			kill(getpid(), SIGUSR1);
		else
			nothing();
}

static void
abort_handled(void (*f)(void))
{
	signal(SIGABRT, on_abort);
	instead = f;
	last = call_abort;
	sigjumper();
}

int
main(int argc, char **argv)
{
	static const struct { const char *name; void (*f)(void); } lasts[] = {
		{"exit", call_exit}, {"_exit", call__exit}, {"quick_exit", call_quick_exit}, {"execv", call_execv},
		{"execl", call_execl}, {"execle", call_execle}, {"execlp", call_execlp}, {"failexec", fail_exec},
		{"abort", call_abort}, {"assert", call_assert}, {"raise", call_raise}, {"kill", call_kill},
		{"vfork", call_vfork}, {"vforks", call_vforks}, {"fork", call_fork},
	};
	const char *s = argc > 1 ? argv[1] : "";

	for (size_t i = 0; i < sizeof lasts / sizeof *lasts; i++)
		if (strcmp(s, lasts[i].name) == 0) {
			last = lasts[i].f;
			one();
			return 0;
		}
	if (strcmp(s, "longjmp") == 0) {
		last = call_longjmp;
		jumper();
		return times != 5;
	} else if (strcmp(s, "siglongjmp") == 0) {
		last = call_siglongjmp;
		sigjumper();
		return times != 5;
	} else if (strcmp(s, "handler") == 0) {
		alternate(0);
		return times != 5;
	} else if (strcmp(s, "altstack") == 0) {
		alternate(SA_ONSTACK);
		return times != 5;
	} else if (strcmp(s, "thread") == 0) {
		last = call_exit;
		in_thread();
	} else if (strcmp(s, "pthread_exit") == 0) {
		last = call_pthread_exit;
		in_thread();
		return 0;
	} else if (strcmp(s, "abort_jump") == 0) {
		abort_handled(call_siglongjmp);
		return times != 5;
	} else if (strcmp(s, "abort_exit") == 0) {
		abort_handled(call_exit);
	} else if (strcmp(s, "abort_return") == 0) {
		abort_handled(nothing);
	} else if (strcmp(s, "snapshots") == 0) {
		snapshots();
		return 0;
	} else if (strcmp(s, "snapshots_while") == 0) {
		snapshots_while();
		return 0;
	} else if (strcmp(s, "snapshots_own") == 0) {
		signal(SIGUSR1, own_handler);
		snapshots();
		return 0;
	} else if (strcmp(s, "context") == 0) {
		last = call_setcontext;
		contexts();
		return 0;
	} else if (strcmp(s, "fibres") == 0) {
		pthread_t t;

		pthread_create(&t, NULL, fibres, NULL);
		pthread_join(t, NULL);
		fibres(NULL);
		return 0;
	} else if (strcmp(s, "cancel") == 0) {
		cancel();
		return 0;
	} else if (strcmp(s, "recurse") == 0) {
		recurse(argc > 2 ? atoi(argv[2]) : 100000);
	} else if (strcmp(s, "signal") == 0) {
		last = call_exit;
		signal(SIGUSR1, on_exit_signal);
		raise(SIGUSR1);
		AFTER();
	}
	return 3;
}
