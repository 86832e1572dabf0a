/* SPDX-License-Identifier: MIT */
/* Nonlocal jumps: from one activation into the frame of another that is still active (__builtin_longjmp, goto out of a nested
 * function), and the receivers that they lead to. Compilers write such a jump as moves to the frame pointer and the stack pointer
 * and an indirect jump. */
#include "asm/asm.h"
#include "asm/dest.h"

#include <string.h>

enum { NEAR = 16 };   /* instructions that belong together stand no farther apart */

static bool
writes(const struct insn *in, uint8_t reg)
{
	return in->regs_kill >> reg & 1;
}

static bool
decode_move(const struct unit *u, const struct code *c, uint32_t i, struct move *m)
{
	const struct insn *in = &c->insns.at[i];

	return u->machine->move(u->object->sections[c->section].data + in->off, in->len, m);
}

/* ---- jumps ---- */

/* The last instruction of [first, last) that writes the stack pointer, if it may switch to another frame. */
static uint32_t
stack_switch(const struct unit *u, const struct code *c, uint32_t first, uint32_t last)
{
	for (uint32_t i = last; i-- > first;)
		if (writes(&c->insns.at[i], u->machine->sp))
			return c->insns.at[i].attr & INSN_SETS_SP ? i : UINT32_MAX;
	return UINT32_MAX;
}

bool
nonlocal_jumps(const struct unit *u, const struct proc_text *p, uint32_t block)
{
	const struct block_text *b = &p->block_text.at[block];
	const struct code *c = p->parts.at[b->part].code;

	return c->insns.at[b->last - 1].cls == CHORD_INSN_IJUMP && stack_switch(u, c, b->first, b->last) != UINT32_MAX;
}

/* The text of the operand that a move reads. */
static struct str
moved_operand(const struct unit *u, const struct insn *in)
{
	const struct stmt *s = in->stmt == UINT32_MAX ? NULL : &u->text->stmts.at[in->stmt];

	if (!s || s->kind != STMT_CODE || s->flags & (STMT_FOREIGN | STMT_INLINE))
		return STR("");
	return u->machine->text->moved(stmt_word(u->text, s), stmt_rest(u->text, s));
}

/* Would the operand of instruction i mean the same before instruction `at`? */
static bool
means_same(const struct insn *in, uint32_t at, uint32_t i)
{
	for (uint32_t k = at; k < i; k++)
		if (!(in[k].attr & INSN_LOADS) || in[k].regs_kill & in[i].regs_read || in[k].stmt == UINT32_MAX)
			return false;
	return true;
}

/* The target of the jump at `last`, as an operand before instruction `at`. Empty: it is not known there. */
static struct str
target_operand(const struct unit *u, const struct insn *in, uint32_t at, uint32_t last)
{
	struct str rest = in[last].stmt == UINT32_MAX ? (struct str){0} : stmt_rest(u->text, &u->text->stmts.at[in[last].stmt]);

	if (rest.n < 2 || rest.at[0] != '*' || rest.at[1] != '%' || memchr(rest.at, ':', rest.n))
		return (struct str){0};
	for (uint32_t k = at; k < last; k++)
		if (in[k].regs_kill & in[last].regs_read)
			return in[k].attr & INSN_LOADS && means_same(in, at, k) && !(in[k].regs_read >> u->machine->sp & 1)
			               ? moved_operand(u, &in[k])
			               : (struct str){0};
	return (struct str){rest.at + 1, rest.n - 1};
}

bool
nonlocal_find(const struct unit *u, const struct proc_text *p, uint32_t block, struct nonlocal *a)
{
	const struct block_text *b = &p->block_text.at[block];
	const struct insn *in = p->parts.at[b->part].code->insns.at;
	uint32_t i = stack_switch(u, p->parts.at[b->part].code, b->first, b->last);

	if (i == UINT32_MAX || !u->text->compiler)
		return false;
	*a = (struct nonlocal){.insn = i, .sp = moved_operand(u, &in[i]), .on_stack = in[i].regs_read >> u->machine->sp & 1};
	if (!a->sp.n)
		return false;
	/* If the frame is found by the frame pointer, the frame pointer has to be still the procedure's own. */
	for (uint32_t k = i; cfi_by_frame_pointer(u->cfi, in[i].stmt) && k-- > b->first;)
		if (in[k].attr & INSN_LOADS && writes(&in[k], u->machine->fp)) {
			if (!means_same(in, k, i))
				return false;
			a->insn = k;
		}
	a->pc = target_operand(u, in, a->insn, b->last - 1);
	return true;
}

