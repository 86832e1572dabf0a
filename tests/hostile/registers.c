/* SPDX-License-Identifier: MIT */
/* registers HOW: loops in which registers count, and what ends them. `walk` always ends by itself; `spin` does so only if nothing
 * else happens. HOW says what happens to spin: kill, jump (a handler's longjmp), exit (by the handler), thread (another one exits),
 * fork (in the handler; the child goes on, too), wait (for whatever somebody else does), or nothing. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char text[10001];
static unsigned char cell;
static jmp_buf out;
static const char *how;

__attribute__((noinline, noclone)) static size_t
walk(const char *s)
{
	const char *q = s;

	while (*q)
		q++;
	return (size_t)(q - s);
}

__attribute__((noinline, noclone)) static unsigned
spin(volatile unsigned char *p)
{
	unsigned n = 0;

	while (!*p)
		n++;
	return n;
}

static void
handle(int sig)
{
	(void)sig;
	if (!strcmp(how, "jump"))
		longjmp(out, 1);
	if (!strcmp(how, "exit"))
		exit(3);
	if (!strcmp(how, "fork") && fork())
		wait(NULL);
	cell = 1;
}

static void *
leave(void *arg)
{
	(void)arg;
	usleep(30000);
	exit(4);
}

int
main(int argc, char **argv)
{
	pthread_t thread;
	size_t n = 0;

	how = argc > 1 ? argv[1] : "";
	memset(text, 'x', sizeof text - 1);
	for (int i = 0; i < 100; i++)
		n += walk(text + i);
	if (!strcmp(how, "thread"))
		pthread_create(&thread, NULL, leave, NULL);
	else if (!strcmp(how, "kill"))
		signal(SIGALRM, SIG_DFL);
	else
		signal(SIGALRM, handle);
	if (strcmp(how, "thread") != 0 && strcmp(how, "wait") != 0)
		ualarm(30000, 0);
	if (!strcmp(how, "wait")) {
		puts("ready");
		fflush(stdout);
	}
	if (!setjmp(out))
		spin(&cell);
	printf("%zu\n", n);
	return 0;
}
