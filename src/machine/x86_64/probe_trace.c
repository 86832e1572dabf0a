/* SPDX-License-Identifier: MIT */
/* Code that writes slots of a trace: paths that end, words of outcomes, registers. */
#include "format/trace.h"
#include "machine/x86_64/x86_64.h"

#include <inttypes.h>

enum { RCX = 1 };

/* Finds the address of the path's entry. The stack pointer is `depth` lower than at the place. Returns the register that has the
 * address: `reg`, unless another register has it already. Changes flags. */
static int
load_token(const struct scratch *s, struct buf *out, const struct path_counters *t, const struct path_op *op, int reg,
           int64_t depth)
{
	int from = op->from;

	if (op->record == PATH_RECORD_KNOWN) {
		buf_str(out, "\tleaq\t");
		x86_entry_of(out, t, op->sum * 8);
		buf_printf(out, ", %%%s\n", name64[reg]);
		return reg;
	}
	if (is_room(op->from)) {
		buf_printf(out, "\tmovq\t%" PRId64 "(%%rsp), %%%s\n", depth - PATH_ROOM, name64[reg]);
		from = reg;
	} else if (op->from < 0) {
		scratch_load_frame(s, out, reg, depth);
		buf_printf(out, "\txorq\t%%gs:__chord_shadow(%%rip), %%%s\n\tmovq\t(%%%s), %%%s\n", name64[reg], name64[reg],
		           name64[reg]);
		from = reg;
	}
	if (!op->sum)
		return from;
	buf_printf(out, "\tleaq\t%" PRId64 "(%%%s), %%%s\n", op->sum * 8, name64[from], name64[reg]);
	return reg;
}

/* Is the register free that has the address of the cursor if it has nothing else? */
static bool
has_cursor(const struct path_place *place)
{
	return !(place->live.regs_live & X86_CURSOR) && place->reg != X86_CURSOR_REG;
}

/* Takes the thread's next slot: register p then has the address after it. The slot is reserved before it is written, and by one
 * instruction, because a signal handler writes slots, too. If a handler comes between the load and the addition, the sum differs
 * from what is expected; if it comes later, it finds the slot taken. At the end of a segment the sum differs, too, since the sum in
 * p keeps its high bits.
 *
 * The address of the cursor is a word in memory that does not change. It is also kept in a register, even through calls and
 * returns, which is only compared with that word. So a processor that forwards stores to loads by the names of their registers has
 * the cursor at once; otherwise each slot would wait for the one before. Code that is not traced may leave anything in the
 * register. c: a register that may be used. from: the label of the stub; "_2" and "_3" after it make other labels. */
static void
take_slot(const struct scratch *s, struct buf *stub, const char *add, const char *from, int p, int c)
{
	const char *h = name64[has_cursor(s->place) ? X86_CURSOR_REG : c];

	if (has_cursor(s->place)) {
		buf_printf(s->out, "\tcmpq\t__chord_trace_home(%%rip), %%%s\n\tjne\t%s_2\n%s_3:\n", h, from, from);
		buf_printf(stub, "%s_2:\n\tmovq\t__chord_trace_home(%%rip), %%%s\n\tjmp\t%s_3\n", from, h, from);
	} else {
		buf_printf(s->out, "\tmovq\t__chord_trace_home(%%rip), %%%s\n", h);
	}
	buf_printf(s->out, "\tmovq\t%%gs:(%%%s), %%%s\n\t%s, %%gs:(%%%s)\n", h, name64[p], add, h);
	buf_printf(s->out, "\taddw\t$4, %%%s\n\tcmpq\t%%%s, %%gs:(%%%s)\n\tjne\t%s\n", name16[p], name64[p], h, from);
}

/* If there is no room after the slot, or if a signal interrupted, the runtime writes it. rcx has the address of the path's entry.
 * rax has the address that was meant for the slot; register p has the one after it. */
static void
write_slowly(const struct scratch *s, struct buf *stub, const struct path_counters *t, const struct path_op *op, int p)
{
	int token;

	scratch_begin_stub(s, stub, s->place->miss);
	buf_printf(stub, "\tsubw\t$4, %%%s\n", name16[p]);
	scratch_lower(s, stub, 3);
	buf_printf(stub, "\tmovq\t%%rax, 8(%%rsp)\n\tmovq\t%%rcx, (%%rsp)\n\tmovq\t%%%s, 16(%%rsp)\n", name64[p]);
	token = load_token(s, stub, t, op, RCX, s->depth + RED_ZONE + 24);
	if (token != RCX)
		buf_printf(stub, "\tmovq\t%%%s, %%rcx\n", name64[token]);
	buf_str(stub, "\tmovq\t16(%rsp), %rax\n\tcall\t__chord_trace_slow\n");
	buf_str(stub, "\tmovq\t(%rsp), %rcx\n\tmovq\t8(%rsp), %rax\n");
	scratch_raise(s, stub, 3);
	scratch_end_stub(s, stub, s->place->counted);
}

