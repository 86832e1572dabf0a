/* SPDX-License-Identifier: MIT */
/* Code that keeps the path register of an activation and counts paths (scratch.c has the places where the register can be). */
#include "machine/x86_64/x86_64.h"

#include <inttypes.h>
#include <stddef.h>

enum { RAX = 0 };

/* How many entries of a hash table are looked at before the runtime is called. */
enum { NEAR = 4 };

/* ---- signals ---- */

/* The first bytes of a restorer, to which a signal handler returns: movq $15, %rax. */
enum { RESTORER = 0x0fc0c748 };
/* The distance from the interrupted context to the signal's description, which comes after it. */
enum { CONTEXT = 304 };
/* What rax has in a handler of a compiler's from its beginning on. */
enum { IN_HANDLER = 0x100 };

/* Tells the runtime if the procedure was called as a signal handler. The kernel passes all handlers the addresses of the signal's
 * description and of the interrupted context, as second and third argument, and 0 in rax. The context stands just above the return
 * address, as few other callers' arguments do. If the arguments are different, there may be no return address, or nothing that can
 * be read there. Nothing of the activation is below the stack pointer yet.
 *
 * A handler may jump to another function with its own arguments, which must not be taken for another signal. So a handler goes on
 * with a bit in rax. Its low byte stays 0: that is an argument of functions with variable arguments. */
static void
strike(struct buf *out, struct buf *stub, const struct path_op *op, const struct path_place *place)
{
	struct scratch s = {.out = stub, .place = place};
	const char *no = place->struck;

	buf_printf(out, "\tcmpq\t%%rsp, %%rdx\n\tja\t%s\n%s:\n", place->struck, place->begun);
	buf_printf(stub, "%s:\n\ttestq\t%%rax, %%rax\n\tjne\t%s\n", place->struck, place->begun);
	scratch_lower(&s, stub, 1);
	buf_str(stub, "\tmovq\t%rax, (%rsp)\n");
	scratch_load_frame(&s, stub, RAX, RED_ZONE + 8);
	buf_printf(stub, "\taddq\t$8, %%rax\n\tcmpq\t%%rax, %%rdx\n\tjne\t%s_1\n", no);
	buf_printf(stub, "\taddq\t$%d, %%rax\n\tcmpq\t%%rax, %%rsi\n\tjne\t%s_1\n", CONTEXT, no);
	buf_printf(stub, "\tmovq\t-%d(%%rax), %%rax\n\tcmpl\t$%d, (%%rax)\n\tjne\t%s_1\n", CONTEXT + 8, RESTORER, no);
	buf_str(stub, "\tcall\t__chord_trace_signal\n");
	if (op->compiled)
		buf_printf(stub, "\tmovq\t$%d, (%%rsp)\n", IN_HANDLER);
	buf_printf(stub, "%s_1:\n\tmovq\t(%%rsp), %%rax\n", no);
	scratch_raise(&s, stub, 1);
	x86_jump(stub, place->begun);
}

/* ---- what is counted where ---- */

/* The value of the path register for a sum, or for a difference of sums. */
static int64_t
scaled(const struct path_counters *t, int64_t n)
{
	return t->kind == CHORD_PATH_HASHED ? n : n * 8;
}

void
x86_entry_of(struct buf *out, const struct path_counters *t, int64_t bytes)
{
	buf_printf(out, "%s+%" PRId64 "(%%rip)", t->label, (int64_t)t->offset + bytes);
}

/* Writes the operand of an entry. base: as in struct path_place. */
static void
entry_by(struct buf *out, const struct path_counters *t, int64_t bytes, uint8_t base)
{
	if (base && is_short((int64_t)t->offset + bytes))
		buf_printf(out, "%" PRId64 "(%%%s)", (int64_t)t->offset + bytes, name64[base - 1]);
	else
		x86_entry_of(out, t, bytes);
}

