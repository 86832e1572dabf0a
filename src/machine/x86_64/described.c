/* SPDX-License-Identifier: MIT */
/* Registers as gdb knows them, and the registers by which the processor watches memory. */
#include "machine/x86_64/x86_64.h"

#ifdef __x86_64__

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define INT64(name)  {name, 8, "int64"}
#define INT32(name)  {name, 4, "int32"}
#define VECTOR(name) {name, 16, "vec128"}
#define HIGH(name)   {name, 16, "uint128"}

static const struct described_reg core[] = {
	INT64("rax"), INT64("rbx"), INT64("rcx"), INT64("rdx"), INT64("rsi"), INT64("rdi"), {"rbp", 8, "data_ptr"},
	{"rsp", 8, "data_ptr"}, INT64("r8"), INT64("r9"), INT64("r10"), INT64("r11"), INT64("r12"), INT64("r13"), INT64("r14"),
	INT64("r15"), {"rip", 8, "code_ptr"}, {"eflags", 4, "x86_flags"}, INT32("cs"), INT32("ss"), INT32("ds"), INT32("es"),
	INT32("fs"), INT32("gs"), {"st0", 10, "i387_ext"}, {"st1", 10, "i387_ext"}, {"st2", 10, "i387_ext"},
	{"st3", 10, "i387_ext"}, {"st4", 10, "i387_ext"}, {"st5", 10, "i387_ext"}, {"st6", 10, "i387_ext"},
	{"st7", 10, "i387_ext"}, INT32("fctrl"), INT32("fstat"), INT32("ftag"), INT32("fiseg"), INT32("fioff"), INT32("foseg"),
	INT32("fooff"), INT32("fop"),
};

static const struct described_reg sse[] = {
	VECTOR("xmm0"), VECTOR("xmm1"), VECTOR("xmm2"), VECTOR("xmm3"), VECTOR("xmm4"), VECTOR("xmm5"), VECTOR("xmm6"),
	VECTOR("xmm7"), VECTOR("xmm8"), VECTOR("xmm9"), VECTOR("xmm10"), VECTOR("xmm11"), VECTOR("xmm12"), VECTOR("xmm13"),
	VECTOR("xmm14"), VECTOR("xmm15"), INT32("mxcsr"),
};

static const struct described_reg os[] = {INT64("orig_rax")}, segments[] = {INT64("fs_base"), INT64("gs_base")};

static const struct described_reg avx[] = {
	HIGH("ymm0h"), HIGH("ymm1h"), HIGH("ymm2h"), HIGH("ymm3h"), HIGH("ymm4h"), HIGH("ymm5h"), HIGH("ymm6h"), HIGH("ymm7h"),
	HIGH("ymm8h"), HIGH("ymm9h"), HIGH("ymm10h"), HIGH("ymm11h"), HIGH("ymm12h"), HIGH("ymm13h"), HIGH("ymm14h"),
	HIGH("ymm15h"),
};

#define FLAG(name, bit) "<field name=\"" name "\" start=\"" bit "\" end=\"" bit "\"/>"

static const char flags[] =
	"<flags id=\"x86_flags\" size=\"4\">" FLAG("CF", "0") FLAG("", "1") FLAG("PF", "2") FLAG("AF", "4") FLAG("ZF", "6")
	FLAG("SF", "7") FLAG("TF", "8") FLAG("IF", "9") FLAG("DF", "10") FLAG("OF", "11") "</flags>";

static const char vectors[] =
	"<vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/><vector id=\"v2d\" type=\"ieee_double\" count=\"2\"/>"
	"<vector id=\"v16i8\" type=\"int8\" count=\"16\"/><vector id=\"v8i16\" type=\"int16\" count=\"8\"/>"
	"<vector id=\"v4i32\" type=\"int32\" count=\"4\"/><vector id=\"v2i64\" type=\"int64\" count=\"2\"/>"
	"<union id=\"vec128\"><field name=\"v4_float\" type=\"v4f\"/><field name=\"v2_double\" type=\"v2d\"/>"
	"<field name=\"v16_int8\" type=\"v16i8\"/><field name=\"v8_int16\" type=\"v8i16\"/>"
	"<field name=\"v4_int32\" type=\"v4i32\"/>"
	"<field name=\"v2_int64\" type=\"v2i64\"/><field name=\"uint128\" type=\"uint128\"/></union>";

#define ALL(of) of, sizeof of / sizeof *of

const struct described x86_described[X86_DESCRIBED] = {
	{"org.gnu.gdb.i386.core", flags, ALL(core)}, {"org.gnu.gdb.i386.sse", vectors, ALL(sse)},
	{"org.gnu.gdb.i386.linux", "", ALL(os)}, {"org.gnu.gdb.i386.segments", "", ALL(segments)},
	{"org.gnu.gdb.i386.avx", "", ALL(avx)},
};

static uint8_t *
put(uint8_t *to, const void *from, size_t n)
{
	memcpy(to, from, n);
	return to + n;
}

static uint8_t *
put_number(uint8_t *to, uint64_t v, size_t n)
{
	return put(to, &v, n);
}