/* The path register, if the address of the path's entry can be found there: nothing needs it after the path. Otherwise -1. */
static int
token_in_path_register(const struct path_op *op)
{
	bool in_register = op->record == PATH_RECORD_HELD && op->from >= 0 && !is_room(op->from);

	return in_register && (!op->sum || op->next != PATH_ADD) ? op->from : -1;
}

/* The number of registers that x86_write_path() takes. */
int
x86_write_path_registers(const struct path_op *op, const struct path_place *place)
{
	return has_cursor(place) && token_in_path_register(op) >= 0 ? 1 : 2;
}

/* Writes the path into the thread's next slot. */
void
x86_write_path(struct scratch *s, struct buf *stub, const struct path_counters *t, const struct path_op *op)
{
	int p = scratch_take(s), c = x86_write_path_registers(op, s->place) > 1 ? scratch_take(s) : -1, token;

	take_slot(s, stub, "addq\t$4", s->place->miss, p, c);
	token = token_in_path_register(op);
	token = load_token(s, s->out, t, op, token >= 0 ? token : c, s->depth);
	buf_printf(s->out, "\tmovl\t%%%s, -4(%%%s)\n%s:\n", name32[token], name64[p], s->place->counted);
	write_slowly(s, stub, t, op, p);
	scratch_give_back(s, p);
	if (c >= 0)
		scratch_give_back(s, c);
}

/* ---- words of outcomes ---- */

/* Puts the word from one register into another one, or the same, shifted and with a number added. Changes no flags. */
static void
shift_word(const struct scratch *s, int from, int to, uint8_t shift, int64_t n)
{
	enum { MOST = 3 };

	for (; shift > MOST; shift -= MOST, from = to)
		buf_printf(s->out, "\tleaq\t(,%%%s,%d), %%%s\n", name64[from], 1 << MOST, name64[to]);
	if (shift == 1)
		buf_printf(s->out, "\tleaq\t%" PRId64 "(%%%s,%%%s), %%%s\n", n, name64[from], name64[from], name64[to]);
	else if (shift)
		buf_printf(s->out, "\tleaq\t%" PRId64 "(,%%%s,%d), %%%s\n", n, name64[from], 1 << shift, name64[to]);
	else if (from != to)
		buf_printf(s->out, "\tmovq\t%%%s, %%%s\n", name64[from], name64[to]);
}

/* Puts the word from a register to where it is kept. */
static void
put_word(struct scratch *s, int reg, int8_t to)
{
	if (is_room(to))
		scratch_to_room(s, reg);
	else if (to < 0)
		scratch_to_shadow(s, reg);
	else if (to != reg)
		buf_printf(s->out, "\tmovq\t%%%s, %%%s\n", name64[reg], name64[to]);
}

static void
set_word(struct scratch *s, const struct path_op *op, int64_t word)
{
	bool in_register = op->to >= 0 && !is_room(op->to);
	int r = in_register ? op->to : scratch_take(s);

	buf_printf(s->out, "\tmovl\t$%" PRId64 ", %%%s\n", word, name32[r]);
	put_word(s, r, op->to);
	if (!in_register)
		scratch_give_back(s, r);
}

/* Changes the word. Returns the register that has it. If the word is not kept in a register, that register is no longer taken. */
static int
add_to_word(struct scratch *s, const struct path_op *op)
{
	bool from = op->from >= 0 && !is_room(op->from), to = op->to >= 0 && !is_room(op->to);
	int r = scratch_fetch(s, op->from, op->to), then = to ? op->to : r;

	shift_word(s, r, then, op->shift, op->n);
	put_word(s, then, op->to);
	if (!from && !to)
		scratch_give_back(s, r);
	return then;
}

/* Writes the slot in register v as x86_write_path() writes that of a path. But the slot is taken by another instruction: wherever
 * this one adds to the cursor, no slot of a path is taken. */
