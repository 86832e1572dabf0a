/* SPDX-License-Identifier: MIT */
/* What code for paths uses at a place: scratch registers, and how live ones are saved; the frame; the path register, wherever it
 * is; stubs. A path register in memory is in the shadow of the return address, that is, at the address of the return address with
 * one bit flipped. __chord_shadow has that bit. */
#include "machine/x86_64/x86_64.h"

#include <inttypes.h>

enum { RAX = 0 };

const char *const name64[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};
const char *const name32[16] = {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi",
	"r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"};

const char *const name16[16] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di",
	"r8w", "r9w", "r10w", "r11w", "r12w", "r13w", "r14w", "r15w"};

const char *const name8[16] = {"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil",
	"r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b"};

void
scratch_moved(struct buf *out, const struct scratch *s, int64_t was, int64_t is)
{
	x86_stack_moved(out, s->place->live.frame, was, is);
}

/* Moves the stack pointer past the red zone, if it is not there. */
static void
pass_red_zone(struct scratch *s)
{
	if (s->depth)
		return;
	buf_printf(s->out, "\tleaq\t-%d(%%rsp), %%rsp\n", RED_ZONE);
	scratch_moved(s->out, s, 0, RED_ZONE);
	s->depth = RED_ZONE;
}

/* Saves a live register below the stack pointer. If nothing else is there, the stack pointer is not moved. */
static void
keep(struct scratch *s, int reg)
{
	s->kept[s->nkept++] = reg;
	if (s->place->below) {
		buf_printf(s->out, "\tmovq\t%%%s, %d(%%rsp)\n", name64[reg], -8 * s->nkept);
		return;
	}
	pass_red_zone(s);
	buf_printf(s->out, "\tpushq\t%%%s\n", name64[reg]);
	scratch_moved(s->out, s, s->depth, s->depth + 8);
	s->depth += 8;
}

/* Makes n registers available. */
void
scratch_reserve(struct scratch *s, int n)
{
	static const int order[] = {11, 10, 9, 8, 7, 6, 1, 2, 0, 3, 12, 13, 14, 15};

	for (size_t i = 0; i < sizeof order / sizeof *order && __builtin_popcount(s->dead) < n; i++)
		if (!((s->used | s->dead) >> order[i] & 1)) {
			keep(s, order[i]);
			s->dead |= (uint16_t)(1u << order[i]);
		}
}

int
scratch_take(struct scratch *s)
{
	int reg = __builtin_ctz(s->dead);

	if (!s->dead)
		bug("no register is left");
	s->dead &= (uint16_t)~(1u << reg);
	s->used |= (uint16_t)(1u << reg);
	return reg;
}

void
scratch_give_back(struct scratch *s, int reg)
{
	s->dead |= (uint16_t)(1u << reg);
	s->used &= (uint16_t)~(1u << reg);
}

/* Moves a word over the stack, from where it is pushed to where it is popped: past the words below the stack pointer that have
 * saved registers, if it was not moved. */
static void
move_over_stack(struct scratch *s, const char *push, const char *from, const char *pop, const char *to)
{
	int64_t past = s->depth ? s->depth : (int64_t)sizeof s->kept / (int64_t)sizeof *s->kept * 8;

	if (!s->depth)
		buf_printf(s->out, "\tleaq\t-%" PRId64 "(%%rsp), %%rsp\n", past);
	scratch_moved(s->out, s, s->depth, past);
	buf_printf(s->out, "\t%s%s\n", push, from);
	scratch_moved(s->out, s, past, past + 8);
	buf_printf(s->out, "\t%s%s\n", pop, to);
	scratch_moved(s->out, s, past + 8, past);
	if (!s->depth)
		buf_printf(s->out, "\tleaq\t%" PRId64 "(%%rsp), %%rsp\n", past);
	scratch_moved(s->out, s, past, s->depth);
}

/* All flags wait in a register that is not rax. */
static void
take_all_flags(struct scratch *s)
{
	scratch_reserve(s, 1);
	s->flags_in = scratch_take(s);
	if (!s->place->below)
		pass_red_zone(s);
	move_over_stack(s, "pushfq", "", "popq\t%", name64[s->flags_in]);
}

/* SF, ZF, AF, PF and CF wait in ah, OF in al, unless the frame is found by rax. */
void
scratch_keep_flags(struct scratch *s)
{
	if (s->place->reg == RAX || s->place->live.frame_regs & X86_RAX) {
		take_all_flags(s);
		return;
	}
	if (!(s->dead & X86_RAX) && s->dead) {
		s->rax_in = scratch_take(s);
		buf_printf(s->out, "\tmovq\t%%rax, %%%s\n", name64[s->rax_in]);
	} else if (!(s->dead & X86_RAX)) {
		keep(s, RAX);
	}
	s->dead &= (uint16_t)~X86_RAX;
	s->used |= X86_RAX;
	s->flags = true;
	buf_str(s->out, "\tlahf\n\tseto\t%al\n");
}

