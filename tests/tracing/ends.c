/* SPDX-License-Identifier: MIT */
/* Threads that return, call pthread_exit, are cancelled, or still run when the process ends; and several ends of the process. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sum;
static volatile sig_atomic_t handled;

__attribute__((noinline)) static void
work(int n)
{
	for (int i = 0; i < n; i++)
		sum += i % 3;
}

static void *
returns(void *p)
{
	work(3);
	return p;
}

static void *
exits(void *p)
{
	work(4);
	pthread_exit(p);
}

static void *
waits(void *p)
{
	work(1);
	pthread_barrier_wait(p);
	for (;;)
		pause();
}

static void
handler(int sig)
{
	handled = sig;
}

__attribute__((noinline)) static void
end(const char *how, pthread_t last)
{
	work(1);
	if (!strcmp(how, "exit"))
		exit(3);
	if (!strcmp(how, "_exit"))
		_exit(3);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "exec"))
		execl("/bin/true", "true", NULL);
	if (!strcmp(how, "no-exec"))
		execl("/dev/null/none", "none", NULL);
	if (!strcmp(how, "handled")) {
		signal(SIGTERM, handler);
		kill(getpid(), SIGTERM);
	}
	if (!strcmp(how, "fault"))
		*(volatile int *)(unsigned long)(sum & 0) = 1;
	if (!strcmp(how, "cancel")) {
		pthread_cancel(last);
		pthread_join(last, NULL);
	}
	work(2);
}

int
main(int argc, char **argv)
{
	pthread_barrier_t there;
	pthread_t t[3];

	pthread_barrier_init(&there, NULL, 2);
	pthread_create(&t[0], NULL, returns, NULL);
	pthread_create(&t[1], NULL, exits, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	pthread_create(&t[2], NULL, waits, &there);
	pthread_barrier_wait(&there);
	end(argc > 1 ? argv[1] : "return", t[2]);
	return 0;
}
