/* SPDX-License-Identifier: MIT */
/* Code that counts. A counter is addressed as %gs:LABEL+offset(%rip): the thread's segment base is added to a PC-relative address,
 * so it needs no register, no GOT and no TLS. If a register has the address of LABEL, the counter is addressed as %gs:offset(%r):
 * there processors forward a store to the next load at no cost. With a PC-relative address they do not (Intel), or not always
 * (AMD). */
#include "machine/x86_64/x86_64.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* inc leaves CF alone. */
enum { INC_CHANGES = X86_ALL_FLAGS & ~X86_CF };

static const char *const reg_name[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};

static const char *const low_name[16] = {"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil",
	"r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b"};

static void
counter(struct buf *out, const char *label, uint64_t offset, uint8_t base)
{
	if (base) {
		buf_printf(out, "%%gs:%" PRIu64 "(%%%s)\n", offset, reg_name[base - 1]);
		return;
	}
	buf_str(out, "%gs:");
	buf_str(out, label);
	buf_char(out, '+');
	buf_number(out, offset);
	buf_str(out, "(%rip)\n");
}

/* What is added to a counter, and whether that is the counter of a timer. */
struct addition {
	const char *label;
	uint64_t offset;
	int32_t n;
	uint8_t base;
	const struct timed_at *timed; /* NULL: it is not */
	struct buf *stub;
	bool keeps_carry;        /* the carry flag is live */
	uint8_t reg;             /* this register, plus 1, is added in place of n; 0: n is */
	const struct frame_rule *frame;
};

/* Of an addition by a register Intel's processors make two micro-operations, of inc three. Of a PC-relative addition of a number
 * they make no less than of inc. */
static void
add_to(struct buf *out, const struct addition *a, uint64_t offset, int32_t n)
{
	if (n == 1 && (!a->base || a->keeps_carry))
		buf_str(out, "\tincq\t");
	else if (n == -1 && (!a->base || a->keeps_carry))
		buf_str(out, "\tdecq\t");
	else
		buf_printf(out, "\taddq\t$%" PRId32 ", ", n);
	counter(out, a->label, offset, a->base);
}

/* Moves the stack pointer by an instruction, of which the frame's directives are told. */
static void
move_stack(struct buf *out, const struct frame_rule *frame, const char *insn, int was, int is)
{
	buf_printf(out, "\t%s\n", insn);
	x86_stack_moved(out, frame, was, is);
}

/* Asks whether a timer is due. The flags are dead, or saved in rax. `deeper`: how many bytes lower the stack pointer is than in the
 * program's code. In a stub the directives say no more than that code's. */
static void
ask(struct buf *out, const struct addition *a, int deeper)
{
	const struct timed_at *t = a->timed;
	int stated = t->in_line ? deeper : 0;

	x86_stack_moved(out, a->frame, stated, deeper);
	if (t->lag)
		add_to(out, a, a->offset + 8, t->lag);
	move_stack(out, a->frame, "leaq\t-128(%rsp), %rsp", deeper, deeper + RED_ZONE);
	buf_printf(out, "\tcall\t%s\n", t->due);
	move_stack(out, a->frame, "leaq\t128(%rsp), %rsp", deeper + RED_ZONE, deeper);
	if (t->lag)
		add_to(out, a, a->offset + 8, -t->lag);
	if (!t->in_line)
		x86_jump(out, t->on);
	x86_stack_moved(out, a->frame, deeper, stated);
}

static void
add_now(struct buf *out, const struct addition *a, int deeper)
{
	if (a->reg) {
		buf_printf(out, "\taddq\t%%%s, ", reg_name[a->reg - 1]);
		counter(out, a->label, a->offset, a->base);
		return;
	}
	add_to(out, a, a->offset, a->n);
	if (!a->timed)
		return;
	buf_printf(out, "\t%s\t%s\n", a->timed->in_line ? "js" : "jns", a->timed->in_line ? a->timed->on : a->timed->ask);
	ask(a->timed->in_line ? out : a->stub, a, deeper);
	buf_printf(out, "%s:\n", a->timed->on);
}

