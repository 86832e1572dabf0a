/* SPDX-License-Identifier: MIT */
/* Traced threads: registers, system calls, the time stamp counter, frames of signals. */
#include "machine/x86_64/x86_64.h"

#ifdef __x86_64__

#include <cpuid.h>
#include <elf.h>
#include <linux/audit.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

/* The words of struct user_regs_struct, in order. */
enum {
	R15, R14, R13, R12, RBP, RBX, R11, R10, R9, R8, RAX, RCX, RDX, RSI, RDI, ORIG_RAX, RIP, CS, EFLAGS, RSP, SS,
	FS_BASE, GS_BASE, DS, ES, FS, GS, NREG
};

_Static_assert((int)NREG == (int)TRACED_WORDS && sizeof(struct user_regs_struct) == sizeof(struct traced_regs), "all of them");

static const char *const names[NREG] = {
	"r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi", "rdi", "orig_rax", "rip",
	"cs", "eflags", "rsp", "ss", "fs_base", "gs_base", "ds", "es", "fs", "gs",
};

static const uint8_t call_code[] = {0x0f, 0x05}, break_code[] = {0xcc};

static bool
get(pid_t tid, struct traced_regs *r)
{
	return !ptrace(PTRACE_GETREGS, tid, 0, r);
}

static bool
set(pid_t tid, const struct traced_regs *r)
{
	return !ptrace(PTRACE_SETREGS, tid, 0, r);
}

static size_t
get_state(pid_t tid, void *to)
{
	struct iovec v = {to, TRACED_STATE_MOST};

	return ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &v) ? 0 : v.iov_len;
}

static bool
set_state(pid_t tid, const void *from, size_t n)
{
	struct iovec v = {(void *)(uintptr_t)from, n};

	return !ptrace(PTRACE_SETREGSET, tid, NT_X86_XSTATE, &v);
}

/* The registers without what a tracer changes. Of the flags only carry, parity, adjust, zero, sign, direction and overflow are
 * left. The instruction syscall leaves the flags in r11, and the next address in rcx. */
static struct traced_regs
bare(const struct traced_regs *r)
{
	enum { SEEN = 0xcd5 };
	struct traced_regs b = *r;

	b.word[EFLAGS] &= SEEN;
	if ((int64_t)b.word[ORIG_RAX] >= 0)
		b.word[R11] &= SEEN;
	return b;
}

static struct traced_regs
any_cell(const struct traced_regs *r, int8_t cell)
{
	enum { CELLS = 0xff };
	struct traced_regs b = *r;

	b.word[EFLAGS] = 0;
	b.word[cell] &= ~(uint64_t)CELLS;
	return b;
}

static void
make(struct traced_regs *r, uint64_t number, const uint64_t arg[6])
{
	r->word[RIP] -= sizeof call_code;
	r->word[RAX] = number;
	r->word[RDI] = arg[0];
	r->word[RSI] = arg[1];
	r->word[RDX] = arg[2];
	r->word[R10] = arg[3];
	r->word[R8] = arg[4];
	r->word[R9] = arg[5];
	r->word[ORIG_RAX] = (uint64_t)-1;
}

/* Is it a repeated instruction on strings or ports? */
static bool
repeats(const uint8_t *bytes, size_t n)
{
	bool rep = false;
	uint8_t op;

	for (; n && (*bytes == 0xf2 || *bytes == 0xf3 || *bytes == 0x66 || *bytes == 0x67 || (*bytes & 0xf0) == 0x40); bytes++, n--)
		rep |= *bytes == 0xf2 || *bytes == 0xf3;
	op = n ? *bytes : 0;
	return rep && ((op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf) || (op >= 0x6c && op <= 0x6f));
}

/* In a step pushf stores the trap flag, too: clears it. */
static void
stepped(const uint8_t *bytes, uint64_t *top)
{
	enum { PUSHF = 0x9c, TRAP = 0x100 };

	if (bytes[0] == PUSHF || (bytes[0] == 0x66 && bytes[1] == PUSHF))
		*top &= ~(uint64_t)TRAP;
}

