/* SPDX-License-Identifier: MIT */
/* Calls a function whose faults a table names, and goes on where the table says. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

long f(long);
extern const int __start___ex_table[], __stop___ex_table[];

static void
go_on(int sig, siginfo_t *info, void *context)
{
	greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)sig, (void)info;
	for (const int *e = __start___ex_table; e < __stop___ex_table; e += 2)
		if ((greg_t)e + e[0] == *pc) {
			*pc = (greg_t)(e + 1) + e[1];
			return;
		}
	abort();
}

int
main(void)
{
	struct sigaction act = {.sa_sigaction = go_on, .sa_flags = SA_SIGINFO};

	sigaction(SIGSEGV, &act, NULL);
	for (long i = 0; i < 10; i++)
		printf("%ld\n", f(i));
	return 0;
}
