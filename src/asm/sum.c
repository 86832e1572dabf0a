/* SPDX-License-Identifier: MIT */
/* Adds up the assembler's expressions. Its operators bind in three ranks: * / % << >>, then | & ^ !, then + -. */
#include "asm/sum.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 16 }; /* parentheses and definitions within each other */

struct reader {
	const struct unit *u;
	const struct names *n;
	struct str rest;
	uint32_t stmt;
	int depth;
};

static struct sum sum_read(struct reader *r);

bool
operand_next(struct str *rest, struct str *operand)
{
	int open = 0;
	size_t i = 0;

	if (!rest->n)
		return false;
	for (bool quoted = false; i < rest->n && (quoted || open || rest->at[i] != ','); i++) {
		quoted ^= rest->at[i] == '"';
		open += quoted ? 0 : (rest->at[i] == '(') - (rest->at[i] == ')');
	}
	*operand = (struct str){rest->at, i};
	i += i < rest->n;
	*rest = (struct str){rest->at + i, rest->n - i};
	return true;
}

struct str
definition_value(const struct text *t, const struct stmt *s)
{
	struct str rest = stmt_rest(t, s), name;
	size_t n = 0;

	if (s->kind != STMT_ASSIGN) {
		operand_next(&rest, &name);
		return rest;
	}
	while (n < rest.n && n < 2 && rest.at[n] == '=')
		n++;
	return (struct str){rest.at + n, rest.n - n};
}

/* ---- sums ---- */

static struct sum
of_number(int64_t number)
{
	return (struct sum){.number = number, .known = true};
}

static struct sum
of_place(struct dest dest, bool dot)
{
	return (struct sum){.place[0] = {dest, dot, false}, .nplace = 1, .known = true};
}

/* What no sum says: the places remain, with a number that is not known. */
static struct sum
of_unknown(struct sum a)
{
	a.number = 0;
	a.known = false;
	return a;
}

static struct sum
plus(struct sum a, struct sum b, bool minus)
{
	for (uint32_t i = 0; i < b.nplace; i++) {
		if (a.nplace == SUM_PLACES)
			return of_unknown(a);
		a.place[a.nplace] = b.place[i];
		a.place[a.nplace++].minus ^= minus;
	}
	if (!a.known || !b.known)
		return of_unknown(a);
	a.number = (int64_t)(minus ? (uint64_t)a.number - (uint64_t)b.number : (uint64_t)a.number + (uint64_t)b.number);
	return a;
}

/* Any operator but + and - takes numbers only. */
static struct sum
combined(char operator, struct sum a, struct sum b)
{
	uint64_t x = (uint64_t)a.number, y = (uint64_t)b.number;

	if (a.nplace || b.nplace || !a.known || !b.known)
		return of_unknown(plus(a, b, false));
	switch (operator) {
	case '*':
		return of_number((int64_t)(x * y));
	case '/':
		return y && ~y ? of_number(a.number / b.number) : of_unknown(a);
	case '%':
		return y && ~y ? of_number(a.number % b.number) : of_unknown(a);
	case '<':
		return of_number(y < 64 ? (int64_t)(x << y) : 0);
	case '>':
		return of_number(y < 64 ? (int64_t)(x >> y) : 0);
	case '|':
		return of_number((int64_t)(x | y));
	case '&':
		return of_number((int64_t)(x & y));
	case '^':
		return of_number((int64_t)(x ^ y));
	default:
		return of_number((int64_t)(x | ~y));
	}
}

/* ---- reading ---- */

static void
advance(struct reader *r, size_t n)
{
	r->rest = (struct str){r->rest.at + n, r->rest.n - n};
}

static char
peek(struct reader *r)
{
	while (r->rest.n && isblank((unsigned char)*r->rest.at))
		advance(r, 1);
	return r->rest.n ? *r->rest.at : 0;
}

static struct sum
of_definition(struct reader *r, uint32_t stmt)
{
	struct reader inner = {r->u, r->n, definition_value(r->u->text, &r->u->text->stmts.at[stmt]), stmt, r->depth + 1};

	return sum_read(&inner);
}

