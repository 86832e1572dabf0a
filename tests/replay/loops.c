/* SPDX-License-Identifier: MIT */
/* loops WHAT ROUNDS: threads, processes and signals for which a program waits in a loop that makes no system call. Prints in
 * which order they came. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3 };

static int rounds;
static _Atomic int turn, other;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static pthread_spinlock_t lock;
static int order[1 << 16], norder;
static volatile sig_atomic_t struck;
static volatile unsigned long seen;

/* In turns, by looking at a word. */
static void *
by_turns(void *mine)
{
	for (int i = 0; i < rounds; i++) {
		while (atomic_load_explicit(&turn, memory_order_acquire) != (long)mine)
			;
		order[norder++] = (int)(long)mine;
		atomic_store_explicit(&turn, ((int)(long)mine + 1) % THREADS, memory_order_release);
	}
	return NULL;
}

static void
note(long mine)
{
	int n = norder;

	/* Others come to the lock meanwhile. */
	usleep(300);
	order[n] = (int)mine;
	norder = n + 1;
}

static void *
by_lock(void *mine)
{
	for (int i = 0; i < rounds; i++) {
		pthread_spin_lock(&lock);
		note((long)mine);
		pthread_spin_unlock(&lock);
	}
	return NULL;
}

/* The loop writes, and what it writes is what is there. */
static void *
by_flag(void *mine)
{
	for (int i = 0; i < rounds; i++) {
		while (atomic_flag_test_and_set(&flag))
			;
		note((long)mine);
		atomic_flag_clear(&flag);
	}
	return NULL;
}

static __attribute__((noinline)) int
is_there(double *much)
{
	return atomic_load(&other) && *much > 0;
}

/* A loop that calls, and has registers of floating point. */
static void *
by_calls(void *mine)
{
	double much = 2;

	if (!mine)
		while (!is_there(&much))
			__builtin_ia32_pause();
	else
		usleep(30000);
	order[norder++] = (int)(long)mine;
	atomic_store(&other, 1);
	return NULL;
}

/* Such a loop never is where it was. */
static void *
by_counting(void *mine)
{
	if (!mine)
		while (!atomic_load(&other))
			seen++;
	for (volatile long i = 0; mine && i < 200000000; i++)
		if (atomic_load(&turn))
			break;
	atomic_store(&other, 1);
	return NULL;
}

static void
handle(int sig)
{
	struck++;
	order[norder++] = sig;
}

static void
by_signals(void)
{
	struct itimerval soon = {.it_value = {0, 2000}};

	signal(SIGALRM, handle);
	for (int i = 0; i < rounds; i++) {
		setitimer(ITIMER_REAL, &soon, NULL);
		while (struck <= i)
			;
	}
}

static void
by_processes(void)
{
	_Atomic int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int mine = fork() != 0;

	for (int i = 0; i < rounds; i++) {
		while (*shared % 2 != mine)
			;
		++*shared;
	}
	if (!mine)
		_exit(0);
	wait(NULL);
	order[norder++] = *shared;
}

int
main(int argc, char **argv)
{
	static const struct { const char *name; void *(*run)(void *); int threads; } kind[] = {
		{"turns", by_turns, THREADS}, {"lock", by_lock, THREADS}, {"flag", by_flag, THREADS}, {"calls", by_calls, 2},
		{"counting", by_counting, 2},
	};
	unsigned long sum = 5381;

	rounds = argc > 2 ? atoi(argv[2]) : 1;
	pthread_spin_init(&lock, 0);
	for (size_t i = 0; argc > 1 && i < sizeof kind / sizeof *kind; i++) {
		pthread_t thread[THREADS];

		if (strcmp(argv[1], kind[i].name))
			continue;
		for (long j = 0; j < kind[i].threads; j++)
			pthread_create(&thread[j], NULL, kind[i].run, (void *)j);
		for (long j = 0; j < kind[i].threads; j++)
			pthread_join(thread[j], NULL);
	}
	if (argc > 1 && !strcmp(argv[1], "signals"))
		by_signals();
	if (argc > 1 && !strcmp(argv[1], "processes"))
		by_processes();
	for (int i = 0; i < norder; i++)
		sum = sum * 33 + (unsigned)order[i];
	printf("%d, %lx\n", norder, sum);
	return 0;
}
