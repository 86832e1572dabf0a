/* SPDX-License-Identifier: MIT */
/* The instructions of every section, decoded from the bytes that the assembler
 * made of the labelled text. Statements say where instructions begin; data and
 * padding are taken for instructions only where control can come to them. */
#include "asm/asm.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t *
bytes_of(const struct unit *u, const struct code *c)
{
	return u->object->sections[c->section].data;
}

static uint32_t
range_end(const struct unit *u, const struct code *c, size_t i)
{
	return i + 1 < c->stmts.n ? u->place[c->stmts.at[i + 1]].off : c->nbyte;
}

/* Decodes [lo, hi); the last instruction may reach beyond. Returns where it stopped. */
static uint32_t
decode_range(struct unit *u, struct code *c, uint32_t lo, uint32_t hi)
{
	while (lo < hi && c->at[lo] == UINT32_MAX) {
		struct insn in;

		if (!u->machine->decode(bytes_of(u, c) + lo, c->nbyte - lo, lo, &in)) {
			VEC_PUSH(c->bad, lo);
			return hi;
		}
		c->at[lo] = (uint32_t)c->insns.n;
		VEC_PUSH(c->insns, in);
		lo += in.len;
		if (!(in.attr & INSN_FALLS) && lo < hi)
			continue;
	}
	return lo;
}

static bool
is_one_of(struct str word, const char *const *names)
{
	while (*names && !str_is(word, *names))
		names++;
	return *names;
}

/* Does a call go past data, from the i-th statement on, to what follows it? */
static bool
goes_past(const struct unit *u, const struct code *c, size_t i, const struct insn *call)
{
	if (call->cls != CHORD_INSN_CALL || call->target >= c->nbyte || call->target <= u->place[c->stmts.at[i]].off)
		return false;
	while (i < c->stmts.n && u->place[c->stmts.at[i]].off < call->target)
		if (u->text->stmts.at[c->stmts.at[i++]].kind == STMT_CODE)
			return false;
	return true;
}

/* Behind a call or trap, is it data: text, a table that has a name, what a call goes past? Nobody writes code so; in text by
 * hand nor bytes that have a name and that nothing jumps to, see resume(). */
static bool
is_no_code(const struct unit *u, const struct code *c, size_t i, const struct insn *stop)
{
	static const char *const text[] = {".ascii", ".asciz", ".string", NULL};
	static const char *const table[] = {".quad", ".long", ".int", ".4byte", ".8byte", ".octa", ".float", ".single", ".double",
		NULL};
	const struct stmt *s = &u->text->stmts.at[c->stmts.at[i]];
	struct str word = stmt_word(u->text, s);

	if (s->flags & STMT_PAD)
		return false;
	return is_one_of(word, text) || goes_past(u, c, i, stop) ||
	       (c->labelled[u->place[c->stmts.at[i]].off] && (!u->text->compiler || is_one_of(word, table)));
}

/* The call or trap at the end of what has been decoded, padding aside, or NULL. */
static struct insn *
stops_perhaps(struct code *c)
{
	for (size_t i = c->insns.n; i-- > 0;) {
		struct insn *in = &c->insns.at[i];

		if (in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL || in->cls == CHORD_INSN_SYSCALL)
			return in;
		if (!(in->attr & INSN_NOP))
			return NULL;
	}
	return NULL;
}

/* Data and padding at the start of a function, or where control can fall into it. A call there is
 * taken for one that does not come back if what follows cannot be code, or is none. */
static uint32_t
decode_data(struct unit *u, struct code *c, size_t i, uint32_t lo, uint32_t hi)
{
	struct insn *last = c->insns.n ? &c->insns.at[c->insns.n - 1] : NULL;
	struct insn *stop = c->function[lo] ? NULL : stops_perhaps(c);
	size_t nbad = c->bad.n;
	uint32_t end;

	if (!c->function[lo] && !c->falls)
		return lo;
	if (stop && is_no_code(u, c, i, stop)) {
		stop->attr &= (uint16_t)~INSN_FALLS;
		VEC_PUSH(c->stopped, ((struct stopped){stop->off, lo}));
		return lo;
	}
	end = decode_range(u, c, lo, hi);
	if (!last)
		return end;
	last = &c->insns.at[c->at[lo] == UINT32_MAX ? c->insns.n - 1 : c->at[lo] - 1];
	if (c->bad.n > nbad && (last->cls == CHORD_INSN_CALL || last->cls == CHORD_INSN_ICALL)) {
		c->bad.n = nbad;
		last->attr &= (uint16_t)~INSN_FALLS;
	}
	return end;
}