/* The flags wait in rax: SF, ZF, AF, PF and CF in ah, OF in al. */
static void
add_keeping_flags(struct buf *out, const struct addition *a, int deeper)
{
	buf_str(out, "\tlahf\n\tseto\t%al\n");
	add_now(out, a, deeper);
	buf_str(out, "\taddb\t$127, %al\n\tsahf\n");
}

/* The flags wait below the red zone. */
static void
add_pushing_flags(struct buf *out, const struct addition *a)
{
	move_stack(out, a->frame, "leaq\t-128(%rsp), %rsp", 0, RED_ZONE);
	move_stack(out, a->frame, "pushfq", RED_ZONE, RED_ZONE + 8);
	add_now(out, a, RED_ZONE + 8);
	move_stack(out, a->frame, "popfq", RED_ZONE + 8, RED_ZONE);
	move_stack(out, a->frame, "leaq\t128(%rsp), %rsp", RED_ZONE, 0);
}

/* One instruction changes the counter, because a signal handler may use the same counter at any moment. If nothing else is
 * possible, rax is saved below the red zone, or all flags are if unwinders need rax. */
static void
add(struct buf *out, struct addition *a, struct liveness live)
{
	uint16_t dead = (uint16_t)(X86_ALL_REGS & ~live.regs_live & ~X86_RSP);
	uint8_t changes = (a->n == 1 || a->n == -1) && !a->timed && !a->reg ? INC_CHANGES : X86_ALL_FLAGS;

	a->keeps_carry = live.flags_live & X86_CF;
	a->frame = live.frame;
	if (!(live.flags_live & changes)) {
		add_now(out, a, 0);
	} else if (dead & X86_RAX) {
		add_keeping_flags(out, a, 0);
	} else if (live.no_stack && (!dead || live.frame_regs & X86_RAX)) {
		bug("a counter where nothing is free");
	} else if (live.frame_regs & X86_RAX) {
		add_pushing_flags(out, a);
	} else if (dead) {
		const char *reg = reg_name[__builtin_ctz(dead)];

		buf_printf(out, "\tmovq\t%%rax, %%%s\n", reg);
		add_keeping_flags(out, a, 0);
		buf_printf(out, "\tmovq\t%%%s, %%rax\n", reg);
	} else {
		move_stack(out, live.frame, "leaq\t-128(%rsp), %rsp", 0, RED_ZONE);
		move_stack(out, live.frame, "pushq\t%rax", RED_ZONE, RED_ZONE + 8);
		add_keeping_flags(out, a, RED_ZONE + 8);
		move_stack(out, live.frame, "popq\t%rax", RED_ZONE + 8, RED_ZONE);
		move_stack(out, live.frame, "leaq\t128(%rsp), %rsp", RED_ZONE, 0);
	}
}

void
x86_add(struct buf *out, const char *label, uint64_t offset, int32_t n, uint8_t base, struct liveness live)
{
	add(out, &(struct addition){.label = label, .offset = offset, .n = n, .base = base}, live);
}

void
x86_add_borrowing(struct buf *out, const char *label, uint64_t offset, uint8_t reg, bool near, struct liveness live)
{
	int past = near ? 0 : RED_ZONE;
	char insn[24];

	if (past)
		move_stack(out, live.frame, "leaq\t-128(%rsp), %rsp", 0, past);
	snprintf(insn, sizeof insn, "pushq\t%%%s", reg_name[reg - 1]);
	move_stack(out, live.frame, insn, past, past + 8);
	x86_load_base(out, label, reg);
	x86_add(out, label, offset, 1, reg, live);
	snprintf(insn, sizeof insn, "popq\t%%%s", reg_name[reg - 1]);
	move_stack(out, live.frame, insn, past + 8, past);
	if (past)
		move_stack(out, live.frame, "leaq\t128(%rsp), %rsp", past, 0);
}

void
x86_load_base(struct buf *out, const char *label, uint8_t base)
{
	buf_printf(out, "\tleaq\t%s(%%rip), %%%s\n", label, reg_name[base - 1]);
}

