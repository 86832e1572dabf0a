/* SPDX-License-Identifier: MIT */
/* The addresses of functions that the runtime watches: they are libc's own, whichever way a program asks for them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int old_timer_create(clockid_t, struct sigevent *, int *);
__asm__(".symver old_timer_create,timer_create@GLIBC_2.2.5");

static void *const table[] = {kill, _exit, pthread_create, longjmp, abort, execve, dlsym, raise, vfork, syscall};
static const char *const name[] = {"kill", "_exit", "pthread_create", "longjmp", "abort", "execve", "dlsym", "raise", "vfork",
	"syscall"};

int
main(void)
{
	void *const here[] = {kill, _exit, pthread_create, longjmp, abort, execve, dlsym, raise, vfork, syscall};
	int id[4] = {-1, -1, -1, -1};
	Dl_info i;

	for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
		int ok = dladdr(table[k], &i);

		printf("%s %s %d %d\n", name[k], ok && i.dli_sname ? i.dli_sname : "-", dlsym(RTLD_DEFAULT, name[k]) == table[k],
		    here[k] == table[k]);
	}
	printf("%d", old_timer_create(CLOCK_MONOTONIC, NULL, id));
	printf(" %d %d\n", id[1], dlvsym(RTLD_DEFAULT, "timer_create", "GLIBC_2.2.5") == dlsym(RTLD_DEFAULT, "timer_create"));
	return 0;
}