/* After a system call r11 has the flags. */
static bool
stepped_call(struct traced_regs *r)
{
	enum { TRAP = 0x100 };
	uint64_t was = r->word[R11];

	r->word[R11] &= ~(uint64_t)TRAP;
	return r->word[R11] != was;
}

static bool
hide_time(void)
{
	return !prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
}

/* The stack pointer is at the return address. struct ucontext comes after it, and its state of vectors lies above everything
 * else. */
static bool
frame(const struct traced_regs *r, traced_read_fn *read, const void *of, uint64_t *at, uint64_t *size)
{
	enum { FPREGS = 8 + 40 + 23 * 8, LEGACY = 512, SOFTWARE = 464, MAGIC = 0x46505853 };
	uint64_t state;
	uint32_t more[2];

	*at = r->word[RSP];
	if (!read(of, *at + FPREGS, &state, sizeof state))
		return false;
	if (!state) {
		*size = FPREGS + 256;
		return true;
	}
	if (state <= *at || !read(of, state + SOFTWARE, more, sizeof more))
		return false;
	*size = state - *at + (more[0] == MAGIC ? more[1] : LEGACY);
	return *size < 1 << 20;
}

/* The kind and the features of the processor. What differs from one core to the next is left out. */
static size_t
processor(uint32_t *to, size_t most)
{
	static const uint32_t leaf[][2] = {{0, 0}, {1, 0}, {7, 0}, {7, 1}, {0xd, 1}, {0x80000001, 0}};
	size_t n = 0;

	for (size_t i = 0; i < sizeof leaf / sizeof *leaf && n + 4 <= most; i++, n += 4) {
		memset(to + n, 0, 4 * sizeof *to);
		__get_cpuid_count(leaf[i][0], leaf[i][1], &to[n], &to[n + 1], &to[n + 2], &to[n + 3]);
		if (leaf[i][0] == 1)
			to[n + 1] = 0;
		if (leaf[i][0] == 0xd)
			to[n + 1] = 0;
	}
	return n * sizeof *to;
}

const struct machine_traced x86_traced = {
	.syscallbuf = &x86_syscallbuf,
	.name = names, .pc = RIP, .sp = RSP, .number = ORIG_RAX, .result = RAX, .arg = {RDI, RSI, RDX, R10, R8, R9},
	.flags = EFLAGS, .base = {FS_BASE, GS_BASE}, .counters = GS_BASE, .tls = FS_BASE, .break_size = sizeof break_code,
	.break_stop = 1, .breakpoint = break_code, .stepped = stepped,
	.stepped_call = stepped_call, .repeats = repeats, .round = RCX, .writes = x86_writes, .accesses = x86_touches,
	.detour = x86_detour, .reach = INT32_MAX,
	.kind = AUDIT_ARCH_X86_64, .mode = CS, .own_mode = 0x33,
	.call_size = sizeof call_code, .call = call_code, .get = get, .set = set, .get_state = get_state, .set_state = set_state,
	.bare = bare, .any_cell = any_cell, .make = make, .hide_time = hide_time, .show_time = SYS_prctl,
	.show_time_arg = {PR_SET_TSC, PR_TSC_ENABLE},
	.nondet = x86_nondet, .nondet_make = x86_nondet_make, .nondet_give = x86_nondet_give, .nondet_trap = x86_nondet_trap,
	.nondet_trap_size = sizeof x86_nondet_trap, .nondet_find = x86_nondet_find, .frame = frame, .processor = processor,
	.debugger_name = "i386:x86-64", .described = x86_described, .ndescribed = X86_DESCRIBED, .describe = x86_describe,
	.watches = x86_watches, .watch = x86_watch, .stop_at = x86_stop_at, .watched = x86_watched,
};

#else

const struct machine_traced x86_traced = {0};

#endif