/* ---- receivers ---- */

/* Does control reach instruction i only from instruction i - 1? */
static bool
is_straight(const struct code *c, uint32_t i)
{
	const struct insn *in = &c->insns.at[i];

	return i && in[-1].off + in[-1].len == in->off && in[-1].cls == CHORD_INSN_OTHER && !in->leader;
}

static uint32_t
straight_from(const struct code *c, uint32_t i)
{
	for (int n = 0; n < NEAR && is_straight(c, i); n++)
		i--;
	return i;
}

static uint32_t
straight_to(const struct code *c, uint32_t i)
{
	for (int n = 0; n < NEAR && i + 1 < c->insns.n && is_straight(c, i + 1); n++)
		i++;
	return i;
}

/* The address at which 64 bits are stored, as far as it is known. */
struct target {
	struct move move;
	const struct obj_reloc *reloc;
	int64_t disp;
};

/* If the base register gets an address plus a number just before, replaces the base by these. */
static void
resolve_base(const struct unit *u, const struct code *c, uint32_t i, struct target *t)
{
	uint32_t first = straight_from(c, i);
	struct move m;

	while (t->move.base >= 0 && i-- > first) {
		if (!writes(&c->insns.at[i], (uint8_t)t->move.base))
			continue;
		if (c->insns.at[i].attr & INSN_RELOC || !decode_move(u, c, i, &m) || !m.address || m.index >= 0)
			return;
		t->move.base = m.base;
		t->disp = (int64_t)((uint64_t)t->disp + (uint64_t)m.disp);
	}
}

static bool
decode_store(const struct unit *u, const struct code *c, uint32_t i, struct target *t)
{
	const struct insn *in = &c->insns.at[i];
	uint32_t at, end = in->off + in->len;

	if (!decode_move(u, c, i, &t->move) || !t->move.stores)
		return false;
	at = in->off + t->move.disp_at;
	t->reloc = t->move.disp_at && in->attr & INSN_RELOC ? reloc_in(u->object, c->section, at, at + 1) : NULL;
	t->disp = t->move.disp;
	if (t->reloc)
		t->disp = (int64_t)((uint64_t)t->reloc->addend + (t->reloc->pcrel ? end - t->reloc->off : 0));
	resolve_base(u, c, i, t);
	return true;
}

/* Is b the word after a, or the one after that? (A word for a shadow stack may be in between.) */
static bool
is_just_behind(const struct target *a, const struct target *b)
{
	uint64_t distance = (uint64_t)b->disp - (uint64_t)a->disp;

	return a->move.base == b->move.base && a->move.index == b->move.index && a->move.scale == b->move.scale &&
	       a->move.segment == b->move.segment && !a->reloc == !b->reloc && (!a->reloc || a->reloc->sym == b->reloc->sym) &&
	       (distance == 8 || distance == 16);
}

/* Does a register hold the stack pointer before instruction i? */
static bool
holds_sp(const struct unit *u, const struct code *c, uint32_t i, int8_t reg)
{
	uint32_t first = straight_from(c, i);
	struct move m;

	if (reg < 0 || (uint8_t)reg == u->machine->sp)
		return reg >= 0;
	while (i-- > first)
		if (writes(&c->insns.at[i], (uint8_t)reg))
			return decode_move(u, c, i, &m) && m.to == reg && m.from == (int8_t)u->machine->sp;
	return false;
}

/* The store of the address that instruction i mentions. */
static bool
address_store(const struct unit *u, const struct code *c, uint32_t i, struct target *t)
{
	uint32_t last = straight_to(c, i);
	uint16_t reg = c->insns.at[i].regs_kill;

	if (decode_store(u, c, i, t))
		return true;
	for (uint32_t k = i + 1; reg && k <= last; k++) {
		if (decode_store(u, c, k, t) && t->move.from >= 0 && reg >> t->move.from & 1)
			return true;
		if (c->insns.at[k].regs_kill & reg)
			return false;
	}
	return false;
}