bool
scratch_uses_memory(const struct path_op *op)
{
	return op->guard || (op->record >= PATH_RECORD_HELD && op->from < 0) ||
	       (op->next && (op->to < 0 || (op->next == PATH_ADD && op->from < 0)));
}

/* Moves and lea change no flags. */
static bool
changes_flags(const struct path_op *op)
{
	if (op->outcomes)
		return op->record || scratch_uses_memory(op);
	return op->record || scratch_uses_memory(op) || !is_short(op->n * 8) ||
	       (op->next == PATH_ADD && (is_room(op->from) || is_room(op->to)));
}

struct scratch
scratch_begin(struct buf *out, const struct path_op *op, const struct path_place *place)
{
	struct scratch s = {.out = out, .place = place, .rax_in = -1, .flags_in = -1, .shadow = -1};
	uint16_t never = (uint16_t)(X86_RSP | place->reserved | 1u << place->reg | bit(op->from) | bit(op->to) |
	                            bit((int8_t)(place->base - 1)) | place->live.frame_regs |
	                            bit((int8_t)(place->cells - 1)) | (op->traced ? X86_CURSOR : 0));

	s.dead = (uint16_t)(X86_ALL_REGS & ~place->live.regs_live & ~never);
	s.used = never;
	if (place->live.flags_live && changes_flags(op))
		scratch_keep_flags(&s);
	return s;
}

/* Restores the live registers that were saved, except the first ones. back: then also moves the stack pointer back, if it was
 * moved. */
void
scratch_restore(const struct scratch *s, int first, bool back)
{
	for (int i = s->nkept; i-- > first;) {
		if (s->place->below) {
			buf_printf(s->out, "\tmovq\t%d(%%rsp), %%%s\n", -8 * (i + 1), name64[s->kept[i]]);
			continue;
		}
		buf_printf(s->out, "\tpopq\t%%%s\n", name64[s->kept[i]]);
		scratch_moved(s->out, s, RED_ZONE + 8 * (i + 1), RED_ZONE + 8 * i);
	}
	if (s->depth && back) {
		buf_printf(s->out, "\tleaq\t%d(%%rsp), %%rsp\n", RED_ZONE);
		scratch_moved(s->out, s, RED_ZONE, 0);
	}
}

void
scratch_end(struct scratch *s)
{
	if (s->flags)
		buf_str(s->out, "\taddb\t$127, %al\n\tsahf\n");
	if (s->flags_in >= 0)
		move_over_stack(s, "pushq\t%", name64[s->flags_in], "popfq", "");
	if (s->rax_in >= 0)
		buf_printf(s->out, "\tmovq\t%%%s, %%rax\n", name64[s->rax_in]);
	scratch_restore(s, 0, true);
}

/* ---- the place in memory ---- */

/* The distance of the return address from the current value of place->reg. */
int64_t
scratch_distance(const struct scratch *s)
{
	return s->place->loaded ? -8 : s->place->off + (s->place->reg == X86_SP ? s->depth : 0);
}

/* Puts the address of the return address into a register. The stack pointer is `depth` lower than at the place. */
void
scratch_load_frame(const struct scratch *s, struct buf *out, int reg, int64_t depth)
{
	int64_t off = s->place->off + (s->place->reg == X86_SP ? depth : 0);

	if (s->place->loaded)
		buf_printf(out, "\tmovq\t%" PRId64 "(%%%s), %%%s\n\tleaq\t-8(%%%s), %%%s\n", off, name64[s->place->reg],
		           name64[reg], name64[reg], name64[reg]);
	else
		buf_printf(out, "\tleaq\t%" PRId64 "(%%%s), %%%s\n", off, name64[s->place->reg], name64[reg]);
}

/* The register with the address of the shadow minus scratch_distance(). It does not matter whether the bit is flipped before or
 * after the addition, because no frame crosses a multiple of that bit. */
int
scratch_shadow(struct scratch *s)
{
	if (s->shadow < 0) {
		s->shadow = scratch_take(s);
		if (s->place->loaded)
			buf_printf(s->out, "\tmovq\t%" PRId64 "(%%%s), %%%s\n\txorq\t%%gs:__chord_shadow(%%rip), %%%s\n",
			           s->place->off + (s->place->reg == X86_SP ? s->depth : 0), name64[s->place->reg],
			           name64[s->shadow], name64[s->shadow]);
		else
			buf_printf(s->out, "\tmovq\t%%gs:__chord_shadow(%%rip), %%%s\n\txorq\t%%%s, %%%s\n", name64[s->shadow],
			           name64[s->place->reg], name64[s->shadow]);
	}
	return s->shadow;
}

