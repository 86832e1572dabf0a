/* SPDX-License-Identifier: MIT */
/* Threads that forbid themselves system calls (seccomp). A filter may kill for a call that the program never makes, raise a signal
 * for it, or ask another process. So the runtime keeps a copy of each filter that it sees the program install, and runs the copy
 * before each of its own system calls. It does not make a call if the filter would do anything except let it pass. Threads and
 * forked children have the filters of their maker. */

#include <linux/filter.h>
#include <linux/seccomp.h>

/* The memory that could be read when a filter came that forbids asking the kernel about it. */
struct chord_rt_seen_memory {
	uint64_t n;
	struct { uint64_t start, end; } range[4095];
};

/* ---- one filter ---- */

struct chord_rt_bpf { uint32_t a, x, mem[BPF_MEMWORDS]; };

/* v: the operand. False: it is a division by 0, for which the kernel kills. */
static bool
chord_rt_bpf_add_up(struct chord_rt_bpf *m, uint32_t operation, uint32_t v)
{
	switch (operation) {
	case BPF_ADD: m->a += v; break;
	case BPF_SUB: m->a -= v; break;
	case BPF_MUL: m->a *= v; break;
	case BPF_AND: m->a &= v; break;
	case BPF_OR: m->a |= v; break;
	case BPF_XOR: m->a ^= v; break;
	case BPF_LSH: m->a <<= v & 31; break;
	case BPF_RSH: m->a >>= v & 31; break;
	case BPF_NEG: m->a = -m->a; break;
	default:
		if (operation != BPF_DIV || v == 0)
			return false;
		m->a /= v;
	}
	return true;
}

static uint32_t
chord_rt_bpf_loaded(const struct chord_rt_bpf *m, const struct sock_filter *i, const struct seccomp_data *d)
{
	switch (BPF_MODE(i->code)) {
	case BPF_IMM: return i->k;
	case BPF_MEM: return m->mem[i->k % BPF_MEMWORDS];
	case BPF_LEN: return sizeof *d;
	default: return *(const uint32_t *)((const char *)d + i->k % sizeof *d / 4 * 4);
	}
}

/* The distance of a jump from the next instruction. */
static uint32_t
chord_rt_bpf_jump(const struct chord_rt_bpf *m, const struct sock_filter *i, uint32_t v)
{
	bool yes = false;

	switch (BPF_OP(i->code)) {
	case BPF_JA: return i->k;
	case BPF_JEQ: yes = m->a == v; break;
	case BPF_JGT: yes = m->a > v; break;
	case BPF_JGE: yes = m->a >= v; break;
	case BPF_JSET: yes = (m->a & v) != 0; break;
	}
	return yes ? i->jt : i->jf;
}

/* The filter's answer for that call. The kernel has checked the code. */
static uint32_t
chord_rt_ask_filter(const struct chord_rt_filter *f, const struct seccomp_data *d)
{
	struct chord_rt_bpf m;
	uint32_t v;

	chord_rt_clear(&m, sizeof m);
	for (uint64_t pc = 0; pc < f->n; pc++) {
		const struct sock_filter *i = &f->code[pc];

		v = BPF_SRC(i->code) == BPF_X ? m.x : i->k;
		switch (BPF_CLASS(i->code)) {
		case BPF_LD: m.a = chord_rt_bpf_loaded(&m, i, d); break;
		case BPF_LDX: m.x = chord_rt_bpf_loaded(&m, i, d); break;
		case BPF_ST: m.mem[i->k % BPF_MEMWORDS] = m.a; break;
		case BPF_STX: m.mem[i->k % BPF_MEMWORDS] = m.x; break;
		case BPF_ALU:
			if (!chord_rt_bpf_add_up(&m, BPF_OP(i->code), v))
				return SECCOMP_RET_KILL_THREAD;
			break;
		case BPF_JMP: pc += chord_rt_bpf_jump(&m, i, v); break;
		case BPF_RET: return BPF_RVAL(i->code) == BPF_A ? m.a : i->k;
		default: /* BPF_MISC */
			if (BPF_MISCOP(i->code) == BPF_TAX)
				m.x = m.a;
			else
				m.a = m.x;
		}
	}
	return SECCOMP_RET_KILL_THREAD;
}

/* ---- the filters of a thread ---- */