/* The cells of a counter take as many bytes as a byte has values, so the lowest byte of the address wraps to the first cell. */
void
x86_next_cell(struct buf *out, uint8_t base, uint32_t step)
{
	_Static_assert(CHORD_CELLS * 8 == 256, "the byte does not wrap");
	buf_printf(out, "\taddb\t$%" PRIu32 ", %%%s\n", step * 8, low_name[base - 1]);
}

static const char *const half_name[16] = {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi",
	"r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"};

void
x86_begin_count(struct buf *out, uint8_t reg)
{
	buf_printf(out, "\tmovl\t$0, %%%s\n", half_name[reg]);
}

void
x86_count_up(struct buf *out, uint8_t reg, struct liveness live)
{
	if (live.flags_live & INC_CHANGES)
		buf_printf(out, "\tleaq\t1(%%%s), %%%s\n", reg_name[reg], reg_name[reg]);
	else
		buf_printf(out, "\tincq\t%%%s\n", reg_name[reg]);
}

/* The register is live. */
void
x86_add_count(struct buf *out, uint8_t reg, const char *label, uint64_t offset, struct liveness live)
{
	live.regs_live |= (uint16_t)(1u << reg);
	add(out, &(struct addition){.label = label, .offset = offset, .reg = (uint8_t)(reg + 1)}, live);
}

void
x86_begin_steps(struct buf *out, const struct counted_steps *s)
{
	if (s->below)
		x86_lend(out, (uint8_t)(s->var + 1), s->below);
	else
		buf_printf(out, "\tleaq\t%" PRId32 "(%%%s), %%%s\n", s->more, reg_name[s->var], reg_name[s->reg]);
}

void
x86_skip_step(struct buf *out, const struct counted_steps *s)
{
	int32_t step = (s->down ? -1 : 1) * (1 << s->shift);

	if (s->below)
		buf_printf(out, "\taddq\t$%" PRId32 ", -%u(%%rsp)\n", step, s->below);
	else
		buf_printf(out, "\taddq\t$%" PRId32 ", %%%s\n", step, reg_name[s->reg]);
}

/* The register gets the negative number of steps. */
void
x86_end_steps(struct buf *out, const struct counted_steps *s, const char *label, uint64_t offset)
{
	if (s->scratch)
		x86_lend(out, (uint8_t)(s->reg + 1), s->scratch);
	if (s->below)
		x86_get_back(out, (uint8_t)(s->reg + 1), s->below);
	buf_printf(out, "\tsubq\t%%%s, %%%s\n", reg_name[s->var], reg_name[s->reg]);
	if (s->more)
		buf_printf(out, "\taddq\t$%" PRId32 ", %%%s\n", s->more, reg_name[s->reg]);
	if (s->shift)
		buf_printf(out, "\tsarq\t$%u, %%%s\n", s->shift, reg_name[s->reg]);
	buf_printf(out, "\t%s\t%%%s, ", s->down ? "addq" : "subq", reg_name[s->reg]);
	counter(out, label, offset, 0);
	if (s->scratch)
		x86_get_back(out, (uint8_t)(s->reg + 1), s->scratch);
}

void
x86_lend(struct buf *out, uint8_t reg, uint8_t below)
{
	buf_printf(out, "\tmovq\t%%%s, -%u(%%rsp)\n", reg_name[reg - 1], below);
}

void
x86_get_back(struct buf *out, uint8_t reg, uint8_t below)
{
	buf_printf(out, "\tmovq\t-%u(%%rsp), %%%s\n", below, reg_name[reg - 1]);
}

void
x86_add_timed(struct buf *out, struct buf *stub, const char *label, uint64_t offset, int32_t n, const struct timed_at *t,
              uint8_t base, struct liveness live)
{
	if (!t->in_line)
		buf_printf(stub, "%s:\n", t->ask);
	add(out, &(struct addition){.label = label, .offset = offset, .n = n, .base = base, .timed = t, .stub = stub}, live);
}

bool
x86_is_call(const uint8_t *bytes)
{
	return *bytes == 0xe8;
}

