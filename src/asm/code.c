/* SPDX-License-Identifier: MIT */
/* Decodes the instructions of every section from the bytes that the assembler made of the labelled text. Statements say where
 * instructions begin. Data and padding are decoded only where control can reach them: from the code before them, or by a jump,
 * which may be decoded later. So everything is decoded again until no jump leads to bytes that were treated as data. Bytes that
 * remain in doubt are noted, and doubts_settle() refuses them. */
#include "asm/asm.h"
#include "asm/dest.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* MOST_LEN: no instruction is longer. */
enum { PASSES = 32, MOST_LEN = 15 };

static const uint8_t *
bytes_of(const struct unit *u, const struct code *c)
{
	return u->object->sections[c->section].data;
}

static const struct stmt *
stmt_of(const struct unit *u, const struct code *c, size_t i)
{
	return &u->text->stmts.at[c->stmts.at[i]];
}

static uint32_t
range_end(const struct unit *u, const struct code *c, size_t i)
{
	return i + 1 < c->stmts.n ? u->place[c->stmts.at[i + 1]].off : c->nbyte;
}

static void
add_root(struct unit *u, uint32_t section, uint32_t off)
{
	struct code *c = section < u->ncode ? u->code[section] : NULL;

	if (!c || off >= c->nbyte || c->root[off])
		return;
	c->root[off] = true;
	VEC_PUSH(c->fresh, off);
}

/* A jump by a number of bytes leads to code: notes the target for the next time that its section is decoded. */
static void
follow(struct unit *u, struct code *c, const struct insn *in)
{
	if (in->attr & INSN_REL && !reloc_in(u->object, c->section, in->off, in->off + in->len))
		add_root(u, c->section, in->target);
}

/* Decodes [lo, hi); the last instruction may reach beyond. Returns where it stopped. */
static uint32_t
decode_range(struct unit *u, struct code *c, uint32_t lo, uint32_t hi)
{
	while (lo < hi) {
		struct insn in;

		if (!u->machine->decode(bytes_of(u, c) + lo, c->nbyte - lo, lo, &in)) {
			VEC_PUSH(c->bad, ((struct bad){lo, BAD_BYTES}));
			return hi;
		}
		c->at[lo] = (uint32_t)c->insns.n;
		VEC_PUSH(c->insns, in);
		follow(u, c, &in);
		lo += in.len;
	}
	return lo;
}

static bool
is_one_of(struct str word, const char *const *names)
{
	while (*names && !word_is(word, *names))
		names++;
	return *names;
}

/* Does a call go past data, from the i-th statement on, to the code after the data? */
static bool
goes_past(const struct unit *u, const struct code *c, size_t i, const struct insn *call)
{
	if (call->cls != CHORD_INSN_CALL || call->target >= c->nbyte || call->target <= u->place[c->stmts.at[i]].off)
		return false;
	while (i < c->stmts.n && u->place[c->stmts.at[i]].off < call->target)
		if (stmt_of(u, c, i++)->kind == STMT_CODE)
			return false;
	return true;
}

/* May the bytes after a call or trap be data, so that the call does not return? They may if they are text, large numbers, or data
 * that a call goes past; in text by hand also if they have a name. */
static bool
may_be_data(const struct unit *u, const struct code *c, size_t i, const struct insn *stop)
{
	static const char *const text[] = {".ascii", ".asciz", ".string", NULL};
	static const char *const table[] = {".quad", ".long", ".int", ".4byte", ".8byte", ".octa", ".float", ".single", ".double",
		NULL};
	const struct stmt *s = stmt_of(u, c, i);
	struct str word = stmt_word(u->text, s);

	if (s->flags & STMT_PAD)
		return false;
	return is_one_of(word, text) || is_one_of(word, table) || goes_past(u, c, i, stop) ||
	       (c->labelled[u->place[c->stmts.at[i]].off] && !u->text->compiler);
}

static bool
is_call(const struct insn *in)
{
	return in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL;
}

