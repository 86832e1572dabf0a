/* SPDX-License-Identifier: MIT */
/* To be preloaded into chord: of the stops by watched memory, each whose number is a multiple of EVERY is as in a virtual machine
 * whose processor says nothing of it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>

static long (*real)(enum __ptrace_request, ...);

/* Makes the processor's status say nothing, and the signal what the kernel then takes it for. */
static void
forget(pid_t tid, siginfo_t *info)
{
	enum { SLOTS = 15 };
	const long status = offsetof(struct user, u_debugreg[6]);
	static long n;

	if (!(real(PTRACE_PEEKUSER, tid, status, 0) & SLOTS) || ++n % atol(getenv("EVERY")))
		return;
	real(PTRACE_POKEUSER, tid, status, 0);
	info->si_code = TRAP_BRKPT;
	real(PTRACE_SETSIGINFO, tid, 0, info);
}

long
ptrace(enum __ptrace_request request, ...)
{
	va_list all;
	pid_t tid;
	void *at, *data;
	long got;

	va_start(all, request);
	tid = va_arg(all, pid_t);
	at = va_arg(all, void *);
	data = va_arg(all, void *);
	va_end(all);
	if (!real)
		real = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");
	got = real(request, tid, at, data);
	if (request == PTRACE_GETSIGINFO && !got)
		forget(tid, data);
	return got;
}