static bool
value_of(const struct unit *u, const struct code *c, const struct insn *in, struct value *v)
{
	return u->machine->value(u->object->sections[c->section].data + in->off, in->len, v);
}

/* Adds the registers that may hold what one of `held` holds, because of the instruction. False: it may store one of them, or put it
 * elsewhere. */
static bool
spread(const struct unit *u, const struct code *c, const struct insn *in, uint16_t *held)
{
	struct value v;
	bool alone;

	if (!(in->regs_read & *held) || in->cls != CHORD_INSN_OTHER || in->attr & (INSN_PUSHES | INSN_NOP))
		return true;
	if (!value_of(u, c, in, &v) || v.given & *held)
		return false;
	if (!v.to)
		return in->flags_kill;
	alone = !(v.plus & (v.plus - 1));
	if (v.plus & *held &&
	    (v.how == VALUE_SAME || v.how == VALUE_EITHER || v.how == VALUE_MASKED || (v.how == VALUE_SUM && alone)))
		*held |= v.to;
	return v.how != VALUE_OTHER;
}

/* Adds the registers to which a procedure may copy what registers of the set hold. False: it may store it. */
static bool
spread_in(const struct unit *u, uint32_t proc, uint16_t *held)
{
	uint16_t old;

	do {
		old = *held;
		for (size_t t = 0; t < u->procs.at[proc].parts.n; t++) {
			const struct part *p = &u->procs.at[proc].parts.at[t];

			for (uint32_t k = p->first; k < p->last; k++)
				if (!spread(u, p->code, &p->code->insns.at[k], held))
					return false;
		}
	} while (*held != old);
	return true;
}

/* Does the procedure only jump to an address that it holds in a register of the set, so that no other code gets it? */
static bool
keeps_to_itself(const struct unit *u, uint32_t proc, uint16_t held)
{
	const struct proc_text *p = &u->procs.at[proc];
	bool jumps = false;

	for (size_t t = 0; t < p->parts.n; t++)
		for (uint32_t k = p->parts.at[t].first; k < p->parts.at[t].last; k++) {
			const struct code *c = p->parts.at[t].code;
			const struct insn *in = &c->insns.at[k];
			struct dest d = in->attr & INSN_REL ? dest_of(u, c, in) : (struct dest){0};
			bool jump = in->cls == CHORD_INSN_JUMP || in->cls == CHORD_INSN_BRANCH;
			uint32_t to, part;
			struct value v;

			if (in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL ||
			    (jump && (!d.section || !unit_find(u, d.section, d.off, &to, &part) || to != proc)))
				return false;
			if (in->cls == CHORD_INSN_IJUMP && (!value_of(u, c, in, &v) || !(v.led & held)))
				return false;
			jumps |= in->cls == CHORD_INSN_IJUMP;
		}
	return jumps;
}

/* What is known of an address that a procedure takes into registers. Thousands of instructions of a procedure may take one, so the
 * last answer is kept for each register. */
struct holding {
	uint32_t section, proc;  /* of the instruction */
	uint16_t taken, held;    /* the registers that it sets, and all that may hold the address */
	bool stays;              /* it does not get into memory */
	bool asked, kept;        /* keeps_to_itself() was asked, and what it said */
};

struct holding *
holdings_new(struct pool *pool)
{
	enum { REGS = 16 };

	return pool_array(pool, REGS, sizeof(struct holding));
}

/* taken: not 0. */
static struct holding *
holding_of(const struct unit *u, uint32_t section, uint32_t proc, uint16_t taken)
{
	struct holding *h = &u->holdings[__builtin_ctz(taken)];

	if (h->taken == taken && h->proc == proc && h->section == section)
		return h;
	*h = (struct holding){.section = section, .proc = proc, .taken = taken, .held = taken};
	h->stays = spread_in(u, proc, &h->held);
	return h;
}

