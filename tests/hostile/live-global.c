/* SPDX-License-Identifier: MIT */
/* A global variable in r11, which the compiler was told to leave alone. A handler reads it after each instruction of two loops. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

#define TRAP "pushfq\n\txorq $0x100, (%%rsp)\n\tpopfq"

register long global __asm__("r11");
static volatile unsigned long steps, others;

static void
handler(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	steps++;
	others += ((ucontext_t *)context)->uc_mcontext.gregs[REG_R11] != 12345;
}

/* The same as gcc 14 compiles it: with -fchord=paths no register is left. */
long count_14(const unsigned char *p, const unsigned char *end, unsigned char c);

__attribute__((noipa)) static long
count(const unsigned char *p, const unsigned char *end, unsigned char c)
{
	long n = 0;

	for (; p < end; p++)
		n += *p == c;
	return n;
}

int
main(void)
{
	static unsigned char text[100] = "a global variable";
	struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	long n;

	sigaction(SIGTRAP, &a, NULL);
	/* The runtime may work at the first path that is kept in memory. */
	n = count(text, text + 1, 'a') - count_14(text, text + 1, 'g');
	global = 12345;
	__asm__ volatile("subq $128, %%rsp\n\t" TRAP "\n\taddq $128, %%rsp" : : : "memory", "cc");
	n += count(text, text + sizeof text, 'a') - count_14(text, text + sizeof text, 'g');
	__asm__ volatile("subq $128, %%rsp\n\t" TRAP "\n\taddq $128, %%rsp" : : : "memory", "cc");
	printf("%ld %d %lu\n", n, steps > 200, others);
	return 0;
}