bool
x86_is_due(const uint8_t *bytes, size_t n)
{
	static const uint8_t raised[] = {0x48, 0x8d, 0xa4, 0x24, 128, 0, 0, 0}; /* leaq 128(%rsp), %rsp */

	return n >= X86_CALL_SIZE + sizeof raised && x86_is_call(bytes) && !memcmp(bytes + X86_CALL_SIZE, raised, sizeof raised);
}

static void
put_sum(struct buf *out, const char *from, const char *to, uint64_t offset, bool subtract, const char *reg)
{
	buf_printf(out, "\tmovq\t%%gs:%s(%%rip), %%%s\n", from, reg);
	for (unsigned i = 1; i < CHORD_WAYS_SUMMED; i++)
		buf_printf(out, "\taddq\t%%gs:%s+%u(%%rip), %%%s\n", from, i * CHORD_SUMMED_STEP * 8, reg);
	buf_printf(out, "\t%s\t%%%s, ", subtract ? "subq" : "addq", reg);
	counter(out, to, offset, 0);
}

/* The number to add is read first: what a signal handler counts in between belongs to the call. A register is saved below the stack
 * pointer if possible: the frame, which a signal handler might have to unwind, then does not change. */
void
x86_add_sum(struct buf *out, const char *from, const char *to, uint64_t offset, bool subtract, bool below,
            struct liveness live)
{
	uint16_t dead = (uint16_t)(X86_ALL_REGS & ~live.regs_live & ~X86_RSP);
	const char *reg = reg_name[__builtin_ctz(X86_ALL_REGS & ~live.frame_regs & ~X86_RSP)];
	char push[24], pop[24];

	if (dead && !live.flags_live) {
		put_sum(out, from, to, offset, subtract, reg_name[__builtin_ctz(dead)]);
	} else if (below && !live.flags_live) {
		buf_printf(out, "\tmovq\t%%%s, -8(%%rsp)\n", reg);
		put_sum(out, from, to, offset, subtract, reg);
		buf_printf(out, "\tmovq\t-8(%%rsp), %%%s\n", reg);
	} else {
		move_stack(out, live.frame, "leaq\t-128(%rsp), %rsp", 0, RED_ZONE);
		move_stack(out, live.frame, "pushfq", RED_ZONE, RED_ZONE + 8);
		snprintf(push, sizeof push, "pushq\t%%%s", reg);
		move_stack(out, live.frame, push, RED_ZONE + 8, RED_ZONE + 16);
		put_sum(out, from, to, offset, subtract, reg);
		snprintf(pop, sizeof pop, "popq\t%%%s", reg);
		move_stack(out, live.frame, pop, RED_ZONE + 16, RED_ZONE + 8);
		move_stack(out, live.frame, "popfq", RED_ZONE + 8, RED_ZONE);
		move_stack(out, live.frame, "leaq\t128(%rsp), %rsp", RED_ZONE, 0);
	}
}

void
x86_jump(struct buf *out, const char *operand)
{
	buf_str(out, "\tjmp\t");
	buf_str(out, operand);
	buf_char(out, '\n');
}

/* A scratch register that the operand does not name. It is a dead one or else one that callees may clobber, because unwinders do
 * not look for the value of such a register in this frame, unless they find the frame by it. */
static const char *
choose(struct liveness live, struct str operand, const char *other, bool *kept)
{
	static const struct { const char *name; uint16_t bit; } all[] = {
		{"%r11", 1 << 11}, {"%r10", 1 << 10}, {"%rax", X86_RAX}, {"%r9", 1 << 9}, {"%r8", 1 << 8},
	};

	for (int any = 0; any < 2; any++)
		for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
			if ((any ? live.frame_regs : live.regs_live) & all[i].bit || !strcmp(all[i].name, other) ||
			    memmem(operand.at, operand.n, all[i].name, strlen(all[i].name)))
				continue;
			*kept = any;
			return all[i].name;
		}
	bug("no register for %.*s", (int)operand.n, operand.at);
}

