/* SPDX-License-Identifier: MIT */
/* Distances that the text states as numbers of bytes: they are right only while nothing is woven in between. */
#include "asm/mention.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is the jump a statement of its own: a mnemonic and one operand? */
bool
can_retarget(const struct unit *u, const struct insn *in)
{
	const struct text *t = u->text;

	return in->stmt != UINT32_MAX && t->stmts.at[in->stmt].kind == STMT_CODE &&
	       *stmt_str(t, &t->stmts.at[in->stmt]).at == 'j' && stmt_rest(t, &t->stmts.at[in->stmt]).n;
}

/* Does the text have a `.` by itself, as in `.+5`? */
static bool
has_distance(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		bool before = i && (isalnum((unsigned char)s.at[i - 1]) || strchr("_.$@\"", s.at[i - 1]));
		bool after = i + 1 < s.n && (isalnum((unsigned char)s.at[i + 1]) || strchr("_.$@\"", s.at[i + 1]));

		if (s.at[i] == '.' && !before && !after)
			return true;
	}
	return false;
}

/* What stands after the mnemonic and its prefixes. */
static struct str
operands(const struct text *t, uint32_t stmt)
{
	struct stmt s = t->stmts.at[stmt];
	struct str rest = stmt_rest(t, &s);

	while (rest.n && t->machine->is_prefix(stmt_word(t, &s))) {
		s.at = (uint32_t)(rest.at - t->at);
		s.len = (uint32_t)rest.n;
		rest = stmt_rest(t, &s);
	}
	return rest;
}

static bool
is_blank_at(struct str s, size_t at)
{
	return s.at[at] == ' ' || s.at[at] == '\t';
}

/* Does the statement have a number of bytes to skip, counted from the next instruction? No number means 0. Blanks may stand before
 * the register. */
static bool
has_pc_number(const struct text *t, uint32_t stmt)
{
	struct str s = operands(t, stmt);
	const char *at = memmem(s.at, s.n, t->machine->pc, strlen(t->machine->pc));
	size_t end = at ? (size_t)(at - s.at) : 0, i;

	while (end && is_blank_at(s, end - 1))
		end--;
	for (i = end; i && !strchr(" \t,*", s.at[i - 1]);)
		i--;
	return at && text_number((struct str){s.at + i, end - i}) == end - i;
}

/* The statement in which an instruction's bytes end, or UINT32_MAX if there is none. A prefix may be a statement of its own. */
static uint32_t
stmt_of_end(const struct unit *u, const struct code *c, const struct insn *in)
{
	size_t lo = 0, hi = c->stmts.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (u->place[c->stmts.at[mid]].off < in->off + in->len)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo && u->text->stmts.at[c->stmts.at[lo - 1]].kind == STMT_LABEL)
		lo--;
	return lo ? c->stmts.at[lo - 1] : UINT32_MAX;
}

/* A jump or call written as data has its distance as a number, which is right only while nothing is woven in between. */
static bool
is_written_as_bytes(const struct unit *u, const struct code *c, const struct insn *in)
{
	uint32_t stmt;

	if (!(in->attr & (INSN_REL | INSN_MENTIONS)) || in->attr & INSN_RELOC)
		return false;
	stmt = stmt_of_end(u, c, in);
	return stmt != UINT32_MAX &&
	       (u->text->stmts.at[stmt].kind == STMT_DIRECTIVE || u->text->stmts.at[stmt].flags & STMT_MIXED);
}

/* Is it a jump or lea whose operand the weaver replaces by a label? */
static bool
is_replaced(const struct unit *u, const struct insn *in)
{
	if (in->attr & INSN_REL)
		return in->cls != CHORD_INSN_CALL && can_retarget(u, in);
	return in->stmt != UINT32_MAX && stmt_pc_number(u->text, &u->text->stmts.at[in->stmt]) >= 0;
}

/* Is the place a distance in bytes that no label can keep right? Labels can keep it in jumps and lea, whose operand can be
 * replaced. */
static bool
counts_bytes(const struct unit *u, uint32_t number, const struct code *c, const struct insn *in)
{
	struct dest d = dest_of(u, c, in);
	uint32_t proc, part;

	if (!d.section || !unit_find(u, d.section, d.off, &proc, &part))
		return false;
	if (u->code[d.section]->at[d.off] == UINT32_MAX)
		return in->stmt != UINT32_MAX && has_pc_number(u->text, in->stmt);
	if (proc == number && is_replaced(u, in))
		return false;
	if (in->stmt != UINT32_MAX && has_distance(stmt_str(u->text, &u->text->stmts.at[in->stmt])))
		return true;
	return !u->code[d.section]->labelled[d.off];
}