static bool
chord_rt_lets(const struct chord_rt_filter *f, const struct seccomp_data *d)
{
	uint32_t action;

	for (; f; f = f->before) {
		if (f->n == 0)
			return d->nr == SYS_read || d->nr == SYS_write;
		action = chord_rt_ask_filter(f, d) & SECCOMP_RET_ACTION_FULL;
		if (action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG)
			return false;
	}
	return true;
}

/* The filters of the calling thread. If nothing tells threads apart, the newest filter of any thread. */
static const struct chord_rt_filter *
chord_rt_filter_mine(struct chord_rt_ctl *ctl)
{
	const struct chord_rt_region *r = chord_rt_base_at_hand(ctl) && !ctl->nogs ? chord_rt_region_mine(ctl) : NULL;

	return r ? r->filter : ctl->filter;
}

extern const char chord_rt_gate_behind[] __attribute__((visibility("hidden")));

static bool
chord_rt_may_call(const struct chord_rt_filter *f, const struct chord_rt_regs *regs)
{
	static const uint8_t reg[] = {CHORD_RT_ARG0, CHORD_RT_ARG1, CHORD_RT_ARG2, CHORD_RT_TRAP_ARG3, CHORD_RT_ARG4,
	    CHORD_RT_ARG5};
	struct seccomp_data d;

	d.nr = (int)regs->r[CHORD_RT_RESULT];
	d.arch = CHORD_RT_AUDIT;
	d.instruction_pointer = (uint64_t)chord_rt_gate_behind;
	for (uint32_t i = 0; i < sizeof reg; i++)
		d.args[i] = regs->r[reg[i]];
	return chord_rt_lets(f, &d);
}

/* ---- what replaces calls that are forbidden ---- */

/* The number of this process, which is a forked child. */
static uint64_t
chord_rt_number_of_child(void)
{
	char s[24];
	long n = chord_rt_call(SYS_readlink, "/proc/self", s, sizeof s);
	uint64_t pid = 0;

	for (long i = 0; i < n; i++)
		pid = pid * 10 + (uint64_t)(s[i] - '0');
	return pid ? pid : CHORD_RT_NO_PID;
}

/* The number of this process. While a child of vfork has this memory, its maker does not run. */
static uint64_t
chord_rt_pid_instead(struct chord_rt_ctl *ctl, const struct chord_rt_region *r)
{
	if (chord_rt_is_fork(ctl))
		return chord_rt_number_of_child();
	return r && r->nvfork ? CHORD_RT_NO_PID : ctl->pid;
}

/* A number for this thread that no other thread has. */
static uint64_t
chord_rt_tid_instead(struct chord_rt_ctl *ctl, const struct chord_rt_region *r)
{
	if (chord_rt_is_fork(ctl))
		return chord_rt_number_of_child();
	if (r && r->tid > 0)
		return (uint32_t)r->tid;
	return CHORD_RT_NO_PID + 1 + (r ? r->index : 0);
}

/* Could the byte at p be read? The first thread's stack may have grown since then. */
static bool
chord_rt_was_readable(struct chord_rt_ctl *ctl, const struct chord_rt_region *r, uint64_t p)
{
	const struct chord_rt_seen_memory *seen = (const struct chord_rt_seen_memory *)ctl->memory;
	uint64_t sp = r && r->program_sp ? r->program_sp : (uint64_t)__builtin_frame_address(0), start;

	for (uint64_t i = 0; seen && i < seen->n; i++) {
		if (seen->range[i].end <= p)
			continue;
		start = seen->range[i].start;
		if (start <= ctl->stack && ctl->stack < seen->range[i].end && sp < start &&
		    (i == 0 || seen->range[i - 1].end <= sp))
			start = sp & -(uint64_t)CHORD_RT_PAGE;
		return p >= start;
	}
	return false;
}

static uint64_t
chord_rt_instead(struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	const struct chord_rt_region *r = chord_rt_base_at_hand(ctl) && !ctl->nogs ? chord_rt_region_mine(ctl) : NULL;

	switch (regs->r[CHORD_RT_RESULT]) {
	case SYS_getpid: return chord_rt_pid_instead(ctl, r);
	case SYS_gettid: return chord_rt_tid_instead(ctl, r);
	case SYS_rt_sigprocmask: /* chord_rt_readable() */
		if ((uint32_t)regs->r[CHORD_RT_ARG0] == ~0u && !chord_rt_was_readable(ctl, r, regs->r[CHORD_RT_ARG1]))
			return (uint64_t)-EFAULT;
	}
	return (uint64_t)-EPERM;
}

