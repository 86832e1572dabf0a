/* SPDX-License-Identifier: MIT */
/* A filter of system calls forbids arch_prctl; then the program makes threads. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

__attribute__((noinline)) static long
leaf(long x)
{
	return x & 1 ? x * 3 : x + 1;
}

static void *
call_it(void *x)
{
	long sum = 0;

	for (long i = 0; i < 1000000; i++)
		sum += leaf(i) ^ (long)x;
	return (void *)sum;
}

int
main(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof code / sizeof *code, code};
	pthread_t thread[4];
	long sum;
	void *result;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		return 2;
	for (long i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, call_it, (void *)i))
			return 2;
	sum = (long)call_it((void *)9);
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], &result);
		sum += (long)result;
	}
	printf("%ld\n", sum);
	return 0;
}