/* Slots are struct chord_callee. Nothing is pushed, so the frame stays as the unwind tables describe it. The words of the stub are
 * the pointer at -24(%rsp), the place at -32(%rsp), and the address where it goes on at -40(%rsp). */
void
x86_pointer(struct buf *out, struct buf *stub, struct str operand, struct pointer_at at, struct liveness live)
{
	bool keep_to = false, keep_slot;
	const char *to = *operand.at == '%' && !memchr(operand.at, ':', operand.n) ? "" : choose(live, operand, "", &keep_to);
	const char *slot = choose(live, operand, to, &keep_slot);
	char name[8];

	snprintf(name, sizeof name, "%.*s", *to ? (int)strlen(to) : (int)operand.n, *to ? to : operand.at);
	if (keep_to)
		buf_printf(out, "\tmovq\t%s, -8(%%rsp)\n", to);
	if (keep_slot)
		buf_printf(out, "\tmovq\t%s, -16(%%rsp)\n", slot);
	if (*to)
		buf_printf(out, "\tmovq\t%.*s, %s\n", (int)operand.n, operand.at, name);
	buf_printf(out, "\tmovq\t%%gs:%s+%ju(%%rip), %s\n", at.label, (uintmax_t)at.offset, slot);
	buf_printf(out, "\ttestq\t%s, %s\n\tje\t%s\n", slot, slot, at.ask);
	buf_printf(out, "\tcmpq\t%s, %zu(%s)\n\tjne\t%s\n", name, offsetof(struct chord_callee, raw), slot, at.ask);
	buf_printf(out, "\tincq\t%zu(%s)\n%s:\n", offsetof(struct chord_callee, count), slot, at.on);
	if (keep_slot)
		buf_printf(out, "\tmovq\t-16(%%rsp), %s\n", slot);
	if (keep_to)
		buf_printf(out, "\tmovq\t-8(%%rsp), %s\n", to);
	buf_printf(stub, "\tmovq\t%s, -24(%%rsp)\n\tleaq\t%s+%ju(%%rip), %s\n", name, at.label, (uintmax_t)at.offset, slot);
	buf_printf(stub, "\tmovq\t%s, -32(%%rsp)\n\tleaq\t%s(%%rip), %s\n", slot, at.on, slot);
	buf_printf(stub, "\tmovq\t%s, -40(%%rsp)\n\tjmp\t__chord_pointer\n", slot);
	/* This jump is never reached: it tells readers where control goes on. */
	x86_jump(stub, at.on);
}

/* The price follows from the live flags. It is the same whether all flags may change or CF must be kept. Among equal places, one is
 * preferred at which a register can be a base. */
double
x86_price(struct liveness live)
{
	uint16_t dead = (uint16_t)(X86_ALL_REGS & ~live.regs_live & ~X86_RSP);

	if (live.no_stack && live.flags_live && (!dead || live.frame_regs & X86_RAX))
		return -1;
	if (!(live.flags_live & INC_CHANGES))
		return (live.flags_live ? 1.001 : 1) + (dead & X86_BASE_REGS ? 0 : 0.0005);
	if (live.frame_regs & X86_RAX)
		return 10;
	return dead & X86_RAX ? 2.5 : dead ? 3 : 5;
}

/* The place has nothing of the program below the stack pointer, and needs no flags. */
void
x86_stamp(struct buf *out)
{
	buf_str(out, "\tcall\t__chord_stamp\n");
}

/* The words are pushed below the red zone. */
void
x86_away(struct buf *out, struct str sp, struct str pc, bool on_stack)
{
	buf_str(out, "\tleaq\t-128(%rsp), %rsp\n\tpushq\t");
	if (on_stack)
		buf_str(out, *sp.at == '(' ? "128" : "128+");
	buf_add(out, sp.at, sp.n);
	buf_str(out, "\n\tpushq\t");
	if (!pc.n)
		pc = STR("$0");
	buf_add(out, pc.at, pc.n);
	buf_printf(out, "\n\tcall\t__chord_away\n\tleaq\t%d(%%rsp), %%rsp\n", X86_NONLOCAL_DEPTH);
}
