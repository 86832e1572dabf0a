/* SPDX-License-Identifier: MIT */
/* struck: a signal handler leaves a procedure once before each of its instructions, also before the woven ones; then it lets
 * the procedure run to its end. Prints how many activations came to their end, and how many were left. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

enum { TRAP_FLAG = 0x100 };

static sigjmp_buf env;
static volatile long steps, limit;

static void
on_step(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info, (void)context;
	if (++steps == limit)
		siglongjmp(env, 1);
}

static void
set_trap(void)
{
	__asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "cc", "memory");
}

static void
clear_trap(void)
{
	__asm__ volatile("pushfq; andq %0, (%%rsp); popfq" : : "i"(~TRAP_FLAG) : "cc", "memory");
}

#ifdef __clang__
__attribute__((noinline))
#else
__attribute__((noipa))
#endif
static long
walk(volatile long *n)
{
	long sum = 0;

	for (long i = 0; i < 3; i++) {
		if (*n & (1 << i))
			sum += *n + i;
		else
			sum ^= i;
		*n += sum & 4 ? 2 : 1;
	}
	return sum;
}

int
main(void)
{
	struct sigaction on = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_NODEFER};
	volatile long n, ended = 0, left = 0;

	sigaction(SIGTRAP, &on, NULL);
	for (limit = 1; !ended; limit++) {
		steps = 0;
		n = 5;
		if (!sigsetjmp(env, 1)) {
			set_trap();
			walk(&n);
			clear_trap();
			ended++;
		} else {
			left++;
		}
	}
	for (n = 0; ended < 10; ended++)
		walk(&n);
	printf("%ld %ld\n", ended, left);
	return 0;
}