/* May the address that instruction i takes, in its own procedure, get into memory? Not if it is added to something at once. Nothing
 * is known yet of the order of instructions. Registers that are pushed are those of the caller. *holding: what is known of an
 * address that may not get into memory; NULL: it is added to something. */
static bool
may_be_stored(const struct unit *u, const struct code *c, uint32_t i, struct holding **holding)
{
	const struct insn *in = &c->insns.at[i];
	uint32_t proc, part;
	struct value v;
	struct move m;

	*holding = NULL;
	if (value_of(u, c, in, &v) && v.to && v.how == VALUE_SUM && v.plus)
		return false;
	if (!in->regs_kill || in->cls != CHORD_INSN_OTHER || (decode_move(u, c, i, &m) && m.stores) ||
	    !unit_find(u, c->section, in->off, &proc, &part))
		return true;
	*holding = holding_of(u, c->section, proc, in->regs_kill);
	return !(*holding)->stays;
}

/* Does the procedure of instruction i keep the address that it takes? */
static bool
is_kept(const struct unit *u, const struct code *c, uint32_t i, uint32_t proc)
{
	struct holding *h;

	if (may_be_stored(u, c, i, &h))
		return false;
	if (!h)
		return keeps_to_itself(u, proc, c->insns.at[i].regs_kill);
	if (!h->asked)
		h->kept = keeps_to_itself(u, proc, h->held);
	h->asked = true;
	return h->kept;
}

/* What an address that is taken in text by hand is for. Whatever may get it may go on there. */
static uint8_t
mention_by_hand(const struct unit *u, const struct code *c, uint32_t i, uint32_t from, uint32_t to)
{
	return from == to && is_kept(u, c, i, from) ? LEADER_ADDRESS : LEADER_ADDRESS | LEADER_RECEIVE;
}

/* What an address that is taken in its own procedure is for. __builtin_setjmp stores the stack pointer in a word after it. */
static uint8_t
mention_at_home(const struct unit *u, const struct code *c, uint32_t i)
{
	uint32_t first = straight_from(c, i), last = straight_to(c, i);
	struct target t, other;
	bool stored = address_store(u, c, i, &t), near = false;
	struct holding *holding;
	struct move m;

	for (uint32_t k = first; k <= last; k++) {
		if (!decode_move(u, c, k, &m))
			continue;
		near |= m.from == (int8_t)u->machine->sp && m.to != (int8_t)u->machine->fp;
		if (stored && decode_store(u, c, k, &other) && holds_sp(u, c, k, other.move.from) && is_just_behind(&t, &other))
			return LEADER_RECEIVE;
	}
	return near && may_be_stored(u, c, i, &holding) ? LEADER_ADDRESS | LEADER_RECEIVE : LEADER_ADDRESS;
}

/* What an address that is taken in another procedure is for: a nested function jumps there, or only takes it. */
static uint8_t
mention_abroad(const struct unit *u, const struct code *c, uint32_t i)
{
	uint32_t last = straight_to(c, i), first = straight_from(c, last), proc, part;

	if (c->insns.at[last].cls == CHORD_INSN_IJUMP && stack_switch(u, c, first, last) != UINT32_MAX)
		return LEADER_RECEIVE;
	if (!unit_find(u, c->section, c->insns.at[i].off, &proc, &part))
		return LEADER_ADDRESS;
	for (uint32_t k = u->procs.at[proc].parts.at[part].first; k < u->procs.at[proc].parts.at[part].last; k++)
		if (c->insns.at[k].attr & INSN_SETS_SP)
			return LEADER_ADDRESS | LEADER_RECEIVE;
	return LEADER_ADDRESS;
}

uint8_t
nonlocal_mention(const struct unit *u, const struct code *c, uint32_t i, struct dest d)
{
	uint32_t from, to, part;

	if (!unit_find(u, c->section, c->insns.at[i].off, &from, &part) || !unit_find(u, d.section, d.off, &to, &part))
		return LEADER_ADDRESS;
	if (!u->text->compiler)
		return mention_by_hand(u, c, i, from, to);
	return from == to ? mention_at_home(u, c, i) : mention_abroad(u, c, i);
}