static void
write_word(struct scratch *s, struct buf *stub, int v)
{
	int p = scratch_take(s), c = scratch_take(s);
	char miss[64];

	snprintf(miss, sizeof miss, "%s_w", s->place->miss);
	take_slot(s, stub, "subq\t$-4", miss, p, c);
	buf_printf(s->out, "\tmovl\t%%%s, -4(%%%s)\n%s_w:\n", name32[v], name64[p], s->place->counted);
	scratch_begin_stub(s, stub, miss);
	buf_printf(stub, "\tsubw\t$4, %%%s\n", name16[p]);
	scratch_lower(s, stub, 3);
	buf_printf(stub, "\tmovq\t%%rax, 8(%%rsp)\n\tmovq\t%%rcx, (%%rsp)\n\tmovq\t%%%s, 16(%%rsp)\n", name64[p]);
	if (v != RCX)
		buf_printf(stub, "\tmovq\t%%%s, %%rcx\n", name64[v]);
	buf_str(stub, "\tmovq\t16(%rsp), %rax\n\tcall\t__chord_trace_slow\n");
	buf_str(stub, "\tmovq\t(%rsp), %rcx\n\tmovq\t8(%rsp), %rax\n");
	scratch_raise(s, stub, 3);
	buf_printf(stub, "\tjmp\t%s_w\n", s->place->counted);
	scratch_moved(stub, s, s->depth, 0);
	scratch_give_back(s, p);
	scratch_give_back(s, c);
}

/* Writes the word in register v, and after it the end to which it has come. */
static void
write_outcomes(struct scratch *s, struct buf *stub, const struct path_counters *t, const struct path_op *op, int v)
{
	const struct path_op ends = {.record = PATH_RECORD_KNOWN, .sum = op->sum, .traced = true};

	write_word(s, stub, v);
	x86_write_path(s, stub, t, &ends);
}

static void
end_word(struct scratch *s, struct buf *stub, const struct path_counters *t, const struct path_op *op)
{
	bool in_register = op->from >= 0 && !is_room(op->from);
	int r = in_register ? op->from : scratch_load(s, op->from);

	shift_word(s, r, r, op->shift, op->more);
	write_outcomes(s, stub, t, op, r);
	if (!in_register)
		scratch_give_back(s, r);
}

/* A stub writes the word in register v if it is full, and begins a new one. */
static void
write_if_full(struct scratch *s, struct buf *stub, const struct path_counters *t, const struct path_op *op, int v)
{
	struct scratch more = *s;
	struct buf further = {0};
	char label[64];

	buf_printf(s->out, "\tcmpl\t$%" PRId32 ", %%%s\n\tjae\t%s_f\n%s_f:\n", (int32_t)op->full, name32[v], s->place->miss,
	           s->place->counted);
	snprintf(label, sizeof label, "%s_f", s->place->miss);
	scratch_begin_stub(s, stub, label);
	more.out = stub;
	more.used |= (uint16_t)(1u << v);
	more.dead &= (uint16_t)~(1u << v);
	scratch_reserve(&more, 2);
	write_outcomes(&more, &further, t, op, v);
	scratch_restore(&more, s->nkept, !s->depth);
	more.depth = s->depth;
	buf_printf(stub, "\tmovl\t$%" PRId64 ", %%%s\n", op->more, name32[v]);
	put_word(&more, v, op->to);
	snprintf(label, sizeof label, "%s_f", s->place->counted);
	scratch_end_stub(s, stub, label);
	buf_add(stub, further.at, further.n);
	buf_free(&further);
}

static int
registers_for_word(const struct path_op *op)
{
	bool loads = op->from < 0 || is_room(op->from), stores = op->to < 0 || is_room(op->to);
	int word = op->record == PATH_RECORD_WORD ? loads : op->next ? loads || stores : 0;

	return scratch_uses_memory(op) + word + (op->record == PATH_RECORD_WORD || op->record == PATH_RECORD_KNOWN ? 2 : 0);
}

void
x86_outcomes(struct buf *out, struct buf *stub, const struct path_op *op, const struct path_counters *table,
         const struct path_place *place)
{
	struct scratch s = scratch_begin(out, op, place);
	int v;

	scratch_reserve(&s, registers_for_word(op));
	if (op->guard)
		scratch_guard(&s, stub);
	if (op->record == PATH_RECORD_KNOWN)
		x86_write_path(&s, stub, table, op);
	else if (op->record == PATH_RECORD_WORD)
		end_word(&s, stub, table, op);
	if (op->next == PATH_SET) {
		set_word(&s, op, op->n);
	} else if (op->next == PATH_ADD) {
		v = add_to_word(&s, op);
		if (op->full)
			write_if_full(&s, stub, table, op, v);
	}
	scratch_end(&s);
}