enum distance
distance_of(const struct unit *u, uint32_t proc, const struct code *c, const struct insn *in)
{
	if (!(in->attr & (INSN_REL | INSN_MENTIONS)) || in->attr & INSN_RELOC)
		return DISTANCE_NONE;
	if (is_written_as_bytes(u, c, in))
		return DISTANCE_WRITTEN;
	return counts_bytes(u, proc, c, in) ? DISTANCE_COUNTED : DISTANCE_NONE;
}

/* ---- what lies between a place and a base from which its distance is stated ---- */

/* The offset from which on nothing may be woven in: the length of padding in between depends on all code before it. */
static uint32_t
moved_by_padding(const struct unit *u, const struct code *c, uint32_t lo, uint32_t hi)
{
	for (size_t i = 0; i < c->stmts.n; i++) {
		uint32_t off = u->place[c->stmts.at[i]].off;

		if (off > hi)
			break;
		if (off > lo && u->text->stmts.at[c->stmts.at[i]].flags & STMT_PAD)
			return 0;
	}
	return lo;
}

/* Does an instruction begin in [lo, hi)? */
static bool
has_insn(const struct code *c, uint32_t lo, uint32_t hi)
{
	while (lo < hi && c->at[lo] == UINT32_MAX)
		lo++;
	return lo < hi;
}

static void
refuse(struct unit *u, uint32_t proc, const char *by)
{
	if (!u->procs.at[proc].reason)
		u->procs.at[proc].reason = pool_printf(u->pool, "%s counts bytes across it", by);
}

/* Refuses what lies from lo to hi, because nothing may be woven in there. The instruction at hi is refused, too, unless it begins a
 * part of a procedure. */
static void
keep(struct unit *u, uint32_t section, uint32_t lo, uint32_t hi, const char *by)
{
	const struct code *c = u->code[section];
	uint32_t proc, part;

	lo = moved_by_padding(u, c, lo, hi);
	for (size_t i = 0; i < c->ranges.n && c->ranges.at[i].lo < hi; i++) {
		uint32_t end = i + 1 < c->ranges.n ? c->ranges.at[i + 1].lo : c->nbyte;
		uint32_t from = c->ranges.at[i].lo;

		if (!u->procs.at[c->ranges.at[i].proc].reason && has_insn(c, from > lo ? from : lo, end < hi ? end : hi))
			refuse(u, c->ranges.at[i].proc, by);
	}
	if (hi < c->nbyte && c->at[hi] != UINT32_MAX && unit_find(u, section, hi, &proc, &part) &&
	    u->procs.at[proc].parts.at[part].lo != hi)
		refuse(u, proc, by);
}

static void
keep_between(struct unit *u, uint32_t section, uint32_t a, uint32_t b, const char *by)
{
	keep(u, section, a < b ? a : b, a < b ? b : a, by);
}

/* Of the places that the operands of a statement name in d's section, the one nearest to d. False: they name none there, or one is
 * subtracted. */
static bool
named_base(const struct unit *u, const struct names *n, uint32_t stmt, struct dest d, uint32_t *base)
{
	bool any = false;
	struct mention m;

	for (size_t at = 0; mention_next(u, n, stmt, &at, &m);) {
		if (!m.dest.section && m.word.n > 1 && *m.word.at == '$')
			m.dest = mention_dest(u, n, (struct str){m.word.at + 1, m.word.n - 1}, stmt);
		if (m.dest.section != d.section)
			continue;
		if (m.minus)
			return false;
		if (!any || llabs((long long)m.dest.off - d.off) < llabs((long long)*base - d.off))
			*base = m.dest.off;
		any = true;
	}
	return any;
}

/* Names are read only when they are needed: most texts do not need them. */
struct lazy_names {
	struct names names;
	bool read;
};

static const struct names *
names_of(const struct unit *u, struct lazy_names *l)
{
	if (!l->read)
		names_read(&l->names, u);
	l->read = true;
	return &l->names;
}

struct user {
	struct unit *u;
	struct lazy_names *names;
	const struct code *code;
	const struct insn *insn;
	uint32_t proc;
};

/* May the text add a number to something, or subtract one? */
static bool
may_add(struct str s)
{
	return memchr(s.at, '+', s.n) || memchr(s.at, '-', s.n);
}

/* Is the address just a label's? Most are, so this is asked first. */
static bool
is_label(const struct user *x, struct dest d)
{
	struct str s;

	if (x->insn->stmt == UINT32_MAX || !x->u->code[d.section]->labelled[d.off])
		return false;
	s = stmt_str(x->u->text, &x->u->text->stmts.at[x->insn->stmt]);
	return x->u->text->stmts.at[x->insn->stmt].kind == STMT_CODE && !may_add(s);
}