/* The call or trap at the end of what has been decoded, not counting nops after it; or NULL. */
static struct insn *
stops_perhaps(struct code *c)
{
	for (size_t i = c->insns.n; i-- > 0;) {
		struct insn *in = &c->insns.at[i];

		if (is_call(in) || in->cls == CHORD_INSN_SYSCALL)
			return in;
		if (!(in->attr & INSN_NOP))
			return NULL;
	}
	return NULL;
}

static bool
is_root(const struct code *c, uint32_t off)
{
	return c->root[off] || c->function[off];
}

/* Decodes bytes from the first place in them that something jumps to. Returns where decoding stopped, 0 if nothing has been
 * decoded. */
static uint32_t
decode_inside(struct unit *u, struct code *c, uint32_t lo, uint32_t hi)
{
	while (lo < hi && !is_root(c, lo))
		lo++;
	return lo < hi ? decode_range(u, c, lo, hi) : 0;
}

/* Notes that the call before the n-th instruction does not return, and takes back what was decoded after it. */
static void
take_back(struct code *c, size_t n, size_t nbad)
{
	while (c->insns.n > n)
		c->at[c->insns.at[--c->insns.n].off] = UINT32_MAX;
	c->bad.n = nbad;
	c->insns.at[n - 1].attr &= (uint16_t)~INSN_FALLS;
}

/* Handles data and padding that control falls into. If the bytes after a call cannot be code, the call is assumed not to return.
 * Returns where decoding stopped, 0 if nothing has been decoded. */
static uint32_t
decode_fallen(struct unit *u, struct code *c, size_t i, uint32_t lo, uint32_t hi)
{
	struct insn *stop = stops_perhaps(c);
	size_t n = c->insns.n, nbad = c->bad.n;
	uint32_t end;

	if (stop && may_be_data(u, c, i, stop)) {
		stop->attr &= (uint16_t)~INSN_FALLS;
		VEC_PUSH(c->doubts, ((struct doubt){lo, DOUBT_CALL}));
		return decode_inside(u, c, lo, hi);
	}
	end = decode_range(u, c, lo, hi);
	if (c->bad.n > nbad && n && is_call(&c->insns.at[n - 1])) {
		take_back(c, n, nbad);
		return decode_inside(u, c, lo, hi);
	}
	return end;
}

/* Does the statement consist of instructions only, one or many? */
static bool
is_instruction(const struct stmt *s)
{
	return s->kind == STMT_CODE || (s->kind == STMT_OPAQUE && !(s->flags & STMT_MIXED));
}

/* Compilers put labels of their own only before code. That code may begin with bytes from inline assembly. */
static bool
is_led_by_compiler(const struct unit *u, uint32_t stmt)
{
	const struct stmt *s = &u->text->stmts.at[stmt];

	if (!u->text->compiler || !(s->flags & STMT_INLINE))
		return false;
	while (stmt--) {
		struct str word;

		s = &u->text->stmts.at[stmt];
		word = stmt_word(u->text, s);
		if (s->kind == STMT_LABEL)
			return !(s->flags & STMT_INLINE);
		if (!word_is(word, ".loc") && !str_starts(word, ".cfi_"))
			return false;
	}
	return false;
}

/* Can control reach the i-th statement? Any instruction that has a label may be jumped to. */
static enum reach
reach_of(const struct unit *u, const struct code *c, size_t i, uint32_t lo)
{
	if (is_root(c, lo) || c->falls == REACH_SURE)
		return REACH_SURE;
	if (is_instruction(stmt_of(u, c, i)))
		return c->labelled[lo] || !c->insns.n ? REACH_SURE : REACH_PERHAPS;
	return is_led_by_compiler(u, c->stmts.at[i]) ? REACH_SURE : c->falls;
}

static bool
is_nops(const struct unit *u, const struct code *c, uint32_t lo, uint32_t hi)
{
	struct insn in;

	for (; lo < hi; lo += in.len)
		if (!u->machine->decode(bytes_of(u, c) + lo, c->nbyte - lo, lo, &in) || !(in.attr & INSN_NOP))
			return false;
	return lo == hi;
}