/* One statement that makes bytes. Returns where it stopped. */
static uint32_t
decode_stmt(struct unit *u, struct code *c, size_t i, uint32_t lo, uint32_t hi)
{
	const struct stmt *s = &u->text->stmts.at[c->stmts.at[i]];
	bool falls = c->falls || c->labelled[lo] || c->function[lo] || !c->insns.n;
	uint32_t end;

	if (s->kind == STMT_DIRECTIVE && !(s->flags & STMT_BYTES))
		return lo;
	if (s->kind != STMT_DIRECTIVE)
		end = decode_range(u, c, lo, hi);
	else
		end = decode_data(u, c, i, lo, hi);
	/* What nothing can come to falls nowhere: an int3 behind a return. */
	c->falls = end > lo && falls && c->insns.at[c->insns.n - 1].attr & INSN_FALLS;
	return end;
}

static void
decode_section(struct unit *u, struct code *c)
{
	uint32_t pos = 0;

	for (size_t i = 0; i < c->stmts.n; i++) {
		const struct stmt *s = &u->text->stmts.at[c->stmts.at[i]];
		uint32_t lo = u->place[c->stmts.at[i]].off, hi = range_end(u, c, i);

		if (lo < pos)
			lo = pos;
		if (lo >= hi || s->kind == STMT_LABEL)
			continue;
		pos = decode_stmt(u, c, i, lo, hi);
	}
}

/* Jumps into data: what they reach is code after all. */
static void
decode_targets(struct unit *u, struct code *c)
{
	for (size_t i = 0; i < c->insns.n; i++) {
		struct insn in = c->insns.at[i];
		uint32_t pos = in.target;

		if ((in.attr & (INSN_REL | INSN_RELOC)) != INSN_REL)
			continue;
		while (pos < c->nbyte && c->at[pos] == UINT32_MAX) {
			uint32_t next = decode_range(u, c, pos, pos + 1);

			if (c->at[pos] == UINT32_MAX || !(c->insns.at[c->at[pos]].attr & INSN_FALLS))
				break;
			pos = next;
		}
	}
}

/* What was taken for data is jumped to: the call or trap before it comes back. */
static void
resume(struct code *c)
{
	for (size_t i = 0; i < c->stopped.n; i++)
		if (c->at[c->stopped.at[i].data] != UINT32_MAX)
			c->insns.at[c->at[c->stopped.at[i].off]].attr |= INSN_FALLS;
	free(c->stopped.at);
}

static int
by_off(const void *a, const void *b)
{
	const struct insn *x = a, *y = b;

	return x->off < y->off ? -1 : x->off > y->off;
}

static void
sort_insns(struct code *c)
{
	bool sorted = true;

	for (size_t i = 1; i < c->insns.n && sorted; i++)
		sorted = c->insns.at[i - 1].off < c->insns.at[i].off;
	if (sorted)
		return;
	qsort(c->insns.at, c->insns.n, sizeof *c->insns.at, by_off);
	for (size_t i = 0; i < c->insns.n; i++)
		c->at[c->insns.at[i].off] = (uint32_t)i;
}

/* Nops of alignment directives. */
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

/* A call of __tls_get_addr and the lea before it are one to the linker, which may replace both. */
static bool
is_tls_call(const struct unit *u, const struct obj_reloc *r)
{
	return r->sym < u->object->nsymbol && !strcmp(u->object->symbols[r->sym].name, "__tls_get_addr");
}

/* Functions of which no program can have one that comes back. Compilers may put another block
 * behind a call of them. */
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

/* With -fsplit-stack it runs the procedure's rest from behind the `ret` that follows its call. */
static bool
skips_one(const struct unit *u, const struct obj_reloc *r)
{
	static const char name[] = "__morestack";

	return r->sym < u->object->nsymbol && !strncmp(u->object->symbols[r->sym].name, name, sizeof name - 1);
}

/* In the large model the function's address is loaded and added up before the call. */
static void
glue_to_call(struct code *c, size_t i)
{
	for (size_t end = i + 4; i < end && i < c->insns.n; i++) {
		c->insns.at[i].attr |= INSN_GLUED;
		if (c->insns.at[i].cls == CHORD_INSN_CALL || c->insns.at[i].cls == CHORD_INSN_ICALL)
			return;
	}
}

/* Marks instructions whose target field is relocated. */
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
		if (c->insns.at[i].cls == CHORD_INSN_CALL && skips_one(u, reloc))
			c->insns.at[i].attr |= INSN_SKIPS;
		if (c->insns.at[i].cls == CHORD_INSN_CALL && never_returns(u, reloc))
			c->insns.at[i].attr &= (uint16_t)~INSN_FALLS;
	}
}

static const struct unit *sort_unit;

static int
by_place(const void *a, const void *b)
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

void
code_read(struct unit *u)
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
	for (uint32_t i = 0; i < u->ncode; i++) {
		struct code *c = u->code[i];

		if (!c)
			continue;
		if (c->stmts.n)
			qsort(c->stmts.at, c->stmts.n, sizeof *c->stmts.at, by_place);
		decode_section(u, c);
		mark_relocs(u, c);
		decode_targets(u, c);
		resume(c);
		sort_insns(c);
		mark_relocs(u, c);
		mark_padding(u, c);
		name_stmts(u, c);
	}
}
