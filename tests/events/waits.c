/* SPDX-License-Identifier: MIT */
/* Waits in a system call, again and again, for a time that nothing else cuts short. Prints how often a wait ended early, and
 * whether it took as long as it should. Arguments: the call, milliseconds, how often. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static struct timespec limit;
static int epoll, sem, pair[2];
static sigset_t none, usr1;

static int
wait_once(const char *how, int ms)
{
	struct epoll_event e;
	struct sembuf take = {0, -1, 0};
	char c;

	if (!strcmp(how, "epoll"))
		return epoll_wait(epoll, &e, 1, ms);
	if (!strcmp(how, "epoll_p"))
		return epoll_pwait(epoll, &e, 1, ms, &none);
	if (!strcmp(how, "semtimedop"))
		return semtimedop(sem, &take, 1, &limit);
	if (!strcmp(how, "sigtimedwait"))
		return sigtimedwait(&usr1, NULL, &limit);
	if (!strcmp(how, "read"))
		return (int)read(pair[0], &c, 1);
	if (!strcmp(how, "poll"))
		return poll(NULL, 0, ms);
	return nanosleep(&limit, NULL);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int
main(int argc, char **argv)
{
	int ms = argc > 2 ? atoi(argv[2]) : 100, times = argc > 3 ? atoi(argv[3]) : 1, early = 0;
	struct timeval tv = {ms / 1000, ms % 1000 * 1000};
	double start = now();

	limit = (struct timespec){ms / 1000, ms % 1000 * 1000000};
	epoll = epoll_create1(0);
	sem = semget(IPC_PRIVATE, 1, 0600);
	sigemptyset(&none);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	if (argc < 2 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv))
		return 1;
	for (int i = 0; i < times; i++)
		early += wait_once(argv[1], ms) < 0 && errno == EINTR;
	semctl(sem, 0, IPC_RMID);
	printf("%d early, %d\n", early, now() - start >= 0.99 * ms * times / 1000.0);
	return 0;
}