/* A stub makes calls from below the red zone. In between it has n words of its own on the stack. */
void
scratch_lower(const struct scratch *s, struct buf *stub, int n)
{
	buf_printf(stub, "\tleaq\t-%d(%%rsp), %%rsp\n", RED_ZONE + n * 8);
	scratch_moved(stub, s, s->depth, s->depth + RED_ZONE + n * 8);
}

void
scratch_raise(const struct scratch *s, struct buf *stub, int n)
{
	buf_printf(stub, "\tleaq\t%d(%%rsp), %%rsp\n", RED_ZONE + n * 8);
	scratch_moved(stub, s, s->depth + RED_ZONE + n * 8, s->depth);
}

/* In a stub the call frame state is that of the place to which it belongs. The stack pointer may be lower. */
void
scratch_begin_stub(const struct scratch *s, struct buf *stub, const char *label)
{
	buf_printf(stub, "%s:\n", label);
	scratch_moved(stub, s, 0, s->depth);
}

void
scratch_end_stub(const struct scratch *s, struct buf *stub, const char *to)
{
	x86_jump(stub, to);
	scratch_moved(stub, s, s->depth, 0);
}

/* Makes sure that the shadow of this part of the stack is mapped. */
void
scratch_guard(struct scratch *s, struct buf *stub)
{
	int a = scratch_take(s);
	const char *r = name64[a];

	scratch_load_frame(s, s->out, a, s->depth);
	buf_printf(s->out, "\tnotq\t%%%s\n\tshrq\t$%d, %%%s\n", r, CHORD_SHADOW_BITS, r);
	buf_printf(s->out, "\tcmpq\t%%gs:__chord_shadow+8(%%rip), %%%s\n\tjne\t%s\n%s:\n", r, s->place->guard,
	           s->place->guarded);
	scratch_begin_stub(s, stub, s->place->guard);
	scratch_lower(s, stub, 1);
	buf_str(stub, "\tmovq\t%rax, (%rsp)\n");
	scratch_load_frame(s, stub, RAX, s->depth + RED_ZONE + 8);
	buf_str(stub, "\tcall\t__chord_stack\n\tmovq\t(%rsp), %rax\n");
	scratch_raise(s, stub, 1);
	scratch_end_stub(s, stub, s->place->guarded);
	scratch_give_back(s, a);
}

/* The word below the stack pointer, relative to its current value. */
void
scratch_room(const struct scratch *s)
{
	buf_printf(s->out, "%" PRId64 "(%%rsp)", s->depth - PATH_ROOM);
}

static void
room_to(const struct scratch *s, int reg)
{
	buf_str(s->out, "\tmovq\t");
	scratch_room(s);
	buf_printf(s->out, ", %%%s\n", name64[reg]);
}

void
scratch_to_room(const struct scratch *s, int reg)
{
	buf_printf(s->out, "\tmovq\t%%%s, ", name64[reg]);
	scratch_room(s);
	buf_char(s->out, '\n');
}

/* Loads a path register that is in no processor register into one. Returns that. */
int
scratch_load(struct scratch *s, int8_t from)
{
	int a = is_room(from) ? -1 : scratch_shadow(s), r = scratch_take(s);

	if (is_room(from)) {
		room_to(s, r);
		return r;
	}

	buf_printf(s->out, "\tmovq\t%" PRId64 "(%%%s), %%%s\n", scratch_distance(s), name64[a], name64[r]);
	return r;
}

static void
from_shadow(struct scratch *s, int reg)
{
	int a = scratch_shadow(s);

	buf_printf(s->out, "\tmovq\t%" PRId64 "(%%%s), %%%s\n", scratch_distance(s), name64[a], name64[reg]);
}

void
scratch_to_shadow(struct scratch *s, int reg)
{
	int a = scratch_shadow(s);

	buf_printf(s->out, "\tmovq\t%%%s, %" PRId64 "(%%%s)\n", name64[reg], scratch_distance(s), name64[a]);
}

/* The processor register to use for the path register: its own, the one that it goes to, or another one. */
int
scratch_fetch(struct scratch *s, int8_t from, int8_t to)
{
	int r;

	if (from >= 0 && !is_room(from))
		return from;
	r = to >= 0 && !is_room(to) ? to : -1;
	if (r < 0)
		return scratch_load(s, from);
	if (is_room(from))
		room_to(s, r);
	else
		from_shadow(s, r);
	return r;
}