/* Does a jump at the beginning of the i-th statement lead over data, and nothing else, to the code right behind them? */
static bool
leads_over_data(const struct unit *u, const struct code *c, size_t i, const struct insn *in)
{
	if (in->cls != CHORD_INSN_JUMP || !(in->attr & INSN_REL) || reloc_in(u->object, c->section, in->off, in->off + in->len) ||
	    in->target < in->off + in->len || in->target - in->off > MOST_LEN || in->target >= c->nbyte)
		return false;
	for (uint32_t off = in->off + 1; off < in->target; off++)
		if (c->labelled[off] || is_root(c, off))
			return false;
	while (i < c->stmts.n && u->place[c->stmts.at[i]].off < in->target)
		if (is_instruction(stmt_of(u, c, i)) || has_any_length(u->text, stmt_of(u, c, i)) ||
		    stmt_of(u, c, i++)->flags & STMT_PAD)
			return false;
	return i < c->stmts.n && u->place[c->stmts.at[i]].off == in->target;
}

/* A jump over data, and the data, are one instruction that does nothing: nothing may be woven in between. clang's
 * -fsanitize=function begins functions so, and looks for these bytes where a function begins. Returns where that ends, 0 if it is
 * something else. */
static uint32_t
decode_over_data(struct unit *u, struct code *c, size_t i, uint32_t lo)
{
	struct insn in;

	if (!u->machine->decode(bytes_of(u, c) + lo, c->nbyte - lo, lo, &in) || !leads_over_data(u, c, i, &in))
		return 0;
	c->at[lo] = (uint32_t)c->insns.n;
	VEC_PUSH(c->insns, ((struct insn){.off = lo, .stmt = UINT32_MAX, .len = (uint8_t)(in.target - lo), .cls = CHORD_INSN_OTHER,
		.attr = INSN_FALLS | INSN_FIRST}));
	return in.target;
}

/* Handles a statement that may be data, or padding. Returns where decoding stopped, 0 if nothing has been decoded. */
static uint32_t
decode_data(struct unit *u, struct code *c, size_t i, uint32_t lo, uint32_t hi, enum reach *reach)
{
	uint32_t end = *reach == REACH_SURE ? decode_over_data(u, c, i, lo) : 0;

	if (end)
		return end;
	if (*reach == REACH_SURE && !is_root(c, lo) && c->falls == REACH_SURE)
		return decode_fallen(u, c, i, lo, hi);
	if (*reach == REACH_SURE || (*reach == REACH_PERHAPS && is_nops(u, c, lo, hi)))
		return decode_range(u, c, lo, hi);
	end = decode_inside(u, c, lo, hi);
	if (end)
		*reach = REACH_SURE;
	else if (*reach == REACH_PERHAPS || stmt_of(u, c, i)->flags & STMT_MIXED)
		VEC_PUSH(c->doubts, ((struct doubt){lo, *reach == REACH_PERHAPS ? DOUBT_DEAD : DOUBT_MIXED}));
	return end;
}

/* Handles one statement that makes bytes. Returns where decoding stopped, 0 if nothing has been decoded. */
static uint32_t
decode_stmt(struct unit *u, struct code *c, size_t i, uint32_t lo, uint32_t hi)
{
	const struct stmt *s = stmt_of(u, c, i);
	enum reach reach = reach_of(u, c, i, lo);
	const struct insn *last;
	uint32_t end;

	if (s->kind == STMT_DIRECTIVE && !(s->flags & STMT_BYTES))
		return 0;
	/* Padding that a macro makes. */
	if (s->kind == STMT_OPAQUE && reach == REACH_PERHAPS && c->falls == REACH_NONE && is_nops(u, c, lo, hi))
		return 0;
	if (is_instruction(s))
		end = decode_range(u, c, lo, hi);
	else
		end = decode_data(u, c, i, lo, hi, &reach);
	last = end && c->insns.n ? &c->insns.at[c->insns.n - 1] : NULL;
	c->falls = last && last->attr & INSN_FALLS ? (uint8_t)reach : REACH_NONE;
	/* An int3 after a return is padding. */
	if (reach == REACH_PERHAPS && last && last->cls == CHORD_INSN_SYSCALL)
		c->falls = REACH_NONE;
	return end;
}

