/* SPDX-License-Identifier: MIT */
/* Unmeasured code that makes threads and processes by system calls. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/syscall.h>

long raw_fork(void);
long raw_thread(void *, void (*)(void));

long
raw_fork(void)
{
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "a"(SYS_fork)
			 : "rcx", "r11", "memory");
	return r;
}

long
raw_thread(void *top, void (*start)(void))
{
	long r, flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	register long r10 __asm__("r10") = 0;
	register long r8 __asm__("r8") = 0;

	__asm__ volatile("syscall; test %%eax, %%eax; jnz 1f; xor %%ebp, %%ebp; call *%[f]; 1:" : "=a"(r)
			 : "a"(SYS_clone), "D"(flags), "S"(top), "d"(0), "r"(r10), "r"(r8), [f] "b"(start)
			 : "rcx", "r11", "memory");
	return r;
}