static uint32_t
hash(const struct path_counters *t, int64_t sum)
{
	return ((uint32_t)sum * CHORD_PATH_HASH) >> (32 - t->bits);
}

/* Looks at the next entries, where the runtime may have put the path. Register b has their offset, register c the table. */
static void
look_further(struct scratch *s, struct buf *stub, const struct path_counters *t, int key, int b, int c)
{
	for (int i = 1; i < NEAR; i++) {
		buf_printf(stub, "\taddl\t$%zu, %%%s\n", sizeof(struct chord_path_entry), name32[b]);
		buf_printf(stub, "\tandl\t$%zu, %%%s\n", (sizeof(struct chord_path_entry) << t->bits) - 1, name32[b]);
		buf_printf(stub, "\tcmpq\t%%%s, %%gs:(%%%s,%%%s)\n\tjne\t%s_%d\n", name64[key], name64[c], name64[b],
		           s->place->miss, i);
		buf_printf(stub, "\tincq\t%%gs:%zu(%%%s,%%%s)\n", offsetof(struct chord_path_entry, count), name64[c], name64[b]);
		x86_jump(stub, s->place->counted);
		buf_printf(stub, "%s_%d:\n", s->place->miss, i);
	}
}

static void
look_further_known(struct scratch *s, struct buf *stub, const struct path_counters *t, int64_t sum)
{
	int64_t size = (int64_t)sizeof(struct chord_path_entry), at;

	for (uint32_t i = 1; i < NEAR && is_short(sum + 1); i++) {
		at = size * ((hash(t, sum) + i) & ((1u << t->bits) - 1));
		buf_printf(stub, "\tcmpq\t$%" PRId64 ", %%gs:", sum + 1);
		x86_entry_of(stub, t, at);
		buf_printf(stub, "\n\tjne\t%s_%u\n\tincq\t%%gs:", s->place->miss, i);
		x86_entry_of(stub, t, at + (int64_t)offsetof(struct chord_path_entry, count));
		buf_char(stub, '\n');
		x86_jump(stub, s->place->counted);
		buf_printf(stub, "%s_%u:\n", s->place->miss, i);
	}
}

/* Handles a record whose first entry has another key. Register `key` has the sum plus 1; -1: the sum is known. */
static void
miss(struct scratch *s, struct buf *stub, const struct path_counters *t, int key, int64_t sum)
{
	scratch_lower(s, stub, 2);
	buf_str(stub, "\tmovq\t%rax, 8(%rsp)\n\tmovq\t%rcx, (%rsp)\n");
	if (key >= 0)
		buf_printf(stub, "\tleaq\t-1(%%%s), %%rax\n", name64[key]);
	else
		buf_printf(stub, "\tmovq\t$%" PRId64 ", %%rax\n", sum);
	buf_printf(stub, "\tleaq\t%s(%%rip), %%rcx\n\tcall\t__chord_path\n", t->desc);
	buf_str(stub, "\tmovq\t(%rsp), %rcx\n\tmovq\t8(%rsp), %rax\n");
	scratch_raise(s, stub, 2);
	scratch_end_stub(s, stub, s->place->counted);
}

static void
record_in_cells(struct buf *out, const struct path_place *place)
{
	x86_next_cell(out, place->cells, 1);
	buf_printf(out, "\taddq\t$1, %%gs:%" PRIu64 "(%%%s)\n", place->cell, name64[place->cells - 1]);
}

