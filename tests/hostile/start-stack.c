/* SPDX-License-Identifier: MIT */
/* stack WHAT: prints on standard error how much of an alternate stack a handler used that does WHAT, three times. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 65536, PAINT = 0x5a };
static jmp_buf env;
static const char *what;

static void *
thread(void *a)
{
	return a;
}

static void
nothing(void)
{
}

static void (*volatile pointer)(void) = nothing;

static __attribute__((noinline)) void
act(void)
{
	pthread_t t;
	pid_t p;

	if (!strcmp(what, "longjmp")) {
		longjmp(env, 1);
	} else if (!strcmp(what, "fork")) {
		p = fork();
		if (!p)
			_exit(0);
		waitpid(p, NULL, 0);
	} else if (!strcmp(what, "exec")) {
		execl("/nonexistent", "x", (char *)NULL);
	} else if (!strcmp(what, "thread")) {
		if (!pthread_create(&t, NULL, thread, NULL))
			pthread_join(t, NULL);
	} else if (!strcmp(what, "pointer")) {
		pointer();
	} else if (!strcmp(what, "kill")) {
		kill(getpid(), 0);
	}
}

static void
handler(int sig)
{
	(void)sig;
	act();
}

int
main(int argc, char **argv)
{
	unsigned char *area = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t st = {.ss_sp = area, .ss_size = SIZE};
	struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_NODEFER};
	sigset_t none;
	size_t i = 0;

	what = argc > 1 ? argv[1] : "";
	memset(area, PAINT, SIZE);
	sigaltstack(&st, NULL);
	sigaction(SIGUSR1, &a, NULL);
	sigemptyset(&none);
	for (volatile int n = 0; n < 3; n++)
		if (!setjmp(env)) {
			sigprocmask(SIG_SETMASK, &none, NULL);
			raise(SIGUSR1);
		}
	while (i < SIZE && area[i] == PAINT)
		i++;
	fprintf(stderr, "%zu\n", SIZE - i);
	return 0;
}
