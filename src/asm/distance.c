/* SPDX-License-Identifier: MIT */
/* Distances that the text states as numbers of bytes: they are right only while nothing is woven in between. */
#include "asm/sum.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Is the statement a jump: a mnemonic and one operand? */
static bool
is_jump_text(const struct text *t, const struct stmt *st)
{
	struct str s = stmt_str(t, st);

	return st->kind == STMT_CODE && stmt_rest(t, st).n &&
	       (tolower((unsigned char)*s.at) == 'j' || (s.n > 4 && !strncasecmp(s.at, "loop", 4)));
}

/* Are the bytes before this statement, which begins inside the jump, prefixes? Without them it is the same jump. */
static bool
is_prefixed(const struct unit *u, const struct insn *in, uint32_t stmt)
{
	uint32_t off = u->place[stmt].off;
	const struct code *c = u->code[u->place[stmt].section];
	struct insn bare;

	return u->machine->decode(u->object->sections[c->section].data + off, c->nbyte - off, off, &bare) && bare.cls == in->cls &&
	       bare.off + bare.len == in->off + in->len && bare.attr & INSN_REL && bare.target == in->target;
}

uint32_t
jump_stmt(const struct unit *u, const struct insn *in)
{
	const struct text *t = u->text;
	uint32_t i = in->stmt;

	if (i == UINT32_MAX || is_jump_text(t, &t->stmts.at[i]))
		return i;
	while (i + 1 < t->stmts.n && u->place[i + 1].section == u->place[in->stmt].section && u->place[i + 1].off > in->off &&
	       u->place[i + 1].off < in->off + in->len)
		i++;
	return i != in->stmt && in->attr & INSN_REL && is_jump_text(t, &t->stmts.at[i]) && is_prefixed(u, in, i) ? i : UINT32_MAX;
}