static void
record_known(struct scratch *s, struct buf *stub, const struct path_counters *t, int64_t sum)
{
	int64_t at;

	if (s->place->cells) {
		record_in_cells(s->out, s->place);
		return;
	}
	if (t->kind != CHORD_PATH_HASHED) {
		buf_str(s->out, s->place->base ? "\taddq\t$1, %gs:" : "\tincq\t%gs:");
		entry_by(s->out, t, sum * 8, s->place->base);
		buf_char(s->out, '\n');
		return;
	}
	at = (int64_t)(hash(t, sum) * sizeof(struct chord_path_entry));
	if (!is_short(sum + 1)) {
		int a = scratch_take(s);

		buf_printf(s->out, "\tmovabsq\t$%" PRId64 ", %%%s\n\tcmpq\t%%%s, %%gs:", sum + 1, name64[a], name64[a]);
		scratch_give_back(s, a);
	} else {
		buf_printf(s->out, "\tcmpq\t$%" PRId64 ", %%gs:", sum + 1);
	}
	entry_by(s->out, t, at, s->place->base);
	buf_printf(s->out, "\n\tjne\t%s\n\tincq\t%%gs:", s->place->miss);
	entry_by(s->out, t, at + (int64_t)offsetof(struct chord_path_entry, count), s->place->base);
	buf_printf(s->out, "\n%s:\n", s->place->counted);
	scratch_begin_stub(s, stub, s->place->miss);
	look_further_known(s, stub, t, sum);
	miss(s, stub, t, -1, sum);
}

static void
add_number(struct scratch *s, int64_t n, int reg)
{
	if (is_short(n)) {
		buf_printf(s->out, "\taddq\t$%" PRId64 ", %%%s\n", n, name64[reg]);
		return;
	}
	int b = scratch_take(s);
	buf_printf(s->out, "\tmovabsq\t$%" PRId64 ", %%%s\n\taddq\t%%%s, %%%s\n", n, name64[b], name64[b], name64[reg]);
	scratch_give_back(s, b);
}

/* Records the path whose sum is in register a, in a hash table. The value of a is lost. */
static void
record_hashed(struct scratch *s, struct buf *stub, const struct path_counters *t, int a)
{
	int b = scratch_take(s), c = scratch_take(s);

	buf_printf(s->out, "\timull\t$%d, %%%s, %%%s\n", (int32_t)CHORD_PATH_HASH, name32[a], name32[b]);
	buf_printf(s->out, "\tshrl\t$%d, %%%s\n\tshll\t$4, %%%s\n", 32 - t->bits, name32[b], name32[b]);
	buf_printf(s->out, "\tleaq\t%s+%" PRIu64 "(%%rip), %%%s\n\tincq\t%%%s\n", t->label, t->offset, name64[c], name64[a]);
	buf_printf(s->out, "\tcmpq\t%%%s, %%gs:(%%%s,%%%s)\n\tjne\t%s\n", name64[a], name64[c], name64[b], s->place->miss);
	buf_printf(s->out, "\tincq\t%%gs:%zu(%%%s,%%%s)\n%s:\n", offsetof(struct chord_path_entry, count), name64[c], name64[b],
	           s->place->counted);
	scratch_begin_stub(s, stub, s->place->miss);
	look_further(s, stub, t, a, b, c);
	scratch_give_back(s, b);
	scratch_give_back(s, c);
	miss(s, stub, t, a, 0);
}

static void
record_held(struct scratch *s, struct buf *stub, const struct path_counters *t, const struct path_op *op)
{
	int64_t more = op->sum;
	bool in_register = op->from >= 0 && !is_room(op->from);
	int r = in_register ? op->from : scratch_load(s, op->from);

	if (op->marked)
		buf_printf(s->out, "\tandq\t$-8, %%%s\n", name64[r]);

	if (t->kind == CHORD_PATH_HASHED) {
		if (more)
			add_number(s, more, r);
		record_hashed(s, stub, t, r);
	} else if (is_short(more * 8)) {
		buf_printf(s->out, "\taddq\t$1, %%gs:%" PRId64 "(%%%s)\n", more * 8, name64[r]);
	} else {
		add_number(s, more * 8, r);
		buf_printf(s->out, "\taddq\t$1, %%gs:(%%%s)\n", name64[r]);
	}
	if (!in_register)
		scratch_give_back(s, r);
}

/* ---- the path register ---- */