static void
decode_section(struct unit *u, struct code *c)
{
	uint32_t pos = 0, end;

	for (size_t i = 0; i < c->stmts.n; i++) {
		uint32_t lo = u->place[c->stmts.at[i]].off, hi = range_end(u, c, i);

		if (lo < pos)
			lo = pos;
		if (lo >= hi || stmt_of(u, c, i)->kind == STMT_LABEL)
			continue;
		end = decode_stmt(u, c, i, lo, hi);
		pos = end ? end : lo;
	}
}

/* Marks the nops of alignment directives as padding. */
static void
mark_padding(struct unit *u, struct code *c)
{
	size_t k = 0;

	for (size_t i = 0; i < c->insns.n; i++) {
		struct insn *in = &c->insns.at[i];
		const struct stmt *s;

		while (k + 1 < c->stmts.n && u->place[c->stmts.at[k + 1]].off <= in->off)
			k++;
		if (k == c->stmts.n || u->place[c->stmts.at[k]].off > in->off)
			continue;
		s = &u->text->stmts.at[c->stmts.at[k]];
		if (s->kind == STMT_DIRECTIVE && s->flags & STMT_PAD && in->attr & INSN_NOP)
			in->cls = CHORD_INSN_PAD;
	}
}

static void
name_stmts(struct unit *u, struct code *c)
{
	for (size_t i = 0; i < c->stmts.n; i++) {
		const struct stmt *s = &u->text->stmts.at[c->stmts.at[i]];
		uint32_t off = u->place[c->stmts.at[i]].off;

		if (off < c->nbyte && c->at[off] != UINT32_MAX && s->kind != STMT_LABEL &&
		    (s->kind != STMT_DIRECTIVE || s->flags & STMT_BYTES))
			c->insns.at[c->at[off]].stmt = c->stmts.at[i];
	}
}

/* What is opaque may align instructions that follow in it. */
static void
mark_loose(struct unit *u, struct code *c)
{
	const struct stmt *s = NULL;

	for (size_t i = 0; i < c->insns.n; i++) {
		struct insn *in = &c->insns.at[i];

		if (in->stmt != UINT32_MAX)
			s = &u->text->stmts.at[in->stmt];
		else
			in->loose = s && s->kind == STMT_OPAQUE && s->flags & STMT_ALIGNS;
	}
}

