/* SPDX-License-Identifier: MIT */
/* Bytes that the text does not identify as code or data. They are data if instructions read or write them, if they are text, if a
 * symbol says so, or if they cannot be code. They cannot be code if they would run into bytes that are no instruction, into the
 * middle of an instruction that something jumps to, or over the section's end. Otherwise they are not understood. */
#include "asm/asm.h"
#include "asm/dest.h"

#include <ctype.h>
#include <string.h>

enum use {
	USE_ADDRESS = 1, /* an instruction holds the address */
	USE_DATA = 2,    /* an instruction reads or writes these bytes, or a symbol has the type of data */
};

static const uint8_t *
bytes_of(const struct unit *u, const struct code *c)
{
	return u->object->sections[c->section].data;
}

/* ---- what instructions do with the addresses of code ---- */

static void
add_use(struct unit *u, struct dest d, uint8_t use)
{
	if (d.section)
		u->code[d.section]->use[d.off] |= use;
}

static void
find_use(struct unit *u, const struct code *c, const struct insn *in)
{
	struct facts facts;
	bool access = in->attr & INSN_MENTIONS && u->machine->facts(bytes_of(u, c) + in->off, in->len, &facts) &&
	              facts.loads + facts.stores;

	if (!(in->attr & INSN_REL) && in->attr & (INSN_MENTIONS | INSN_RELOC))
		add_use(u, dest_of(u, c, in), access ? USE_DATA : USE_ADDRESS);
}

static void
find_uses(struct unit *u)
{
	for (uint32_t i = 0; i < u->ncode; i++)
		if (u->code[i])
			u->code[i]->use = pool_array(u->pool, u->code[i]->nbyte + 1u, sizeof *u->code[i]->use);
	for (uint32_t i = 1; i < u->object->nsymbol; i++) {
		const struct obj_symbol *s = &u->object->symbols[i];

		if (s->object && s->section && u->code[s->section] && s->value < u->code[s->section]->nbyte)
			u->code[s->section]->use[s->value] |= USE_DATA;
	}
	for (uint32_t i = 0; i < u->ncode; i++)
		for (size_t k = 0; u->code[i] && k < u->code[i]->insns.n; k++)
			find_use(u, u->code[i], &u->code[i]->insns.at[k]);
}

/* ---- what bytes would be as code ---- */

/* Is there a place in (lo, hi) that something jumps to? */
static bool
is_split(const struct code *c, uint32_t lo, uint32_t hi)
{
	for (lo++; lo < hi && lo < c->nbyte; lo++)
		if (c->root[lo] || c->function[lo])
			return true;
	return false;
}

static bool
may_be_code(const struct unit *u, const struct code *c, uint32_t off)
{
	for (struct insn in; off < c->nbyte; off += in.len) {
		if (c->at[off] != UINT32_MAX)
			return true;
		if (!u->machine->decode(bytes_of(u, c) + off, c->nbyte - off, off, &in) || is_split(c, off, off + in.len))
			return false;
		if (!(in.attr & INSN_FALLS) || in.cls == CHORD_INSN_CALL || in.cls == CHORD_INSN_ICALL)
			return true;
	}
	return false;
}

static bool
is_padding(const struct unit *u, const struct code *c, uint32_t lo, uint32_t hi)
{
	for (struct insn in; lo < hi; lo += in.len)
		if (!u->machine->decode(bytes_of(u, c) + lo, c->nbyte - lo, lo, &in) ||
		    !(in.attr & INSN_NOP || in.cls == CHORD_INSN_SYSCALL || in.cls == CHORD_INSN_TRAP))
			return false;
	return true;
}

/* Is the place in the middle of an instruction? */
static bool
is_inside(const struct code *c, uint32_t off)
{
	for (uint32_t lo = off; lo-- > 0 && off - lo < 16;)
		if (c->at[lo] != UINT32_MAX)
			return lo + c->insns.at[c->at[lo]].len > off;
	return false;
}

/* ---- what the text says ---- */

static bool
is_one_of(struct str word, const char *const *names)
{
	while (*names && !word_is(word, *names))
		names++;
	return *names;
}

