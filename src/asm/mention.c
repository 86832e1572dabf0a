/* SPDX-License-Identifier: MIT */
/* Names in the operands of statements, and the places in code that they name. */
#include "asm/mention.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool
is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || (unsigned char)c >= 0x80;
}

static size_t
word_end(struct str s, size_t at)
{
	while (at < s.n && is_word(s.at[at]))
		at++;
	return at;
}

/* Where a name in quotation marks ends, before the second one. */
static size_t
quoted_end(struct str s, size_t at)
{
	while (at < s.n && s.at[at] != '"')
		at += s.at[at] == '\\' && at + 1 < s.n ? 2 : 1;
	return at < s.n ? at : s.n;
}

size_t
mention_end(struct str s, bool quoted)
{
	return quoted ? quoted_end(s, 1) : word_end(s, 0);
}

bool
defines_name(const struct text *t, const struct stmt *s)
{
	struct str word = stmt_word(t, s);

	return s->kind == STMT_ASSIGN || (s->kind == STMT_DIRECTIVE && (word_is(word, ".set") || word_is(word, ".equ") ||
	                                  word_is(word, ".equiv") || word_is(word, ".eqv")));
}

struct str
defined_name(const struct text *t, const struct stmt *s)
{
	struct str name = s->kind == STMT_ASSIGN ? stmt_word(t, s) : stmt_rest(t, s);
	bool quoted = name.n && *name.at == '"';
	size_t end = mention_end(name, quoted);

	return (struct str){name.at + quoted, end - quoted};
}

static void
read_symbols(struct names *n, const struct unit *u)
{
	const struct object *o = u->object;

	for (uint32_t i = 1; i < o->nsymbol; i++) {
		const struct obj_symbol *s = &o->symbols[i];

		if (s->is_section || !strncmp(s->name, LABEL_PREFIX, sizeof LABEL_PREFIX - 1))
			continue;
		if (s->absolute)
			strmap_put(&n->absolute, str_of(s->name), s->value);
		else if (s->section && u->code[s->section])
			strmap_put(&n->symbols, str_of(s->name), i);
	}
}

static int
by_number(const void *a, const void *b)
{
	const struct numeric *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->stmt > y->stmt) - (x->stmt < y->stmt);
}

void
names_read(struct names *n, const struct unit *u)
{
	read_symbols(n, u);
	for (uint32_t i = 0; i < u->text->stmts.n; i++) {
		const struct stmt *s = &u->text->stmts.at[i];

		if (s->kind == STMT_LABEL && isdigit((unsigned char)u->text->at[s->at]))
			VEC_PUSH(n->numeric, (struct numeric){i, strtoull(u->text->at + s->at, NULL, 10)});
		if (defines_name(u->text, s)) {
			struct str name = defined_name(u->text, s);

			if (name.n)
				strmap_put(&n->defined, name, strmap_get(&n->defined, name, &(uint64_t){0}) ? UINT32_MAX : i);
		}
	}
	if (n->numeric.n)
		qsort(n->numeric.at, n->numeric.n, sizeof *n->numeric.at, by_number);
}

void
names_free(struct names *n)
{
	strmap_free(&n->symbols);
	strmap_free(&n->absolute);
	strmap_free(&n->defined);
	free(n->numeric.at);
}

/* `1b` or `1f` in statement stmt. */
static struct dest
numeric_dest(const struct unit *u, const struct names *n, struct str word, uint32_t stmt)
{
	uint64_t number = strtoull(word.at, NULL, 10);
	bool back = word.at[word.n - 1] == 'b';
	const struct numeric *best = NULL;
	struct numeric here = {stmt, number};
	size_t lo = 0, hi = n->numeric.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = by_number(&n->numeric.at[mid], &here);

		if (back ? order < 0 : order <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (back && lo)
		best = &n->numeric.at[lo - 1];
	else if (!back && lo < n->numeric.n)
		best = &n->numeric.at[lo];
	if (best && best->number != number)
		best = NULL;
	if (!best || !u->place[best->stmt].section || !u->code[u->place[best->stmt].section])
		return (struct dest){0};
	return (struct dest){u->place[best->stmt].section, u->place[best->stmt].off, true};
}

struct dest
mention_symbol(const struct unit *u, const struct names *n, struct str name)
{
	const struct obj_symbol *s;
	uint64_t i;

	if (!strmap_get(&n->symbols, name, &i))
		return (struct dest){0};
	s = &u->object->symbols[i];
	if (s->value > u->code[s->section]->nbyte)
		return (struct dest){0};
	return (struct dest){s->section, (uint32_t)s->value, true};
}

bool
mention_is_numeric(struct str word)
{
	char last = word.n ? word.at[word.n - 1] : 0;

	return word.n > 1 && (last == 'b' || last == 'f') && strspn(word.at, "0123456789") == word.n - 1;
}

struct dest
mention_dest(const struct unit *u, const struct names *n, struct str word, uint32_t stmt)
{
	if (!isdigit((unsigned char)*word.at))
		return mention_symbol(u, n, word);
	return mention_is_numeric(word) ? numeric_dest(u, n, word, stmt) : (struct dest){0};
}

static bool
is_minus(struct str s, size_t at)
{
	while (at && (s.at[at - 1] == ' ' || s.at[at - 1] == '('))
		at--;
	return at && s.at[at - 1] == '-';
}

bool
mention_next(const struct unit *u, const struct names *n, uint32_t stmt, size_t *at, struct mention *m)
{
	struct str s = stmt_rest(u->text, &u->text->stmts.at[stmt]);

	for (size_t i = *at, end; i < s.n; i = end + 1) {
		bool quoted = s.at[i] == '"';
		size_t from = i + quoted;

		/* The name of a register is no symbol's. */
		end = quoted ? quoted_end(s, from) : word_end(s, s.at[i] == '%' ? i + 1 : i);
		if (s.at[i] == '%' || end == from) {
			end -= !quoted && end > i;
			continue;
		}
		*at = end + quoted;
		*m = (struct mention){.word = {s.at + from, end - from}, .minus = is_minus(s, i)};
		m->dest = quoted ? mention_symbol(u, n, m->word) : mention_dest(u, n, m->word, stmt);
		return true;
	}
	return false;
}

bool
holds_addresses(struct str word)
{
	static const char *const names[] = {".long", ".quad", ".int", ".4byte", ".8byte", ".value", ".short", ".word",
		".2byte", ".hword", ".byte", ".uleb128", ".sleb128", ".dc.l", ".dc.a", ".dc", ".dc.b", ".dc.w", ".slong"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (word_is(word, names[i]))
			return true;
	return false;
}