size_t
code_stmts_to(const struct unit *u, const struct code *c, uint32_t off)
{
	size_t lo = 0, hi = c->stmts.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (u->place[c->stmts.at[mid]].off <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t
code_end_stmt(const struct unit *u, const struct code *c, const struct insn *in)
{
	size_t lo = code_stmts_to(u, c, in->off + in->len - 1);

	while (lo && u->text->stmts.at[c->stmts.at[lo - 1]].kind == STMT_LABEL)
		lo--;
	if (!lo || (in->stmt != UINT32_MAX && u->place[c->stmts.at[lo - 1]].off <= in->off))
		return in->stmt;
	return c->stmts.at[lo - 1];
}

/* For the linker, a call of __tls_get_addr and the lea before it are one unit: it may replace both. */
static bool
is_tls_call(const struct unit *u, const struct obj_reloc *r)
{
	return r->sym < u->object->nsymbol && !strcmp(u->object->symbols[r->sym].name, "__tls_get_addr");
}

/* Functions that never return, in any program. Compilers may put another block after a call of them. */
static bool
never_returns(const struct unit *u, const struct obj_reloc *r)
{
	static const char *const names[] = {"_Unwind_Resume", "__cxa_throw", "__cxa_rethrow", "__stack_chk_fail", "__assert_fail",
		"thrd_exit", "pthread_exit", "__pthread_unwind_next"};

	for (size_t i = 0; r->sym < u->object->nsymbol && i < sizeof names / sizeof *names; i++)
		if (!strcmp(u->object->symbols[r->sym].name, names[i]))
			return true;
	return false;
}

/* With -fsplit-stack the callee returns to the place after the `ret` that follows its call. */
static bool
skips_one(const struct unit *u, const struct obj_reloc *r)
{
	static const char name[] = "__morestack";

	return r->sym < u->object->nsymbol && !strncmp(u->object->symbols[r->sym].name, name, sizeof name - 1);
}

/* Glues the instructions up to the call together. In the large model the function's address is loaded and added up before the
 * call. */
static void
glue_to_call(struct code *c, size_t i)
{
	for (size_t end = i + 4; i < end && i < c->insns.n; i++) {
		c->insns.at[i].attr |= INSN_GLUED;
		if (is_call(&c->insns.at[i]))
			return;
	}
}

/* Marks instructions whose target field is relocated. A call that names a function calls it, directly or by its address in the
 * global offset table (-fno-plt). */
static void
mark_relocs(struct unit *u, struct code *c)
{
	const struct obj_section *s = &u->object->sections[c->section];
	size_t i = 0;

	for (uint32_t r = 0; r < s->nreloc; r++) {
		const struct obj_reloc *reloc = &u->object->relocs[s->reloc + r];

		while (i < c->insns.n && c->insns.at[i].off + c->insns.at[i].len <= reloc->off)
			i++;
		if (i == c->insns.n || c->insns.at[i].off > reloc->off)
			continue;
		c->insns.at[i].attr |= INSN_RELOC;
		if (is_tls_call(u, reloc))
			glue_to_call(c, i);
		if (is_call(&c->insns.at[i]) && skips_one(u, reloc))
			c->insns.at[i].attr |= INSN_SKIPS;
		if (is_call(&c->insns.at[i]) && never_returns(u, reloc))
			c->insns.at[i].attr &= (uint16_t)~INSN_FALLS;
	}
}

static const struct unit *sort_unit;

static int
stmts_by_place(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t p = sort_unit->place[x].off, q = sort_unit->place[y].off;

	return p != q ? (p < q ? -1 : 1) : x < y ? -1 : x > y;
}

static struct code *
code_new(struct unit *u, uint32_t section)
{
	struct code *c = pool_alloc(u->pool, sizeof *c);

	c->section = section;
	c->nbyte = (uint32_t)u->object->sections[section].size;
	c->at = pool_array(u->pool, c->nbyte + 1u, sizeof *c->at);
	memset(c->at, 0xff, (c->nbyte + 1u) * sizeof *c->at);
	c->labelled = pool_array(u->pool, c->nbyte + 1u, sizeof *c->labelled);
	c->function = pool_array(u->pool, c->nbyte + 1u, sizeof *c->function);
	c->root = pool_array(u->pool, c->nbyte + 1u, sizeof *c->root);
	return c;
}

static void
mark_labels(struct unit *u)
{
	for (uint32_t i = 1; i < u->object->nsymbol; i++) {
		const struct obj_symbol *s = &u->object->symbols[i];
		struct code *c = s->section ? u->code[s->section] : NULL;

		if (c && s->func && s->value < c->nbyte)
			c->function[s->value] = true;
		if (c && !s->is_section && s->value <= c->nbyte && strncmp(s->name, LABEL_PREFIX, sizeof LABEL_PREFIX - 1))
			c->labelled[s->value] = true;
	}
	for (uint32_t i = 0; i < u->text->stmts.n; i++) {
		struct code *c = u->place[i].section ? u->code[u->place[i].section] : NULL;

		if (c && u->text->stmts.at[i].kind == STMT_LABEL)
			c->labelled[u->place[i].off] = true;
	}
}

static bool
is_code(const struct unit *u, uint32_t section)
{
	const struct obj_section *s = &u->object->sections[section];

	return s->exec && s->data && s->size < UINT32_MAX;
}

/* Allocates what is needed for the code of each section. */
static void
prepare(struct unit *u)
{
	u->ncode = u->object->nsection;
	u->code = pool_array(u->pool, u->ncode, sizeof *u->code);
	for (uint32_t i = 0; i < u->ncode; i++)
		if (is_code(u, i))
			u->code[i] = code_new(u, i);
	for (uint32_t i = 0; i < u->text->stmts.n; i++)
		if (u->place[i].section && u->code[u->place[i].section])
			VEC_PUSH(u->code[u->place[i].section]->stmts, i);
	mark_labels(u);
	sort_unit = u;
	for (uint32_t i = 0; i < u->ncode; i++)
		if (u->code[i] && u->code[i]->stmts.n)
			qsort(u->code[i]->stmts.at, u->code[i]->stmts.n, sizeof *u->code[i]->stmts.at, stmts_by_place);
}

/* Decodes a section with the roots that are known so far. */
static void
read_once(struct unit *u, struct code *c)
{
	for (size_t i = 0; i < c->insns.n; i++)
		c->at[c->insns.at[i].off] = UINT32_MAX;
	c->insns.n = c->bad.n = c->doubts.n = 0;
	c->falls = REACH_NONE;
	decode_section(u, c);
	mark_relocs(u, c);
}

/* Follows jumps and calls by name, also from section to section. */
static void
follow_names(struct unit *u, struct code *c)
{
	for (size_t i = 0; i < c->insns.n; i++) {
		struct dest d;

		if ((c->insns.at[i].attr & (INSN_REL | INSN_RELOC)) != (INSN_REL | INSN_RELOC))
			continue;
		d = dest_of(u, c, &c->insns.at[i]);
		if (d.section)
			add_root(u, d.section, d.off);
	}
}

/* Would the section be decoded differently with the roots found last? */
static bool
is_news(struct code *c)
{
	bool news = c->fresh.n && c->doubts.n;

	for (size_t i = 0; i < c->fresh.n; i++)
		news |= c->at[c->fresh.at[i]] == UINT32_MAX;
	c->fresh.n = 0;
	return news;
}

/* Notes places that something jumps to but that are no instruction, or lie inside one. */
static void
check_roots(struct code *c)
{
	uint32_t covered = 0;

	for (uint32_t off = 0; off < c->nbyte; off++) {
		if (c->at[off] != UINT32_MAX) {
			if (off < covered)
				VEC_PUSH(c->bad, ((struct bad){off, BAD_INSIDE}));
			covered = off + c->insns.at[c->at[off]].len;
		} else if (c->root[off] || (c->function[off] && off < covered)) {
			VEC_PUSH(c->bad, ((struct bad){off, off < covered ? BAD_INSIDE : BAD_BYTES}));
		}
	}
}

static void
list_pads(const struct unit *u, struct code *c)
{
	for (size_t i = 0; i < c->stmts.n; i++)
		if (stmt_of(u, c, i)->flags & (STMT_PAD | STMT_ALIGNS))
			VEC_PUSH(c->pads, (uint32_t)i);
}

void
code_read(struct unit *u)
{
	bool *again;

	prepare(u);
	again = pool_array(u->pool, u->ncode + 1u, sizeof *again);
	memset(again, true, u->ncode);
	for (int pass = 0, any = true; any && pass < PASSES; pass++) {
		for (uint32_t i = 0; i < u->ncode; i++)
			if (u->code[i] && again[i])
				read_once(u, u->code[i]);
		for (uint32_t i = 0; i < u->ncode; i++)
			if (u->code[i] && again[i])
				follow_names(u, u->code[i]);
		any = false;
		for (uint32_t i = 0; i < u->ncode; i++)
			any |= again[i] = u->code[i] && is_news(u->code[i]);
	}
	for (uint32_t i = 0; i < u->ncode; i++) {
		if (!u->code[i])
			continue;
		check_roots(u->code[i]);
		mark_padding(u, u->code[i]);
		name_stmts(u, u->code[i]);
		mark_loose(u, u->code[i]);
		list_pads(u, u->code[i]);
		free(u->code[i]->fresh.at);
	}
}