bool
can_retarget(const struct unit *u, const struct insn *in)
{
	return jump_stmt(u, in) != UINT32_MAX;
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

/* A jump or call written as data has its distance as a number, which is right only while nothing is woven in between. */
static bool
is_written_as_bytes(const struct unit *u, const struct code *c, const struct insn *in)
{
	uint32_t stmt;

	if (!(in->attr & (INSN_REL | INSN_MENTIONS)) || in->attr & INSN_RELOC)
		return false;
	stmt = code_end_stmt(u, c, in);
	return stmt != UINT32_MAX &&
	       (u->text->stmts.at[stmt].kind == STMT_DIRECTIVE || u->text->stmts.at[stmt].flags & STMT_MIXED);
}

/* Is the place relocated? A number that the instruction holds besides may have a relocation of its own. */
static bool
is_relocated(const struct unit *u, const struct code *c, const struct insn *in)
{
	uint32_t at = in->off + in->pc_at;

	return in->attr & INSN_RELOC && (!(in->attr & INSN_MENTIONS) || reloc_in(u->object, c->section, at, at + 1));
}

/* Is the place in its section, or at its end? */
static bool
is_within(const struct code *c, const struct insn *in)
{
	return in->target <= c->nbyte;
}

/* The place that an instruction states without a relocation. Beyond its section it is the end of the section on that side. */
static struct dest
stated_dest(const struct code *c, const struct insn *in)
{
	uint32_t end = (int32_t)(in->target - in->off) < 0 ? 0 : c->nbyte;

	return (struct dest){c->section, is_within(c, in) ? in->target : end, false};
}

/* Is it a jump or lea to an instruction of its own procedure, whose operand the weaver replaces by a label? Such a label stands
 * before the first instruction of a statement. */
static bool
is_replaced(const struct unit *u, uint32_t number, const struct insn *in, struct dest d)
{
	const struct code *c = u->code[d.section];
	uint32_t i = d.off < c->nbyte ? c->at[d.off] : UINT32_MAX, proc, part;

	if (i == UINT32_MAX || !unit_find(u, d.section, d.off, &proc, &part) || proc != number ||
	    d.off >= u->procs.at[proc].parts.at[part].hi)
		return false;
	if (in->attr & INSN_REL)
		return in->cls != CHORD_INSN_CALL && can_retarget(u, in);
	return c->insns.at[i].stmt != UINT32_MAX && in->stmt != UINT32_MAX &&
	       stmt_pc_number(u->text, &u->text->stmts.at[in->stmt]) >= 0;
}

/* May the text add a number to something, or subtract one? */
static bool
may_add(struct str s)
{
	return memchr(s.at, '+', s.n) || memchr(s.at, '-', s.n);
}

/* Is the place just a label's? Most are, so this is asked first. An operand relative to the PC may be a number. */
static bool
is_label(const struct unit *u, const struct code *c, const struct insn *in, struct dest d)
{
	if (in->stmt == UINT32_MAX || !u->code[d.section]->labelled[d.off] ||
	    (in->attr & INSN_MENTIONS && !is_relocated(u, c, in)) || (in->attr & INSN_REL && !is_within(c, in)))
		return false;
	return u->text->stmts.at[in->stmt].kind == STMT_CODE && !may_add(stmt_str(u->text, &u->text->stmts.at[in->stmt]));
}

/* Of the places that the operands of a statement name in d's section, the one nearest to d. False: they name none there, or one is
 * subtracted. */
static bool
named_base(const struct unit *u, uint32_t stmt, struct dest d, uint32_t *base)
{
	bool any = false;
	struct mention m;

	for (size_t at = 0; mention_next(u, u->names, stmt, &at, &m);) {
		if (!m.dest.section && m.word.n > 1 && *m.word.at == '$')
			m.dest = mention_dest(u, u->names, (struct str){m.word.at + 1, m.word.n - 1}, stmt);
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

/* Is the place that an instruction states without a relocation a label that its statement hides, as in a macro? */
static bool
is_hidden_label(const struct unit *u, const struct code *c, const struct insn *in)
{
	uint32_t stmt = code_end_stmt(u, c, in);
	const struct stmt *s = stmt == UINT32_MAX ? NULL : &u->text->stmts.at[stmt];

	return is_within(c, in) && c->labelled[in->target] && (in->stmt == UINT32_MAX || (s && s->kind == STMT_OPAQUE)) &&
	       !(in->attr & INSN_MENTIONS && s && (s->flags & STMT_NUMBERS || text_number(stmt_rest(u->text, s))));
}

/* Is the place a distance in bytes that no label can keep right? Labels can keep it in jumps and lea, whose operand can be
 * replaced. */
static bool
counts_bytes(const struct unit *u, uint32_t number, const struct code *c, const struct insn *in)
{
	struct dest d = stated_dest(c, in);
	uint32_t base;

	if (is_replaced(u, number, in, d))
		return false;
	if (in->stmt != UINT32_MAX && has_distance(stmt_str(u->text, &u->text->stmts.at[in->stmt])))
		return true;
	if (in->attr & INSN_REL)
		return !is_within(c, in) || !c->labelled[in->target];
	return !is_hidden_label(u, c, in) &&
	       (in->stmt == UINT32_MAX || !named_base(u, in->stmt, d, &base));
}

enum distance
distance_of(const struct unit *u, uint32_t proc, const struct code *c, const struct insn *in)
{
	if (!(in->attr & (INSN_REL | INSN_MENTIONS)) || is_relocated(u, c, in))
		return DISTANCE_NONE;
	if (is_written_as_bytes(u, c, in))
		return DISTANCE_WRITTEN;
	return counts_bytes(u, proc, c, in) ? DISTANCE_COUNTED : DISTANCE_NONE;
}

/* ---- what lies between a place and a base from which its distance is stated ---- */

/* Does an instruction begin in [lo, hi)? */
static bool
has_insn(const struct code *c, uint32_t lo, uint32_t hi)
{
	while (lo < hi && c->at[lo] == UINT32_MAX)
		lo++;
	return lo < hi;
}

/* Is there nothing from lo to hi but what aligns hi? */
static bool
is_padded(const struct unit *u, const struct code *c, uint32_t lo, uint32_t hi)
{
	size_t i = 0;

	while (i < c->stmts.n && u->place[c->stmts.at[i]].off <= lo)
		i++;
	return i && u->text->stmts.at[c->stmts.at[i - 1]].flags & STMT_PAD && !has_insn(c, lo, hi) &&
	       (i == c->stmts.n || u->place[c->stmts.at[i]].off >= hi);
}

static void
refuse(struct unit *u, uint32_t proc, const char *by)
{
	if (!u->procs.at[proc].reason)
		u->procs.at[proc].reason = pool_printf(u->pool, "%s counts bytes across it", by);
}

/* May a jump get another length if its distance changes? The assembler chooses the shortest. Padding that gets shorter makes a
 * distance smaller. */
static bool
is_relaxed(const struct unit *u, const struct code *c, const struct insn *in)
{
	enum { SHORT = 2, REACH = 128 };
	uint32_t end = in->off + in->len, lo = in->target < end ? in->target : end, hi = in->target < end ? end : in->target;

	if ((in->attr & (INSN_REL | INSN_RELOC)) != INSN_REL || in->cls == CHORD_INSN_CALL || in->target > c->nbyte ||
	    is_written_as_bytes(u, c, in))
		return false;
	return in->len <= SHORT || hi - lo - pad_room(u, c, lo, hi) <= REACH;
}

struct span {
	uint32_t lo, hi;
	uint32_t behind;    /* as pad_start() has it */
};

/* Extends a span so that jumps from `from` to `to` lead to places in it. */
static void
extend(const struct unit *u, const struct code *c, struct span *s, uint32_t from, uint32_t to)
{
	for (; from < to; from++) {
		const struct insn *in = c->at[from] == UINT32_MAX ? NULL : &c->insns.at[c->at[from]];

		if (!in || !(in->attr & INSN_REL) || !is_relaxed(u, c, in))
			continue;
		s->lo = in->target < s->lo ? in->target : s->lo;
		s->hi = in->target > s->hi ? in->target : s->hi;
	}
}

bool
has_any_length(const struct text *t, const struct stmt *s)
{
	struct str word = stmt_word(t, s);

	return (word_is(word, ".uleb128") || word_is(word, ".sleb128")) && subtracts_name(stmt_rest(t, s));
}

/* Is there a number in [lo, hi) whose length depends on how far places are from each other? */
static bool
has_long_number(const struct unit *u, const struct code *c, uint32_t lo, uint32_t hi)
{
	for (size_t i = 0; i < c->stmts.n && u->place[c->stmts.at[i]].off < hi; i++)
		if (u->place[c->stmts.at[i]].off >= lo && has_any_length(u->text, &u->text->stmts.at[c->stmts.at[i]]))
			return true;
	return false;
}

/* The span in which nothing may be woven in if the number of bytes from lo to hi has to stay. */
static struct span
kept_span(const struct unit *u, const struct code *c, uint32_t lo, uint32_t hi)
{
	struct span s = {.hi = hi}, done = {.lo = hi, .hi = hi};

	s.lo = pad_start(u, c, lo, hi, &s.behind);
	while (s.lo != done.lo || s.hi != done.hi) {
		struct span now = s;

		extend(u, c, &s, now.lo, done.lo);
		extend(u, c, &s, done.hi, now.hi);
		done = now;
		s.lo = pad_start(u, c, s.lo, s.hi, &s.behind);
	}
	if (has_long_number(u, c, s.lo, s.hi))
		s = (struct span){.hi = c->nbyte};
	return s;
}

/* Refuses what lies from lo to hi, because nothing may be woven in there. The instruction at hi is refused, too, unless it begins a
 * part of a procedure. Woven code of the procedure that has padding at its end may stand behind that. */
static void
keep(struct unit *u, uint32_t section, uint32_t lo, uint32_t hi, const char *by)
{
	const struct code *c = u->code[section];
	struct span s = kept_span(u, c, lo, hi);
	uint32_t proc, part;
	size_t i;

	lo = s.behind < s.lo ? s.behind : s.lo;
	hi = s.hi;
	i = unit_range_after(c, lo);
	for (i -= i > 0; i < c->ranges.n && c->ranges.at[i].lo < hi; i++) {
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

struct user {
	struct unit *u;
	const struct code *code;
	const struct insn *insn;
	uint32_t proc;
};

/* Is it the origin of a table that is counted from 1, as in `lea table-8(%rip), %r14`? Then its table begins at `base`. It leads to
 * nothing that runs or is read: it is in the middle of an instruction before the table, or in padding there. */
static bool
is_origin(const struct unit *u, const struct insn *in, struct dest d, uint32_t base)
{
	enum { ELEMENT = 64 }; /* bytes of the largest element */
	const struct code *c = u->code[d.section];

	if (in->cls != CHORD_INSN_OTHER || d.off >= base || base - d.off > ELEMENT || base >= c->nbyte ||
	    c->at[base] != UINT32_MAX || c->at[d.off] != UINT32_MAX)
		return false;
	return unit_is_in_insn(u, d.section, d.off) || is_padded(u, c, d.off, base);
}

/* Handles an address that an instruction holds: a name and a number of bytes, or only the number. */
static void
keep_dest(const struct user *x, struct dest d)
{
	const struct insn *in = x->insn;
	const char *by = x->u->procs.at[x->proc].name;
	uint32_t base;

	if (!d.section || is_label(x->u, x->code, in, d))
		return;
	if (in->stmt != UINT32_MAX && named_base(x->u, in->stmt, d, &base)) {
		if (base != d.off && !is_replaced(x->u, x->proc, in, d) && !is_origin(x->u, in, d, base))
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
	if (in->attr & (INSN_REL | INSN_MENTIONS) && !is_relocated(x->u, x->code, in))
		keep_dest(x, stated_dest(x->code, in));
	for (; in->attr & INSN_RELOC && (r = reloc_in(x->u->object, x->code->section, at, end)); at = (uint32_t)r->off + 1)
		keep_dest(x, reloc_dest(x->u, r, end));
}

/* Handles a name that is defined as `.` and a number. If it is not clear where `.` is, the whole section is refused. */
static void
keep_of_definition(struct unit *u, uint32_t stmt, const char *by)
{
	const struct stmt *s = u->text->stmts.at + stmt, *end = u->text->stmts.at + u->text->stmts.n, *next = s + 1;
	bool assigns = s->kind == STMT_ASSIGN;
	struct mention m = {0};
	size_t at = 0;

	if (assigns)
		m.dest = mention_dest(u, u->names, stmt_word(u->text, s), stmt);
	else if (!mention_next(u, u->names, stmt, &at, &m))
		return;
	if (!m.dest.section)
		return;
	while (next < end && (next->kind == STMT_LABEL || next->kind == STMT_ASSIGN))
		next++;
	if (next < end && u->place[next - u->text->stmts.at].section == m.dest.section)
		keep_between(u, m.dest.section, u->place[next - u->text->stmts.at].off, m.dest.off, by);
	else
		keep(u, m.dest.section, 0, u->code[m.dest.section]->nbyte, by);
}

/* Handles data in code that hold `.` and a number: `.` is anywhere in the statement. */
static void
keep_of_dot(struct unit *u, uint32_t stmt, int64_t more, const char *by)
{
	uint32_t section = u->place[stmt].section, lo = u->place[stmt].off, hi;
	const struct code *c = section ? u->code[section] : NULL;
	int64_t first, last;

	if (defines_name(u->text, &u->text->stmts.at[stmt]))
		keep_of_definition(u, stmt, by);
	if (!c)
		return;
	for (hi = lo; hi < c->nbyte && c->at[hi] == UINT32_MAX; hi++)
		;
	first = more < 0 ? lo + more : lo;
	last = more > 0 ? hi + more : hi;
	keep(u, section, first < 0 ? 0 : (uint32_t)first, last > c->nbyte ? c->nbyte : (uint32_t)last, by);
}

/* Handles a place to which a number is added. Where that leads is not known: the whole section is refused. */
static void
keep_of_place(struct unit *u, uint32_t stmt, const struct sum *s, const struct sum_place *p, const char *by)
{
	uint32_t section = p->dot ? u->place[stmt].section : p->dest.section;
	int64_t from = p->dest.off, size = section && u->code[section] ? u->code[section]->nbyte : 0;

	if (!s->known && size)
		keep(u, section, 0, (uint32_t)size, by);
	else if (p->dot)
		keep_of_dot(u, stmt, s->number, by);
	else if (s->number >= -from && s->number <= size - from)
		keep_between(u, section, p->dest.off, (uint32_t)(from + s->number), by);
}

/* The largest number that data of this kind hold with a sign, if they have a byte or two; otherwise 0. */
static int64_t
largest_signed(struct str word)
{
	static const char *const words[] = {".value", ".short", ".word", ".hword", ".2byte", ".dc", ".dc.w"};

	if (word_is(word, ".byte") || word_is(word, ".dc.b"))
		return INT8_MAX;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (word_is(word, words[i]))
			return INT16_MAX;
	return 0;
}

/* Handles a distance in data of a byte or two. The assembler takes a number that needs the sign's bit without a word, as one
 * without a sign. So a distance is kept that may need that bit once code is woven in. */
static void
keep_sign(struct unit *u, uint32_t stmt, const struct sum *s, int64_t largest, const char *by)
{
	enum { GROWTH = 256 }; /* assumed: code gets no longer than so many times its length */
	struct place at[2];
	int64_t distance;

	if (s->nplace != 2 || !s->known || s->place[0].minus == s->place[1].minus)
		return;
	for (int i = 0; i < 2; i++)
		at[i] = s->place[i].dot ? u->place[stmt] : (struct place){s->place[i].dest.section, s->place[i].dest.off};
	if (!at[0].section || at[0].section != at[1].section || !u->code[at[0].section])
		return;
	distance = (s->place[0].minus ? (int64_t)at[1].off - at[0].off : (int64_t)at[0].off - at[1].off) + s->number;
	if (distance > largest / GROWTH && distance <= largest)
		keep_between(u, at[0].section, at[0].off, at[1].off, by);
}

/* Handles data that hold an address, and the definition of a name. */
static void
keep_of_data(struct unit *u, uint32_t stmt, const char *by)
{
	const struct stmt *t = &u->text->stmts.at[stmt];
	struct str rest = defines_name(u->text, t) ? definition_value(u->text, t) : stmt_rest(u->text, t), operand;

	while (operand_next(&rest, &operand)) {
		struct sum s = may_add(operand) ? sum_of(u, u->names, operand, stmt) : (struct sum){.known = true};

		keep_sign(u, stmt, &s, defines_name(u->text, t) ? 0 : largest_signed(stmt_word(u->text, t)), by);
		for (uint32_t i = 0; i < s.nplace && (s.number || !s.known); i++)
			if (!s.place[i].minus && (s.place[i].dot || s.place[i].dest.section))
				keep_of_place(u, stmt, &s, &s.place[i], by);
	}
}

/* ---- what the assembler decides by distances, and where it is told to relocate ---- */

/* The place of what a statement that makes no bytes stands before; section 0: it is not known. */
static struct place
place_before(const struct unit *u, uint32_t stmt)
{
	while (stmt < u->text->stmts.n && !u->place[stmt].section)
		stmt++;
	return stmt < u->text->stmts.n ? u->place[stmt] : (struct place){0};
}

static void
keep_section(struct unit *u, uint32_t section, const char *by)
{
	if (section && u->code[section])
		keep(u, section, 0, u->code[section]->nbyte, by);
}

/* What conditions of the assembler's depend on, and numbers in instructions. */
struct decisions {
	struct unit *u;
	const char *by;
	struct strmap seen;      /* names that the text defines, whose definitions are or were in `todo` */
	VEC(uint32_t) todo;      /* definitions to look at */
	bool *kept;              /* by section: it is refused already */
};

static void
keep_decided(struct decisions *d, uint32_t section)
{
	if (!section || d->kept[section])
		return;
	d->kept[section] = true;
	keep_section(d->u, section, d->by);
}

/* Adds the definitions of a name, unless it was seen before. */
static void
add_definitions(struct decisions *d, struct str name)
{
	const struct text *t = d->u->text;
	uint64_t at;

	if (!strmap_get(&d->u->names->defined, name, &at) || strmap_get(&d->seen, name, &(uint64_t){0}))
		return;
	strmap_put(&d->seen, name, 1);
	if (at != UINT32_MAX) {
		VEC_PUSH(d->todo, (uint32_t)at);
		return;
	}
	for (uint32_t i = 0; i < t->stmts.n; i++)
		if (defines_name(t, &t->stmts.at[i]) && str_eq(defined_name(t, &t->stmts.at[i]), name))
			VEC_PUSH(d->todo, i);
}

/* Refuses the sections of the places in an expression by which the assembler decides something. */
static void
keep_of_expression(struct decisions *d, struct str s, uint32_t stmt)
{
	for (size_t n; s.n; s = (struct str){s.at + n, s.n - n}) {
		struct str word;

		n = mention_end(s, false);
		word = (struct str){s.at, n};
		if (!n) {
			n = 1;
			continue;
		}
		if (str_is(word, "."))
			keep_decided(d, place_before(d->u, stmt).section);
		else
			keep_decided(d, mention_dest(d->u, d->u->names, word, stmt).section);
		add_definitions(d, word);
	}
}

/* The same. Names that the text defines stand for what they are defined as. */
static void
keep_of_decision(struct decisions *d, struct str s, uint32_t stmt)
{
	keep_of_expression(d, s, stmt);
	while (d->todo.n) {
		uint32_t at = d->todo.at[--d->todo.n];

		keep_of_expression(d, definition_value(d->u->text, &d->u->text->stmts.at[at]), at);
	}
}

/* Does a condition only make the assembler fail? If woven text fails by it, that is seen. */
static bool
is_assertion(const struct text *t, uint32_t stmt)
{
	return stmt + 2 < t->stmts.n && (word_is(stmt_word(t, &t->stmts.at[stmt + 1]), ".error") ||
	                                 word_is(stmt_word(t, &t->stmts.at[stmt + 1]), ".err")) &&
	       word_is(stmt_word(t, &t->stmts.at[stmt + 2]), ".endif");
}

static void
keep_of_decisions(struct decisions *d, uint32_t stmt)
{
	const struct unit *u = d->u;
	const struct stmt *s = &u->text->stmts.at[stmt];
	struct str rest = stmt_rest(u->text, s), word = stmt_word(u->text, s);
	char low[16];
	size_t n = 0;

	d->by = "a condition of the assembler's";
	if (s->flags & STMT_COUNTS)
		keep_decided(d, u->place[stmt].section);
	for (; n < word.n && n < sizeof low; n++)
		low[n] = (char)tolower((unsigned char)word.at[n]);
	if (!word_decides((struct str){low, n}) || is_assertion(u->text, stmt))
		return;
	for (n = 0; n < rest.n && rest.at[n] != '\n' && rest.at[n] != ';'; n++)
		;
	keep_of_decision(d, (struct str){rest.at, n}, stmt);
}

bool
subtracts_name(struct str s)
{
	const char *minus;

	for (; s.n && (minus = memchr(s.at, '-', s.n)); s = (struct str){minus + 1, s.n - (size_t)(minus + 1 - s.at)}) {
		size_t i = (size_t)(minus + 1 - s.at), digits = i;

		while (digits < s.n && isalnum((unsigned char)s.at[digits]))
			digits++;
		if (i == s.n || !isdigit((unsigned char)s.at[i]) || (digits > i && strchr("bf", s.at[digits - 1])))
			return true;
	}
	return false;
}

/* Handles instructions that have a number of bytes of code as a number, as in `movl $end-start, %ecx`, or a name that stands for
 * one; macros and the like, too, which may subtract places that they are given from each other or from their own. */
static void
keep_of_operands(struct decisions *d, uint32_t stmt)
{
	const struct unit *u = d->u;
	struct place at = u->place[stmt];
	struct dest first = {0};
	uint32_t lo = UINT32_MAX, hi = 0;
	const struct stmt *s = &u->text->stmts.at[stmt];
	bool subtracts = s->kind == STMT_OPAQUE ? s->flags & STMT_LENGTHS : subtracts_name(stmt_rest(u->text, s));
	struct mention m;

	if (!subtracts && !u->names->absolute.n)
		return;
	d->by = "a number in an instruction";
	for (size_t i = 0; mention_next(u, u->names, stmt, &i, &m);) {
		if (m.word.n > 1 && *m.word.at == '$')
			m.word = (struct str){m.word.at + 1, m.word.n - 1};
		if (strmap_get(&u->names->absolute, m.word, &(uint64_t){0}))
			keep_of_decision(d, m.word, stmt);
		m.dest = str_is(m.word, ".") ? (struct dest){at.section, at.off, false} : mention_dest(u, u->names, m.word, stmt);
		if (!m.dest.section || !u->code[m.dest.section] || (first.section && m.dest.section != first.section))
			continue;
		first = m.dest;
		lo = m.dest.off < lo ? m.dest.off : lo;
		hi = m.dest.off > hi ? m.dest.off : hi;
	}
	if (subtracts && lo == hi && s->kind == STMT_OPAQUE && first.section == at.section) {
		lo = at.off < lo ? at.off : lo;
		hi = at.off > hi ? at.off : hi;
	}
	if (subtracts && first.section && lo < hi)
		keep_between(d->u, first.section, lo, hi, d->by);
}

/* Handles `.reloc .+3, R_X86_64_PC32, name`: the place has to stay where it is from the place or the beginning from which it is
 * counted. */
static void
keep_of_reloc(struct unit *u, uint32_t stmt)
{
	static const char by[] = "a .reloc";
	struct str rest = stmt_rest(u->text, &u->text->stmts.at[stmt]), where = {0}, type = {0};
	struct place here = place_before(u, stmt);
	struct sum s;

	operand_next(&rest, &where);
	operand_next(&rest, &type);
	if (memmem(type.at, type.n, "NONE", 4) || !here.section || !u->code[here.section])
		return;
	s = sum_of(u, u->names, where, stmt);
	if (!s.known || s.nplace > 1 || (s.nplace && !s.place[0].dot && s.place[0].dest.section != here.section)) {
		keep_section(u, here.section, by);
		return;
	}
	if (s.nplace)
		here.off = s.place[0].dot ? here.off : s.place[0].dest.off;
	else
		here.off = 0;
	if (s.number < -(int64_t)here.off || s.number > (int64_t)u->code[here.section]->nbyte - here.off)
		keep_section(u, here.section, by);
	else
		keep_between(u, here.section, here.off, (uint32_t)(here.off + s.number), by);
}

/* Handles data that the text does not show, in a section: an address of a place that has no label is a name and a number. If the
 * relocation does not have the name, that may be any. */
static void
keep_of_made(struct unit *u, uint32_t section)
{
	const struct obj_section *s = &u->object->sections[section];

	for (uint32_t i = 0; i < s->nreloc; i++) {
		const struct obj_reloc *r = &u->object->relocs[s->reloc + i];
		const struct obj_symbol *sym = &u->object->symbols[r->sym < u->object->nsymbol ? r->sym : 0];
		uint64_t off = sym->value + (uint64_t)r->addend;

		if (!r->pcrel && sym->section && u->code[sym->section] && off <= u->code[sym->section]->nbyte &&
		    !u->code[sym->section]->labelled[off] && !unit_is_in_insn(u, section, r->off))
			keep_between(u, sym->section, sym->is_section ? 0 : (uint32_t)sym->value, (uint32_t)off,
			             "an address in data");
	}
}

void
distances_keep(struct unit *u)
{
	struct decisions d = {.u = u, .kept = pool_array(u->pool, u->object->nsection + 1u, sizeof *d.kept)};

	for (uint32_t i = 1; unit_makes_data(u) && i < u->object->nsection; i++)
		if (u->object->sections[i].alloc && strcmp(u->object->sections[i].name, ".eh_frame"))
			keep_of_made(u, i);
	for (uint32_t i = 0; i < u->ncode; i++)
		for (size_t k = 0; u->code[i] && k < u->code[i]->insns.n; k++)
			keep_of_insn(&(struct user){.u = u, .code = u->code[i], .insn = &u->code[i]->insns.at[k]});
	for (uint32_t i = 0; i < u->text->stmts.n; i++) {
		const struct stmt *s = &u->text->stmts.at[i];

		if (s->kind == STMT_DIRECTIVE && word_is(stmt_word(u->text, s), ".reloc"))
			keep_of_reloc(u, i);
		else if (s->kind == STMT_DIRECTIVE || s->kind == STMT_OPAQUE)
			keep_of_decisions(&d, i);
		if (s->kind == STMT_CODE || s->kind == STMT_OPAQUE)
			keep_of_operands(&d, i);
		if ((s->kind != STMT_DIRECTIVE && s->kind != STMT_ASSIGN) || !may_add(stmt_str(u->text, s)))
			continue;
		if (defines_name(u->text, s))
			keep_of_data(u, i, "the definition of a name");
		else if (!(s->flags & STMT_META) && holds_addresses(stmt_word(u->text, s)))
			keep_of_data(u, i, "an address in data");
	}
	strmap_free(&d.seen);
	free(d.todo.at);
}