/* The full tags of the x87 registers; FXSAVE keeps only whether they are empty. */
static uint32_t
full_tags(const struct user_fpregs_struct *f)
{
	unsigned top = f->swd >> 11 & 7, tags = 0;

	for (unsigned i = 0; i < 8; i++) {
		const uint8_t *st = (const uint8_t *)f->st_space + 16 * ((i - top) & 7);
		unsigned exponent = (unsigned)(st[9] & 0x7f) << 8 | st[8];
		uint64_t significand;
		unsigned tag;

		memcpy(&significand, st, sizeof significand);
		if (!(f->ftw >> i & 1))
			tag = 3;
		else if (!exponent)
			tag = significand ? 2 : 1;
		else
			tag = exponent == 0x7fff || !(significand >> 63) ? 2 : 0;
		tags |= tag << 2 * i;
	}
	return tags;
}

static uint8_t *
put_x87(uint8_t *to, const struct user_fpregs_struct *f)
{
	for (int i = 0; i < 8; i++)
		to = put(to, (const char *)f->st_space + 16 * i, 10);
	to = put_number(to, f->cwd, 4);
	to = put_number(to, f->swd, 4);
	to = put_number(to, full_tags(f), 4);
	to = put_number(to, f->rip >> 32 & 0xffff, 4);
	to = put_number(to, f->rip, 4);
	to = put_number(to, f->rdp >> 32 & 0xffff, 4);
	to = put_number(to, f->rdp, 4);
	return put_number(to, f->fop, 4);
}

void
x86_describe(const struct traced_regs *r, const void *state, size_t n, uint8_t *to)
{
	enum { HIGH_HALVES = 576, ALL_HALVES = 256 };
	struct user_regs_struct u;
	struct user_fpregs_struct f = {0};
	uint8_t high[ALL_HALVES] = {0};

	memcpy(&u, r, sizeof u);
	memcpy(&f, state, n < sizeof f ? n : sizeof f);
	if (n >= HIGH_HALVES + ALL_HALVES)
		memcpy(high, (const uint8_t *)state + HIGH_HALVES, sizeof high);
	to = put(to, (const unsigned long long [17]){u.rax, u.rbx, u.rcx, u.rdx, u.rsi, u.rdi, u.rbp, u.rsp, u.r8, u.r9, u.r10,
	                                             u.r11, u.r12, u.r13, u.r14, u.r15, u.rip}, 17 * 8);
	/* A debugger's steps leave the trap flag set, its breakpoints the resume flag. */
	to = put_number(to, u.eflags & ~0x10100ull, 4);
	for (size_t i = 0; i < 6; i++)
		to = put_number(to, (const unsigned long long [6]){u.cs, u.ss, u.ds, u.es, u.fs, u.gs}[i], 4);
	to = put_x87(to, &f);
	to = put(to, f.xmm_space, 256);
	to = put_number(to, f.mxcsr, 4);
	to = put(to, (const unsigned long long [3]){u.orig_rax, u.fs_base, u.gs_base}, 3 * 8);
	put(to, high, sizeof high);
}

/* ---- watching ---- */

static bool
set_debug(pid_t tid, unsigned i, uint64_t v)
{
	return !ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, u_debugreg) + i * sizeof v, v);
}

static uint64_t
get_debug(pid_t tid, unsigned i)
{
	return (uint64_t)ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user, u_debugreg) + i * sizeof(uint64_t), 0);
}

static bool
set_slot(pid_t tid, unsigned slot, uint64_t at, uint64_t how, bool on)
{
	enum { CONTROL = 7 };
	uint64_t control = get_debug(tid, CONTROL);

	control &= ~(3ull << 2 * slot | 15ull << (16 + 4 * slot));
	if (!set_debug(tid, CONTROL, control))
		return false;
	return !on || (set_debug(tid, slot, at) && set_debug(tid, CONTROL, control | 1ull << 2 * slot | how << (16 + 4 * slot)));
}

bool
x86_watch(pid_t tid, unsigned slot, uint64_t at, uint64_t n, bool reads)
{
	enum { WRITES = 1, ACCESSES = 3 };
	uint64_t size = n == 8 ? 2 : n - 1;

	if (!n)
		return set_slot(tid, slot, 0, 0, false);
	if ((n != 1 && n != 2 && n != 4 && n != 8) || at % n)
		return false;
	return set_slot(tid, slot, at, (reads ? ACCESSES : WRITES) | size << 2, true);
}

bool
x86_stop_at(pid_t tid, unsigned slot, uint64_t at)
{
	return set_slot(tid, slot, at, 0, true);
}

static int
status_of(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Does the processor stop a child that writes a byte which is to be watched? */
static bool
is_seen(void)
{
	static volatile char watched;
	pid_t child = fork();
	int status;
	bool seen;

	if (!child) {
		if (!ptrace(PTRACE_TRACEME, 0, 0, 0) && !raise(SIGSTOP))
			watched = 1;
		_exit(0);
	}
	status = child < 0 ? 0 : status_of(child);
	if (WIFSTOPPED(status) && x86_watch(child, 0, (uintptr_t)&watched, 1, false) && !ptrace(PTRACE_CONT, child, 0, 0))
		status = status_of(child);
	seen = WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
	if (WIFSTOPPED(status)) {
		kill(child, SIGKILL);
		status_of(child);
	}
	return seen;
}

/* Some virtual machines accept these registers and do nothing with them. */
unsigned
x86_watches(void)
{
	enum { WATCHES = 4 };
	static int works = -1;

	if (works < 0)
		works = is_seen();
	return works ? WATCHES : 0;
}

unsigned
x86_watched(pid_t tid)
{
	uint64_t status = get_debug(tid, 6);

	if (status & 15)
		set_debug(tid, 6, 0);
	return status & 15;
}

#endif
