/* SPDX-License-Identifier: MIT */
/* Threads, and a child with threads, that take turns by a lock. In each turn the thread writes its name to the given file, so
 * the order is known. Signals interrupt them; the handlers have stamps, too. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 6, TURNS = 8 };

static struct shared {
	pthread_mutex_t lock;
	int turns;
} *s;
static int out;
static volatile int signals;

/* Which process and thread has the turn is seen by its caller in the trace. */
__attribute__((noinline)) static void
turn(int who)
{
	char line[32];
	int n = snprintf(line, sizeof line, "%d %d %d\n", (int)getpid(), who, s->turns++);

	if (write(out, line, (size_t)n) != n)
		_exit(1);
}

__attribute__((noinline)) static void
unlocks(void)
{
	pthread_mutex_unlock(&s->lock); /* with optimisation a tail call */
}

static void *
takes_turns(void *p)
{
	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&s->lock);
		turn((int)(long)p);
		unlocks();
	}
	return p;
}

__attribute__((noinline)) void
chosen(void)
{
	__asm__ volatile("");
}

static void
handler(int sig)
{
	(void)sig;
	chosen();
	signals++;
}

static void
all(void)
{
	pthread_t t[THREADS];

	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, takes_turns, (void *)i);
	takes_turns((void *)(long)THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

int
main(int argc, char **argv)
{
	struct itimerval often = {{0, 500}, {0, 500}};
	struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART};
	pthread_mutexattr_t attr;

	s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	out = argc > 1 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666) : 1;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->lock, &attr);
	if (argc > 2) {
		sigaction(SIGALRM, &a, NULL);
		setitimer(ITIMER_REAL, &often, NULL);
	}
	pid_t child = fork();
	all();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	return 0;
}
