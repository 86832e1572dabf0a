/* SPDX-License-Identifier: MIT */
/* bus MODE: SIGBUS of several kinds. Prints which handlers it sees. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static sigjmp_buf back;

static void
mine(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static void
say(const char *when)
{
	struct sigaction a;

	memset(&a, 1, sizeof a);
	sigaction(SIGBUS, NULL, &a);
	printf("%s: %s, flags %x, mask %d\n", when,
	       a.sa_handler == SIG_DFL ? "default" : a.sa_handler == SIG_IGN ? "ignored" :
	       a.sa_handler == mine ? "mine" : "another",
	       (unsigned)a.sa_flags & ~0x04000000u, sigismember(&a.sa_mask, SIGINT));
	fflush(stdout);
}

/* Behind the end of a file of its own. */
static void
fault(void)
{
	int fd = open("own.data", O_RDWR | O_CREAT | O_TRUNC, 0666);
	volatile char *p;

	if (ftruncate(fd, 4096))
		exit(3);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ftruncate(fd, 0))
		exit(3);
	p[7] = 1;
}

__attribute__((noinline)) static long
work(long n)
{
	volatile long sum = 0;

	for (long i = 0; i < n; i++)
		if (i % 3)
			sum += i;
	return sum;
}

static void *
thread(void *arg)
{
	printf("%ld\n", work((long)arg));
	return NULL;
}

/* Somebody empties all profiles while threads run. */
static void
emptied(void)
{
	pthread_t t[3];

	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, thread, (void *)(10000l));
	work(100);
	if (system("for f in *.chord*; do [ ! -e \"$f\" ] || : >\"$f\"; done"))
		exit(4);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, thread, (void *)(20000l));
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", work(1000));
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	struct sigaction a, old;

	say("start");
	if (!strcmp(mode, "fault")) {
		fault();
	} else if (!strcmp(mode, "raise")) {
		raise(SIGBUS);
	} else if (!strcmp(mode, "kill")) {
		kill(getpid(), SIGBUS);
	} else if (!strcmp(mode, "handler")) {
		memset(&a, 0, sizeof a);
		a.sa_handler = mine;
		sigaction(SIGBUS, &a, &old);
		say("set");
		if (!sigsetjmp(back, 1))
			fault();
		sigaction(SIGBUS, &old, NULL);
		say("restored");
		printf("%d\n", signal(SIGBUS, SIG_IGN) == SIG_DFL);
		say("ignored");
		printf("%d\n", signal(SIGBUS, SIG_DFL) == SIG_IGN);
		say("default");
		emptied();
		printf("%d\n", sigaction(SIGBUS, (void *)0, (void *)0));
		fault();
	} else {
		emptied();
	}
	return 0;
}
