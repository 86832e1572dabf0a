/* SPDX-License-Identifier: MIT */
/* A restartable sequence: counters for each processor, without a lock. Signals abort it often. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/rseq.h>
#include <sys/time.h>

enum { THREADS = 4, EACH = 3000000, CPUS = 1024 };

static struct { long n; char other[120]; } count[CPUS];

static struct rseq *
mine(void)
{
	return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

__attribute__((noinline)) static int
add(void)
{
	struct rseq *r = mine();
	unsigned cpu = r->cpu_id_start;
	long *n = &count[cpu].n;

	__asm__ goto volatile(
		"\t.pushsection __rseq_cs, \"aw\"\n\t.balign 32\n3:\t.long 0, 0\n\t.quad 1f, (2f - 1f), 4f\n\t.popsection\n"
		"1:\tleaq 3b(%%rip), %%rax\n\tmovq %%rax, 8(%[r])\n"
		"\tcmpl %[cpu], 4(%[r])\n\tjnz 4f\n\taddq $1, (%[n])\n2:\n"
		"\t.pushsection __rseq_failure, \"ax\"\n\t.byte 0x0f, 0xb9, 0x3d\n\t.long 0x53053053\n"
		"4:\tjmp %l[aborted]\n\t.popsection\n"
		:: [r] "r"(r), [cpu] "r"(cpu), [n] "r"(n) : "memory", "rax", "cc" : aborted);
	return 1;
aborted:
	return 0;
}

static void
tick(int sig)
{
	(void)sig;
}

static void *
run(void *arg)
{
	for (long i = 0; i < EACH;)
		i += add();
	return arg;
}

int
main(void)
{
	struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	pthread_t t[THREADS];
	long sum = 0;

	if (__rseq_size == 0)
		return 77;
	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, run, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	for (int i = 0; i < CPUS; i++)
		sum += count[i].n;
	printf("%ld\n", sum);
	return 0;
}