/* Sets a register to the value for a sum, with a mark. */
static void
set_register(struct scratch *s, const struct path_counters *t, int reg, int64_t to, uint8_t mark)
{
	if (t->kind == CHORD_PATH_HASHED) {
		buf_printf(s->out, "\t%s\t$%" PRId64, is_short(to) ? "movq" : "movabsq", to);
	} else {
		buf_str(s->out, "\tleaq\t");
		x86_entry_of(s->out, t, to * 8 + mark);
	}
	buf_printf(s->out, ", %%%s\n", name64[reg]);
}

static void
set(struct scratch *s, const struct path_counters *t, const struct path_op *op)
{
	int a, b;

	if (is_room(op->to)) {
		b = scratch_take(s);
		set_register(s, t, b, op->n, op->mark);
		scratch_to_room(s, b);
		scratch_give_back(s, b);
		return;
	}
	if (op->to >= 0) {
		set_register(s, t, op->to, op->n, op->mark);
		return;
	}
	a = scratch_shadow(s);
	if (t->kind == CHORD_PATH_HASHED && is_short(op->n)) {
		buf_printf(s->out, "\tmovq\t$%" PRId64 ", %" PRId64 "(%%%s)\n", op->n, scratch_distance(s), name64[a]);
		return;
	}
	b = scratch_take(s);
	set_register(s, t, b, op->n, 0);
	buf_printf(s->out, "\tmovq\t%%%s, %" PRId64 "(%%%s)\n", name64[b], scratch_distance(s), name64[a]);
	scratch_give_back(s, b);
}

/* Adds to a register, without a change of flags if possible. */
static void
move(struct scratch *s, int from, int to, int64_t n)
{
	if (!is_short(n)) {
		if (from != to)
			buf_printf(s->out, "\tmovq\t%%%s, %%%s\n", name64[from], name64[to]);
		add_number(s, n, to);
	} else if (n) {
		buf_printf(s->out, "\tleaq\t%" PRId64 "(%%%s), %%%s\n", n, name64[from], name64[to]);
	} else if (from != to) {
		buf_printf(s->out, "\tmovq\t%%%s, %%%s\n", name64[from], name64[to]);
	}
}

static void
add_in_memory(struct scratch *s, int64_t n)
{
	int a = scratch_shadow(s), b;

	if (is_short(n)) {
		buf_printf(s->out, "\taddq\t$%" PRId64 ", %" PRId64 "(%%%s)\n", n, scratch_distance(s), name64[a]);
		return;
	}
	b = scratch_take(s);
	buf_printf(s->out, "\tmovabsq\t$%" PRId64 ", %%%s\n\taddq\t%%%s, %" PRId64 "(%%%s)\n", n, name64[b], name64[b],
	           scratch_distance(s), name64[a]);
	scratch_give_back(s, b);
}

static void
add_in_room(struct scratch *s, int64_t n)
{
	int b = is_short(n) ? -1 : scratch_take(s);

	if (b < 0) {
		buf_printf(s->out, "\taddq\t$%" PRId64 ", ", n);
	} else {
		buf_printf(s->out, "\tmovabsq\t$%" PRId64 ", %%%s\n\taddq\t%%%s, ", n, name64[b], name64[b]);
		scratch_give_back(s, b);
	}
	scratch_room(s);
	buf_char(s->out, '\n');
}

static void
add(struct scratch *s, const struct path_op *op, int64_t n)
{
	int r;

	if (op->from == op->to && is_room(op->to)) {
		add_in_room(s, n);
		return;
	}
	if (op->from < 0 && op->to < 0) {
		add_in_memory(s, n);
		return;
	}
	r = scratch_fetch(s, op->from, op->to);
	if (op->to >= 0 && !is_room(op->to)) {
		move(s, r, op->to, n);
		return;
	}
	move(s, r, r, n);
	if (is_room(op->to))
		scratch_to_room(s, r);
	else
		scratch_to_shadow(s, r);
}

