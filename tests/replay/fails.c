/* SPDX-License-Identifier: MIT */
/* fails HOW N LOOP: runs until N signals have come. What it prints depends on where they struck, and on which instructions
 * failed. Each loop has the next of the clock's numbers, and the loop with the first one has an addition that is shorter than a
 * jump, because the carry flag is live there. The instruction after it reads by a pointer, which now and then is NULL if HOW is 0.
 * LOOP: the number of the loop, to base 4. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>

static volatile uint64_t x = 1, seen, count, least;
static uint64_t three = 3, five = 5;

static void
on_alarm(int sig)
{
	seen = seen * 31 + x + (uint64_t)sig;
	count++;
}

/* The pointer becomes another. Signals strike here, too. */
static void
on_failure(int sig, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;

	for (int i = 0; i < 3000; i++)
		x = x * 5 + 1;
	seen = seen * 31 + (uint64_t)reg[REG_RIP] + (uint64_t)info->si_addr + (uint64_t)sig;
	reg[REG_R9] = (greg_t)&three;
}

#define LOOP(name, k) \
	static __attribute__((noinline)) uint64_t \
	name(uint64_t n, uint64_t v) \
	{ \
		register uint64_t *d __asm__("r9") = least ? &five : NULL; \
		__asm__ volatile( \
		    "mov %0, %%rax\n\tclc\n1: mov (%1), %%rdx\n\tadc %%rdx, %%rax\n\tlea " #k "(%%rax,%%rax,4), %%rax\n\t" \
		    "mov %2, %1\n\tand $255, %1\n\tor %3, %1\n\tcmovnz %4, %1\n\tdec %2\n\tjnz 1b\n\tmov %%rax, %0" \
		    : "+r"(v), "+r"(d), "+r"(n) : "r"(least), "r"(&five) : "rax", "rdx", "cc", "memory"); \
		return x = v; \
	}
#define FOUR(X, a) X(a##0, 1) X(a##1, 3) X(a##2, 5) X(a##3, 7)
#define SIXTEEN(X, a) FOUR(X, a##0) FOUR(X, a##1) FOUR(X, a##2) FOUR(X, a##3)
#define ALL(X) SIXTEEN(X, f0) SIXTEEN(X, f1) SIXTEEN(X, f2) SIXTEEN(X, f3)
ALL(LOOP)

typedef uint64_t loop_fn(uint64_t n, uint64_t v);
#define NAME(name, k) name,
static loop_fn *const loops[] = {ALL(NAME)};
enum { LOOPS = sizeof loops / sizeof *loops };

int
main(int argc, char **argv)
{
	uint64_t most = argc > 2 ? strtoull(argv[2], NULL, 10) : 50, v = 1;
	struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	struct sigaction fails = {.sa_sigaction = on_failure, .sa_flags = SA_SIGINFO};
	loop_fn *one = loops[argc > 3 ? strtoul(argv[3], NULL, 4) % LOOPS : 0];

	least = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	sigaction(SIGSEGV, &fails, NULL);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	while (count < most) {
		v = one(20000, v);
		v = loops[v % LOOPS](20000, v);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%llu %llu %llu\n", (unsigned long long)seen, (unsigned long long)x, (unsigned long long)count);
	return 3;
}