/* The runtime is about to make a system call in a process in which some thread has confined itself. 0: the call must not be made,
 * and the result is in regs. */
static __attribute__((used)) uint64_t
chord_rt_permits(struct chord_rt_regs *regs)
{
	struct chord_rt_ctl *ctl = (struct chord_rt_ctl *)chord_rt_desc.ctl;
	const struct chord_rt_filter *f = chord_rt_filter_mine(ctl);

	if (!f || chord_rt_may_call(f, regs))
		return 1;
	regs->r[CHORD_RT_RESULT] = chord_rt_instead(ctl, regs);
	return 0;
}

/* ---- a new filter ---- */

static void
chord_rt_note_readable(struct chord_rt_ctl *ctl, uint64_t start, uint64_t end, uint32_t rights)
{
	struct chord_rt_seen_memory *seen = (struct chord_rt_seen_memory *)ctl->memory;

	if (rights >> 24 != 'r')
		return;
	if (seen->n && seen->range[seen->n - 1].end == start) {
		seen->range[seen->n - 1].end = end;
	} else if (seen->n < sizeof seen->range / sizeof *seen->range) {
		seen->range[seen->n].start = start;
		seen->range[seen->n++].end = end;
	}
}

/* Notes which memory can be read, while the thread may still ask. */
static void
chord_rt_look_at_memory(struct chord_rt_ctl *ctl)
{
	struct chord_rt_seen_memory *seen = (struct chord_rt_seen_memory *)chord_rt_pages(sizeof *seen);

	if (!seen)
		return;
	ctl->memory = (uint64_t)seen;
	chord_rt_each_mapping(ctl, chord_rt_note_readable);
	if (!seen->n) /* the thread may not ask for that either */
		ctl->memory = 0;
}

/* Copies the program of a filter; program 0: the strict mode's. NULL: the kernel could not read it either, or, if *failed, there is
 * no memory. Under the lock. */
static struct chord_rt_filter *
chord_rt_copy_filter(struct chord_rt_ctl *ctl, uint64_t program, bool *failed)
{
	const struct sock_fprog *p = (const struct sock_fprog *)program;
	struct chord_rt_filter *f;
	uint64_t n = 0, size;

	*failed = false;
	if (p && (!chord_rt_readable(program) || !chord_rt_readable(program + 8) || !p->len || p->len > BPF_MAXINSNS))
		return NULL;
	n = p ? p->len : 0;
	size = n * sizeof *p->filter;
	for (uint64_t at = (uint64_t)(p ? p->filter : NULL), end = at + size; at < end; at += 8)
		if ((at + size == end || at % CHORD_RT_PAGE < 8) && !chord_rt_readable(at))
			return NULL;
	f = (struct chord_rt_filter *)chord_rt_take_room(ctl, sizeof *f + size);
	*failed = !f;
	if (!f)
		return NULL;
	f->n = n;
	f->code = (struct sock_filter *)(f + 1);
	if (p)
		chord_rt_copy(f->code, p->filter, size);
	return f;
}

/* Does the filter forbid that call, with that first argument? */
static bool
chord_rt_forbids(const struct chord_rt_filter *f, long number, uint64_t arg)
{
	struct chord_rt_regs regs;

	chord_rt_clear(&regs, sizeof regs);
	regs.r[CHORD_RT_RESULT] = (uint64_t)number;
	regs.r[CHORD_RT_ARG0] = arg;
	return !chord_rt_may_call(f, &regs);
}

/* From now on f is the newest filter of the calling thread; everybody: of all threads. */
static void
chord_rt_set_filter(struct chord_rt_ctl *ctl, struct chord_rt_filter *f, bool everybody)
{
	struct chord_rt_region *mine = chord_rt_region_mine(ctl);

	for (uint32_t i = 0; everybody && i < ctl->nregion; i++)
		chord_rt_region(ctl, i)->filter = f;
	if (mine)
		mine->filter = f;
	ctl->filter = f;
	__atomic_store_n(&ctl->confined, 1, __ATOMIC_RELEASE);
}
