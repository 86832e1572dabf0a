/* SPDX-License-Identifier: MIT */
/* no-mremap clone|pthread: a filter refuses mremap; then the program makes a thread. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

__attribute__((noinline)) void
work(void)
{
	__asm__ volatile("");
}

static int
child(void *unused)
{
	(void)unused;
	return 0;
}

static void *
thread(void *unused)
{
	work();
	return unused;
}

int
main(int argc, char **argv)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, filter};
	char *stack = malloc(1 << 20);
	pthread_t t;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program))
		return 77;
	if (argc > 1 && argv[1][0] == 'c')
		waitpid(clone(child, stack + (1 << 20), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL), NULL, 0);
	else if (pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL))
		return 1;
	for (int i = 0; i < 100; i++)
		work();
	puts("done");
	return 0;
}
