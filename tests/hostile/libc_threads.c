/* SPDX-License-Identifier: MIT */
/* libc_threads WAY N: N callbacks in threads that libc makes. work() runs 1,000 times in each of them, and as often in the main
 * thread. With `forks`, children are made at the same time. */
#define _GNU_SOURCE
#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_int done;

__attribute__((noinline)) void
work(void)
{
	__asm__ volatile("");
}

static void
many(void)
{
	for (int i = 0; i < 1000; i++)
		work();
}

static void
notify(union sigval v)
{
	(void)v;
	many();
	done++;
}

static void
wait_for(int n)
{
	while (done < n)
		usleep(200);
}

static struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify};

static void
by_aio(int n)
{
	static char buf[16];
	int fd = open("/proc/self/stat", O_RDONLY);
	struct aiocb *cb = calloc((size_t)n, sizeof *cb);

	for (int i = 0; i < n; i++) {
		cb[i].aio_fildes = fd;
		cb[i].aio_buf = buf;
		cb[i].aio_nbytes = 1;
		cb[i].aio_sigevent = event;
		if (aio_read(&cb[i]))
			perror("aio_read");
		many();
		if (i % 64 == 63)
			wait_for(i - 32);
	}
}

static void
by_name(int n)
{
	static struct gaicb g = {.ar_name = "127.0.0.1"};
	static struct gaicb *list[] = {&g};

	for (int i = 0; i < n; i++) {
		if (getaddrinfo_a(GAI_NOWAIT, list, 1, &event))
			puts("getaddrinfo_a");
		many();
		wait_for(i + 1);
	}
}

static void
by_timer(int n)
{
	struct itimerspec at = {{0, 0}, {0, 1000}};
	timer_t t;

	if (timer_create(CLOCK_MONOTONIC, &event, &t))
		perror("timer_create");
	for (int i = 0; i < n; i++) {
		timer_settime(t, 0, &at, NULL);
		many();
		wait_for(i + 1);
	}
	timer_delete(t);
}

static void
by_queue(int n)
{
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 1};
	char name[32], c;
	mqd_t q;

	snprintf(name, sizeof name, "/chord-%d", (int)getpid());
	q = mq_open(name, O_RDWR | O_CREAT, 0600, &attr);
	mq_unlink(name);
	for (int i = 0; i < n; i++) {
		mq_notify(q, &event);
		mq_send(q, "", 1, 0);
		many();
		wait_for(i + 1);
		mq_receive(q, &c, 1, NULL);
	}
}

static void *
start(void *arg)
{
	many();
	return arg;
}

/* The address stays libc's, and calls of it are seen. */
static void
by_pointer(int n)
{
	int (*make)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = pthread_create;
	pthread_t t;

	__asm__ volatile("" : "+r"(make));
	for (int i = 0; i < n; i++) {
		make(&t, NULL, start, NULL);
		many();
		pthread_join(t, NULL);
	}
}

static void *
forks(void *arg)
{
	for (int i = 0; i < 20; i++) {
		pid_t p = fork();

		if (p == 0)
			_exit(0);
		waitpid(p, NULL, 0);
	}
	return arg;
}

int
main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t t;

	if (argc > 3)
		pthread_create(&t, NULL, forks, NULL);
	if (!strcmp(argv[1], "aio"))
		by_aio(n);
	if (!strcmp(argv[1], "name"))
		by_name(n);
	if (!strcmp(argv[1], "timer"))
		by_timer(n);
	if (!strcmp(argv[1], "queue"))
		by_queue(n);
	if (!strcmp(argv[1], "pointer"))
		by_pointer(n);
	if (strcmp(argv[1], "pointer"))
		wait_for(n);
	if (argc > 3)
		pthread_join(t, NULL);
	usleep(1500000); /* libc's threads that wait for more to do have ended then */
	puts("ok");
	return 0;
}
