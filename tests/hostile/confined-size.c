/* SPDX-License-Identifier: MIT */
/* A program that may write only small files, and then forbids itself to ask for that limit; after that it makes threads. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static void *
routine(void *a)
{
	return a;
}

static int
confine(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrlimit, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int
main(void)
{
	struct rlimit limit = {20000, 20000};
	pthread_t thread[4];

	if (setrlimit(RLIMIT_FSIZE, &limit) || confine())
		return 77;
	for (int i = 0; i < 40; i++) {
		for (int k = 0; k < 4; k++)
			if (pthread_create(&thread[k], NULL, routine, NULL))
				return 1;
		for (int k = 0; k < 4; k++)
			pthread_join(thread[k], NULL);
	}
	puts("done");
	return 0;
}
