/* SPDX-License-Identifier: MIT */
/* Stopped threads. The base of segment gs is the base of the thread's counters. */
#include "machine/x86_64/x86_64.h"

#include <string.h>

enum { SP = 7, PC = 16, NREG = 17 };

/* Is it the code to which the C library makes signal handlers return? */
static bool
is_signal_return(const uint8_t *bytes)
{
	static const uint8_t code[2][9] = {
		{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}, /* movq $15, %rax; syscall */
		{0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05},             /* movl $15, %eax; syscall */
	};

	return !memcmp(bytes, code[0], 9) || !memcmp(bytes, code[1], 7);
}

#ifdef __x86_64__

#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

static bool
read_registers(pid_t tid, struct thread_regs *t)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, 0, &r))
		return false;
	memcpy(t->reg, (uint64_t [NREG]){r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12,
	                                 r.r13, r.r14, r.r15, r.rip}, NREG * sizeof *t->reg);
	t->base = r.gs_base;
	t->has_base = true;
	return true;
}

static bool
call_ended(pid_t tid, uint64_t *number)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, 0, &r) || (int64_t)r.rax != -EINTR || (int64_t)r.orig_rax < 0)
		return false;
	*number = r.orig_rax;
	return true;
}

/* Sets only these registers, because ptrace does not restore every base that the segment may have. The instruction syscall has two
 * bytes. */
static void
call_again(pid_t tid, uint64_t number)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, 0, &r))
		return;
	ptrace(PTRACE_POKEUSER, tid, offsetof(struct user_regs_struct, rax), number);
	ptrace(PTRACE_POKEUSER, tid, offsetof(struct user_regs_struct, rip), r.rip - 2);
}

/* recv and similar calls return EINTR if the socket has a time limit. */
static enum call_kind
call_kind(uint64_t number)
{
	switch (number) {
	case SYS_futex: case SYS_nanosleep: case SYS_clock_nanosleep: case SYS_poll: case SYS_ppoll: case SYS_select:
	case SYS_pselect6: case SYS_wait4: case SYS_waitid: case SYS_pause: case SYS_rt_sigsuspend:
		return CALL_RESTARTS;
	case SYS_epoll_wait: case SYS_epoll_pwait: case 441 /* epoll_pwait2 */: case SYS_semop: case SYS_semtimedop:
	case SYS_rt_sigtimedwait: case SYS_io_getevents: case SYS_read: case SYS_readv: case SYS_write: case SYS_writev:
	case SYS_recvfrom: case SYS_recvmsg: case SYS_recvmmsg: case SYS_sendto: case SYS_sendmsg: case SYS_sendmmsg:
	case SYS_accept: case SYS_accept4: case SYS_msgrcv: case SYS_msgsnd:
		return CALL_AGAIN;
	default:
		return CALL_OTHER;
	}
}

static bool
waits_for_child(uint64_t number)
{
	return number == SYS_vfork;
}

const struct machine_thread x86_thread = {
	.nreg = NREG, .ndwarf = NREG, .sp = SP, .pc = PC, .signal_return_size = 9, .is_signal_return = is_signal_return,
	.read = read_registers, .call_ended = call_ended, .call_again = call_again, .call_kind = call_kind,
	.waits_for_child = waits_for_child,
};

#else

const struct machine_thread x86_thread = {
	.nreg = NREG, .ndwarf = NREG, .sp = SP, .pc = PC, .signal_return_size = 9, .is_signal_return = is_signal_return,
};

#endif