/* Handles an address that an instruction holds: a name and a number of bytes, or only the number. */
static void
keep_dest(const struct user *x, struct dest d)
{
	const struct insn *in = x->insn;
	const char *by = x->u->procs.at[x->proc].name;
	uint32_t base, proc, part;

	if (!d.section || is_label(x, d) || !unit_find(x->u, d.section, d.off, &proc, &part))
		return;
	if (in->stmt != UINT32_MAX && named_base(x->u, names_of(x->u, x->names), in->stmt, d, &base)) {
		if (base != d.off && !(proc == x->proc && is_replaced(x->u, in)))
			keep_between(x->u, d.section, base, d.off, by);
	} else if (distance_of(x->u, x->proc, x->code, in) != DISTANCE_NONE) {
		keep_between(x->u, d.section, d.off < in->off ? in->off + in->len : in->off, d.off, by);
	}
}

static void
keep_of_insn(struct user *x)
{
	const struct insn *in = x->insn;
	uint32_t at = in->off, end = in->off + in->len, part;
	const struct obj_reloc *r;

	if (!(in->attr & (INSN_REL | INSN_MENTIONS | INSN_RELOC)) ||
	    !unit_find(x->u, x->code->section, in->off, &x->proc, &part))
		return;
	if (!(in->attr & INSN_RELOC)) {
		keep_dest(x, dest_of(x->u, x->code, in));
		return;
	}
	for (; (r = reloc_in(x->u->object, x->code->section, at, end)); at = (uint32_t)r->off + 1)
		keep_dest(x, reloc_dest(x->u, r, end));
}

/* The number of bytes that is added to a name: it stands after the name. */
static int64_t
added_to(struct str all, struct str word)
{
	size_t i = (size_t)(word.at + word.n - all.at), n;
	char sign, digits[32];

	while (i < all.n && (all.at[i] == ' ' || all.at[i] == '\t'))
		i++;
	if (i == all.n || (all.at[i] != '+' && all.at[i] != '-'))
		return 0;
	sign = all.at[i++];
	while (i < all.n && (all.at[i] == ' ' || all.at[i] == '\t'))
		i++;
	n = text_number((struct str){all.at + i, all.n - i});
	if (!n)
		return 0;
	snprintf(digits, sizeof digits, "%.*s", (int)n, all.at + i);
	return strtoll(digits, NULL, 0) * (sign == '-' ? -1 : 1);
}

/* Does a number, or a blank, follow a sign anywhere? */
static bool
adds_number(struct str s)
{
	for (size_t i = 0; i + 1 < s.n; i++)
		if ((s.at[i] == '+' || s.at[i] == '-') &&
		    (isdigit((unsigned char)s.at[i + 1]) || isblank((unsigned char)s.at[i + 1])))
			return true;
	return false;
}

/* Handles data that hold an address, and the definition of a name. */
static void
keep_of_data(struct unit *u, struct lazy_names *n, uint32_t stmt, const char *by)
{
	struct str all = stmt_rest(u->text, &u->text->stmts.at[stmt]);
	struct mention m;

	if (!adds_number(all))
		return;
	for (size_t at = 0; mention_next(u, names_of(u, n), stmt, &at, &m);) {
		int64_t more = m.minus || !m.dest.section ? 0 : added_to(all, m.word);
		int64_t from = (int64_t)m.dest.off;

		if (more && more >= -from && more <= (int64_t)u->code[m.dest.section]->nbyte - from)
			keep_between(u, m.dest.section, m.dest.off, (uint32_t)(from + more), by);
	}
}

static bool
defines_name(const struct text *t, const struct stmt *s)
{
	struct str word = stmt_word(t, s);

	return s->kind == STMT_ASSIGN || str_is(word, ".set") || str_is(word, ".equ") || str_is(word, ".equiv") ||
	       str_is(word, ".eqv");
}

void
distances_keep(struct unit *u)
{
	struct lazy_names names = {0};

	for (uint32_t i = 0; i < u->ncode; i++)
		for (size_t k = 0; u->code[i] && k < u->code[i]->insns.n; k++)
			keep_of_insn(&(struct user){.u = u, .names = &names, .code = u->code[i], .insn = &u->code[i]->insns.at[k]});
	for (uint32_t i = 0; i < u->text->stmts.n; i++) {
		const struct stmt *s = &u->text->stmts.at[i];

		if ((s->kind != STMT_DIRECTIVE && s->kind != STMT_ASSIGN) || !may_add(stmt_str(u->text, s)))
			continue;
		if (defines_name(u->text, s))
			keep_of_data(u, &names, i, "the definition of a name");
		else if (!(s->flags & STMT_META) && holds_addresses(stmt_word(u->text, s)))
			keep_of_data(u, &names, i, "an address in data");
	}
	names_free(&names.names);
}