static struct sum
of_name(struct reader *r, struct str name, bool quoted)
{
	uint64_t value, stmt = 0;
	bool defined = !quoted && strmap_get(&r->n->defined, name, &stmt);
	struct dest d;

	if (!quoted && str_is(name, "."))
		return of_place((struct dest){0}, true);
	if (defined && stmt == UINT32_MAX)
		return of_unknown(of_number(0));
	d = quoted ? mention_symbol(r->u, r->n, name) : mention_dest(r->u, r->n, name, r->stmt);
	if (d.section)
		return of_place(d, false);
	if (strmap_get(&r->n->absolute, name, &value))
		return of_number((int64_t)value);
	if (defined && r->depth < DEEPEST)
		return of_definition(r, (uint32_t)stmt);
	return of_place(d, false);
}

/* A number, a numeric label such as 1b in code or in data, or a character. Floating point numbers and the like are not known. */
static struct sum
of_digits(struct reader *r)
{
	struct str word = {r->rest.at, 0};
	char digits[72], *end;
	bool binary;
	int64_t number;

	while (word.n < r->rest.n && isalnum((unsigned char)r->rest.at[word.n]))
		word.n++;
	advance(r, word.n);
	if (mention_is_numeric(word))
		return of_place(mention_dest(r->u, r->n, word, r->stmt), false);
	if (word.n >= sizeof digits)
		return of_unknown(of_number(0));
	memcpy(digits, word.at, word.n);
	digits[word.n] = 0;
	binary = word.n > 2 && *digits == '0' && tolower((unsigned char)digits[1]) == 'b';
	number = (int64_t)strtoull(binary ? digits + 2 : digits, &end, binary ? 2 : 0);
	return *end ? of_unknown(of_number(0)) : of_number(number);
}

static struct sum
of_parentheses(struct reader *r)
{
	struct sum s;

	advance(r, 1);
	r->depth++;
	s = sum_read(r);
	r->depth--;
	if (peek(r) != ')')
		return of_unknown(s);
	advance(r, 1);
	return s;
}

static struct sum
of_word(struct reader *r)
{
	bool quoted = *r->rest.at == '"';
	size_t end = mention_end(r->rest, quoted);
	struct str word = {r->rest.at + quoted, end - quoted};

	if (!word.n) {
		advance(r, r->rest.n); /* nothing that is known */
		return of_unknown(of_number(0));
	}
	advance(r, end + (quoted && end < r->rest.n));
	if (r->rest.n && *r->rest.at == '@') { /* how the linker takes it */
		advance(r, 1);
		advance(r, mention_end(r->rest, false));
	}
	return of_name(r, word, quoted);
}

static struct sum
sum_term(struct reader *r)
{
	char c = peek(r);
	struct sum s;

	if (r->depth > DEEPEST) {
		advance(r, r->rest.n);
		return of_unknown(of_number(0));
	}
	if (c == '(')
		return of_parentheses(r);
	if (isdigit((unsigned char)c))
		return of_digits(r);
	if (!c || !strchr("-+~!", c))
		return c ? of_word(r) : of_unknown(of_number(0));
	advance(r, 1);
	r->depth++;
	s = sum_term(r);
	r->depth--;
	if (c == '+' || c == '-')
		return plus(of_number(0), s, c == '-');
	return s.nplace || !s.known ? of_unknown(s) : of_number(c == '~' ? ~s.number : !s.number);
}

/* The operator that comes next, if it is of that rank, else 0. */
static char
operator_of(struct reader *r, int rank)
{
	static const char *const operators[] = {"+-", "|&^!", "*/%<>"};
	char c = peek(r);
	bool twice = c == '<' || c == '>';

	if (!c || !strchr(operators[rank], c) || (twice && (r->rest.n < 2 || r->rest.at[1] != c)))
		return 0;
	advance(r, twice ? 2 : 1);
	return c;
}

static struct sum
sum_of_rank(struct reader *r, int rank)
{
	struct sum a = rank < 2 ? sum_of_rank(r, rank + 1) : sum_term(r);
	char operator;

	while ((operator = operator_of(r, rank)) != 0) {
		struct sum b = rank < 2 ? sum_of_rank(r, rank + 1) : sum_term(r);

		a = rank == 0 ? plus(a, b, operator == '-') : combined(operator, a, b);
	}
	return a;
}

static struct sum
sum_read(struct reader *r)
{
	return sum_of_rank(r, 0);
}

struct sum
sum_of(const struct unit *u, const struct names *n, struct str operand, uint32_t stmt)
{
	struct reader r = {u, n, operand, stmt, 0};
	struct sum s = sum_read(&r);

	return peek(&r) ? of_unknown(s) : s;
}