/* Is it a readable string? Nobody writes code in this way. */
static bool
is_text(const struct unit *u, const struct stmt *s)
{
	static const char *const words[] = {".ascii", ".asciz", ".string", NULL};
	struct str rest = stmt_rest(u->text, s);

	for (size_t i = 0; i < rest.n; i++) {
		if (rest.at[i] == '\\' && i + 1 < rest.n && !strchr("ntr0\"\\", rest.at[++i]))
			return false;
		if (!isprint((unsigned char)rest.at[i]) && rest.at[i] != '\t')
			return false;
	}
	return s->kind == STMT_DIRECTIVE && is_one_of(stmt_word(u->text, s), words);
}

/* Is it a number of several bytes? Code may be written so, but then nobody takes its address. */
static bool
is_table(const struct unit *u, const struct stmt *s)
{
	static const char *const words[] = {".quad", ".long", ".int", ".4byte", ".8byte", ".octa", ".float", ".single", ".double",
		".value", ".short", ".word", ".hword", ".2byte", NULL};

	return s->kind == STMT_DIRECTIVE && is_one_of(stmt_word(u->text, s), words);
}

/* ---- what the bytes are ---- */

static bool
jumps_indirectly(const struct unit *u, const struct code *c, uint32_t off)
{
	uint32_t proc, part;
	const struct part *p;

	if (!unit_find(u, c->section, off, &proc, &part))
		return false;
	for (part = 0; part < u->procs.at[proc].parts.n; part++) {
		p = &u->procs.at[proc].parts.at[part];
		for (uint32_t i = p->first; i < p->last; i++)
			if (p->code->insns.at[i].cls == CHORD_INSN_IJUMP)
				return true;
	}
	return false;
}

/* If somebody has the address of padding, an indirect jump leads through the padding, or the address is the end of something. */
static bool
is_passed(const struct unit *u, const struct code *c, uint32_t off)
{
	uint32_t to = off, proc, part, owner;

	while (to < c->nbyte && c->at[to] == UINT32_MAX)
		to++;
	return to < c->nbyte && unit_find(u, c->section, off, &proc, &part) && unit_find(u, c->section, to, &owner, &part) &&
	       proc == owner && jumps_indirectly(u, c, off);
}

static bool
is_unclear(struct unit *u, const struct code *c, const struct doubt *d)
{
	size_t n = code_stmts_to(u, c, d->off), i = n ? n - 1 : 0;
	const struct stmt *s = &u->text->stmts.at[c->stmts.at[i]];
	uint8_t use = c->use[d->off];

	if (c->at[d->off] != UINT32_MAX || use & USE_DATA || is_text(u, s) || !may_be_code(u, c, d->off))
		return false;
	if (is_inside(c, d->off))
		return jumps_indirectly(u, c, d->off);
	if (s->flags & STMT_PAD)
		return d->kind == DOUBT_TAKEN && is_passed(u, c, d->off);
	switch (d->kind) {
	case DOUBT_CALL:
		return !(use & USE_ADDRESS && is_table(u, s));
	case DOUBT_TAKEN:
		return !is_table(u, s) || jumps_indirectly(u, c, d->off);
	case DOUBT_MIXED:
		return !is_padding(u, c, d->off, i + 1 < c->stmts.n ? u->place[c->stmts.at[i + 1]].off : c->nbyte);
	default:
		return true;
	}
}

void
doubt_address_taken(struct unit *u, uint32_t section, uint32_t off)
{
	struct code *c = u->code[section];

	if (c->at[off] == UINT32_MAX && c->stmts.n && off >= u->place[c->stmts.at[0]].off)
		VEC_PUSH(c->doubts, ((struct doubt){off, DOUBT_TAKEN}));
}

void
doubts_settle(struct unit *u)
{
	bool any = false;

	for (uint32_t i = 0; i < u->ncode && !any; i++)
		any = u->code[i] && u->code[i]->doubts.n;
	if (any)
		find_uses(u);
	for (uint32_t i = 0; i < u->ncode; i++) {
		struct code *c = u->code[i];

		for (size_t k = 0; c && k < c->doubts.n; k++)
			if (is_unclear(u, c, &c->doubts.at[k]))
				VEC_PUSH(c->bad, ((struct bad){c->doubts.at[k].off, BAD_UNCLEAR}));
	}
}