/* The most registers that the code needs at a time. */
static int
registers(const struct path_op *op, const struct path_counters *t, const struct path_place *place)
{
	bool hashed = t->kind == CHORD_PATH_HASHED;
	bool loads = op->from < 0 || is_room(op->from), stores = op->to < 0 || is_room(op->to);
	int record = op->record == PATH_RECORD_HELD ? loads + (hashed ? 2 : 0) : 0;
	int transfer = op->next == PATH_ADD && op->from != op->to && loads && stores;
	int set = op->next == PATH_SET ? stores && !(hashed && op->to < 0) : transfer;
	int number = !is_short(op->sum * 8 + 8) || !is_short(op->n * 8);

	if (op->traced && op->record && record < x86_write_path_registers(op, place))
		record = x86_write_path_registers(op, place);
	return scratch_uses_memory(op) + number + (record > set ? record : set);
}

/* Counts the path that began and ends here, unless a register of the program's counts it. */
static void
count_marked(struct buf *out, const struct path_op *op, const struct path_counters *t, const struct path_place *place)
{
	if (place->counts) {
		x86_count_up(out, (uint8_t)(place->counts - 1), place->live);
	} else if (place->cells) {
		record_in_cells(out, place);
	} else if (is_room(op->to)) {
		buf_str(out, place->base ? "\taddq\t$1, %gs:" : "\tincq\t%gs:");
		entry_by(out, t, (op->n + op->sum) * 8, place->base);
		buf_char(out, '\n');
	} else {
		buf_printf(out, "\taddq\t$1, %%gs:%" PRId64 "(%%%s)\n", op->sum * 8 - op->mark, name64[op->to]);
	}
}

/* If the register has the mark, the path is counted at once. If not, a stub counts and sets the mark. */
static void
record_marked(struct buf *out, struct buf *stub, const struct path_op *op, const struct path_counters *t,
              const struct path_place *place)
{
	struct path_op other = *op;
	struct scratch s;

	if (is_room(op->to))
		buf_printf(out, "\ttestb\t$%d, %d(%%rsp)\n\tje\t%s\n", op->mark, -PATH_ROOM, place->miss);
	else
		buf_printf(out, "\ttestb\t$%d, %%%s\n\tje\t%s\n", op->mark, name8[op->to], place->miss);
	if (!place->steps)
		count_marked(out, op, t, place);
	buf_printf(out, "%s:\n", place->counted);
	buf_printf(stub, "%s:\n", place->miss);
	if (place->steps)
		x86_skip_step(stub, place->steps);
	other.mark = 0;
	s = scratch_begin(stub, &other, place);
	scratch_reserve(&s, registers(&other, t, place));
	record_held(&s, stub, t, &other);
	set(&s, t, op);
	scratch_end(&s);
	x86_jump(stub, place->counted);
}

void
x86_path(struct buf *out, struct buf *stub, const struct path_op *op, const struct path_counters *table,
         const struct path_place *place)
{
	struct scratch s;

	if (op->outcomes) {
		if (op->strikes)
			strike(out, stub, op, place);
		x86_outcomes(out, stub, op, table, place);
		return;
	}
	if (op->mark) {
		record_marked(out, stub, op, table, place);
		return;
	}
	if (op->strikes)
		strike(out, stub, op, place);
	s = scratch_begin(out, op, place);
	scratch_reserve(&s, registers(op, table, place));
	if (op->guard)
		scratch_guard(&s, stub);
	if (op->record && op->traced)
		x86_write_path(&s, stub, table, op);
	else if (op->record == PATH_RECORD_KNOWN)
		record_known(&s, stub, table, op->sum);
	else if (op->record == PATH_RECORD_HELD)
		record_held(&s, stub, table, op);
	if (op->next == PATH_SET)
		set(&s, table, op);
	else if (op->next == PATH_ADD)
		add(&s, op, scaled(table, op->n));
	scratch_end(&s);
}