/* ---- registers that are written down ---- */

/* Puts the value that is written down into a register. */
static void
load_data(struct scratch *s, const struct data_op *op, int v)
{
	int64_t disp = op->base == X86_SP ? s->depth : 0;

	if (op->base == REG_THREAD) {
		buf_printf(s->out, "\tmovq\t%%fs:0, %%%s\n", name64[v]);
		return;
	}
	buf_printf(s->out, "\tlea%s\t%" PRId64 "(", op->narrow ? "l" : "q", disp);
	if (op->base >= 0)
		buf_printf(s->out, "%%%s", name64[op->base]);
	if (op->index >= 0)
		buf_printf(s->out, ",%%%s,%u", name64[op->index], op->scale);
	buf_printf(s->out, "), %%%s\n", op->narrow ? name32[v] : name64[v]);
}

/* Makes the slot with the low half of the value in register v (half: 1) or with the high half (0). */
static void
data_slot(struct buf *out, const struct data_op *op, int half, int v, int to)
{
	if (half) {
		buf_printf(out, "\tleal\t%d(,%%%s,8), %%%s\n", CHORD_MARK_MORE, name64[v], name32[to]);
		return;
	}
	if (v != to)
		buf_printf(out, "\tmovq\t%%%s, %%%s\n", name64[v], name64[to]);
	buf_printf(out, "\tshrq\t$%d, %%%s\n\tandl\t$%d, %%%s\n\torl\t$%u, %%%s\n", CHORD_DATA_LOW - CHORD_DATA_HIGH,
	           name64[to], -(1 << CHORD_DATA_HIGH), name32[to], CHORD_DATA_FIRST(op->check), name32[to]);
}

/* Writes a slot as x86_write_path() does. But the slot is taken by another instruction: wherever this one adds to the cursor, no
 * slot of a path is taken. */
static void
write_data(struct scratch *s, struct buf *stub, const struct data_op *op, int half, int v)
{
	int p = scratch_take(s), c = scratch_take(s);
	char miss[64];

	snprintf(miss, sizeof miss, "%s_%c", s->place->miss, half ? 'b' : 'a');
	take_slot(s, stub, "subq\t$-4", miss, p, c);
	data_slot(s->out, op, half, v, c);
	buf_printf(s->out, "\tmovl\t%%%s, -4(%%%s)\n%s_%d:\n", name32[c], name64[p], s->place->counted, half);

	buf_printf(stub, "%s:\n\tsubw\t$4, %%%s\n", miss, name16[p]);
	scratch_moved(stub, s, 0, s->depth);
	scratch_lower(s, stub, 3);
	buf_printf(stub, "\tmovq\t%%rax, 8(%%rsp)\n\tmovq\t%%rcx, (%%rsp)\n\tmovq\t%%%s, 16(%%rsp)\n", name64[p]);
	data_slot(stub, op, half, v, RCX);
	buf_str(stub, "\tmovq\t16(%rsp), %rax\n\tcall\t__chord_trace_slow\n\tmovq\t(%rsp), %rcx\n\tmovq\t8(%rsp), %rax\n");
	scratch_raise(s, stub, 3);
	buf_printf(stub, "\tjmp\t%s_%d\n", s->place->counted, half);
	scratch_moved(stub, s, s->depth, 0);
	scratch_give_back(s, p);
	scratch_give_back(s, c);
}

void
x86_data(struct buf *out, struct buf *stub, const struct data_op *op, const struct path_place *place)
{
	struct scratch s = {.out = out, .place = place, .rax_in = -1, .flags_in = -1, .shadow = -1};
	uint16_t never = (uint16_t)(X86_RSP | X86_CURSOR | place->live.frame_regs |
	                            (op->base == REG_THREAD ? 0 : bit(op->base)) | bit(op->index));
	uint16_t flags = place->live.flags_live ? X86_RAX : 0;
	int v;

	s.dead = (uint16_t)(X86_ALL_REGS & ~place->live.regs_live & ~never & ~flags);
	s.used = never | flags;
	scratch_reserve(&s, 1);
	v = scratch_take(&s);
	load_data(&s, op, v);
	s.used = (uint16_t)(never | 1u << v);
	if (flags && !((place->live.regs_live | never) & X86_RAX))
		s.dead |= X86_RAX;
	if (flags)
		scratch_keep_flags(&s);
	scratch_reserve(&s, 2);
	write_data(&s, stub, op, 0, v);
	write_data(&s, stub, op, 1, v);
	scratch_end(&s);
}
