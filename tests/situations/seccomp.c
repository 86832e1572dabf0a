/* SPDX-License-Identifier: MIT */
/* The program forbids new mappings once it runs: what needs a new mapping is refused. */
/* options: -pthread */
/* status: 3 */
/* notes: thread could not be given counters of its own */
/* unknown thread: allowed because it shares its creator's counters */
/* expect: main 1 */
/* expect: deep 4 */
/* expect: leave 1 */
/* expect: over 20 */
/* expect: jump 20 */
/* line: behind 0 */
/* line: back 20 */
/* without: trace because the filter keeps the trace from growing: it stops, and reports say so */
#include "situation.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef FORBIDDEN
#define FORBIDDEN (SECCOMP_RET_ERRNO | EPERM)
#endif

static jmp_buf env;

FUNC static void
forbid(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, FORBIDDEN),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		abort();
}

FUNC static void
jump(void)
{
	longjmp(env, 1);
}

FUNC static void
over(void)
{
	if (setjmp(env) == 0) {
		jump();
		STEP; /* @behind */
	}
	STEP; /* @back */
}

FUNC static void *
thread(void *arg)
{
	work();
	return arg;
}

FUNC static void
leave(void)
{
	exit(3);
}

FUNC static void
deep(int n)
{
	if (n)
		deep(n - 1);
	else
		leave();
	STEP; /* @behind */
}

int
main(void)
{
#ifndef ALONE
	static char stack[65536] __attribute__((aligned(64)));
	pthread_attr_t attr;
	pthread_t t;
#endif

	forbid();
	for (volatile int i = 0; i < 20; i++)
		over();
#ifndef ALONE
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, sizeof stack);
	if (pthread_create(&t, &attr, thread, NULL) || pthread_join(t, NULL))
		abort();
#endif
	deep(3);
	return 0;
}
