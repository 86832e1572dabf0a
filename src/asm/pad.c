/* SPDX-License-Identifier: MIT */
/* Padding, whose length depends on the code before it. Behind an alignment to 4096 bytes, the length of padding to 8 depends only
 * on what stands in between, for what follows the first is at a multiple of 4096 in woven code, too. */
#include "asm/dest.h"
#include "asm/sum.h"

#include <ctype.h>
#include <string.h>

struct pad {
	uint32_t off, end;  /* in the plain code */
	uint32_t align;     /* the length depends at most on the offset modulo this, a power of 2; 0: it may depend on anything */
	bool fixes;         /* the end is at a multiple of that, whatever stands before */
};

static bool
is_name_char(char c)
{
	return isalnum((unsigned char)c) || strchr("_.$", c);
}

/* A statement that may pad, or a block that may hold such statements. */
struct padder {
	const struct unit *u;
	uint32_t stmt;
};

static bool
is_number(const struct padder *x, struct str operand, uint32_t *n)
{
	enum { LARGEST = 1 << 20 };
	struct sum s = sum_of(x->u, x->u->names, operand, x->stmt);

	*n = (uint32_t)s.number;
	return s.known && !s.nplace && s.number >= 0 && s.number <= LARGEST;
}

/* An alignment: its operands are the alignment, what fills, and how much padding there may be at most. */
static struct pad
read_alignment(const struct padder *x, bool power, struct str rest)
{
	enum { MOST_BITS = 20 };
	struct str operand;
	uint32_t n;

	if (!operand_next(&rest, &operand) || !is_number(x, operand, &n) || (power && n > MOST_BITS))
		return (struct pad){0};
	n = power ? 1u << n : n + !n;
	if (n & (n - 1))
		return (struct pad){0};
	operand_next(&rest, &operand);
	return (struct pad){.align = n, .fixes = !rest.n};
}

/* Room: its length is known if all operands are numbers. */
static struct pad
read_room(const struct padder *x, struct str rest)
{
	struct str operand;
	uint32_t n;

	while (operand_next(&rest, &operand))
		if (!is_number(x, operand, &n))
			return (struct pad){0};
	return (struct pad){.align = 1};
}

/* A directive that pads, or may; its word is in lower case. False: the word is something else. */
static bool
read_pad(const struct padder *x, struct str word, struct str rest, struct pad *p)
{
	static const char *const rooms[] = {".skip", ".space", ".zero", ".fill", ".ds.", ".nop"};

	if (str_starts(word, ".p2align") || str_starts(word, ".align") || str_starts(word, ".balign")) {
		*p = read_alignment(x, word.at[1] == 'p', rest);
		return true;
	}
	for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
		if (str_starts(word, rooms[i])) {
			*p = read_room(x, rest);
			return true;
		}
	*p = (struct pad){0};
	return str_is(word, ".org") || str_is(word, ".include");
}

static struct str
lowered(struct str word, char room[static 64])
{
	size_t n = 0;

	for (; n < word.n && n < 64; n++)
		room[n] = (char)tolower((unsigned char)word.at[n]);
	return (struct str){room, n};
}

/* The largest alignment in the text of a block, at most; 0: something in it is not understood. */
static uint32_t
block_alignment(const struct padder *x, struct str body)
{
	uint32_t most = 1;
	char room[64];

	for (size_t i = 0; i < body.n; i++) {
		struct str word, rest = {body.at + i, 0};
		struct pad p = {.align = 1};

		for (; i < body.n && is_name_char(body.at[i]); rest.n++)
			i++;
		word = lowered(rest, room);
		if (strmap_get(&x->u->text->macros, word, &(uint64_t){0}))
			return 0;
		rest = (struct str){body.at + i, 0};
		while (i + rest.n < body.n && !strchr("\n;", rest.at[rest.n]))
			rest.n++;
		if (read_pad(x, word, rest, &p) && !p.align)
			return 0;
		most = p.align > most ? p.align : most;
	}
	return most;
}

/* Does a block show all that it makes? The use of a macro does not. */
static bool
is_shown(const struct text *t, struct str word)
{
	return !t->unseen && (str_starts(word, ".rep") || str_starts(word, ".irp"));
}

static struct pad
pad_at(const struct unit *u, const struct code *c, size_t i)
{
	uint32_t k = c->pads.at[i], off = u->place[c->stmts.at[k]].off;
	uint32_t end = k + 1 < c->stmts.n ? u->place[c->stmts.at[k + 1]].off : c->nbyte;
	const struct stmt *s = &u->text->stmts.at[c->stmts.at[k]];
	struct padder x = {u, c->stmts.at[k]};
	struct pad p = {0};
	char room[64];
	struct str word = lowered(stmt_word(u->text, s), room);

	if (s->kind == STMT_DIRECTIVE)
		read_pad(&x, word, stmt_rest(u->text, s), &p);
	else if (is_shown(u->text, word))
		p.align = block_alignment(&x, stmt_rest(u->text, s));
	p.fixes &= p.align && !(end % p.align);
	p.off = off;
	p.end = end;
	return p;
}

/* Does a label stand before the padding, at the same place? Then that place is before the padding even if there is none yet. */
static bool
is_named(const struct unit *u, const struct code *c, size_t i)
{
	uint32_t stmt = c->stmts.at[c->pads.at[i]], off = u->place[stmt].off;

	while (stmt-- > 0 && (u->place[stmt].section != c->section || u->place[stmt].off == off))
		if (u->text->stmts.at[stmt].kind == STMT_LABEL || defines_name(u->text, &u->text->stmts.at[stmt]))
			return true;
	return false;
}

/* How many of all paddings begin at an offset up to this one. */
static size_t
pads_to(const struct unit *u, const struct code *c, uint32_t off)
{
	size_t a = 0, b = c->pads.n;

	while (a < b) {
		size_t mid = (a + b) / 2;

		if (u->place[c->stmts.at[c->pads.at[mid]]].off <= off)
			a = mid + 1;
		else
			b = mid;
	}
	return a;
}

uint32_t
pad_room(const struct unit *u, const struct code *c, uint32_t lo, uint32_t hi)
{
	uint32_t n = 0;

	for (size_t i = pads_to(u, c, hi); i-- > 0;) {
		uint32_t k = c->pads.at[i], off = u->place[c->stmts.at[k]].off;
		uint32_t end = k + 1 < c->stmts.n ? u->place[c->stmts.at[k + 1]].off : c->nbyte;

		if (end <= lo)
			break;
		n += (end < hi ? end : hi) - (off > lo ? off : lo);
	}
	return n;
}

uint32_t
pad_start(const struct unit *u, const struct code *c, uint32_t lo, uint32_t hi, uint32_t *behind)
{
	uint32_t most = 1;

	*behind = UINT32_MAX;
	for (size_t i = pads_to(u, c, hi); i-- > 0;) {
		struct pad p = pad_at(u, c, i);
		bool between = p.end > lo || (p.off == lo && is_named(u, c, i));

		if (p.off == hi && p.end > hi)
			continue;
		if (!between && most == 1)
			return lo;
		if (!between && p.fixes && p.align >= most) {
			*behind = p.off;
			return p.end;
		}
		if (!p.align)
			return 0;
		most = p.align > most ? p.align : most;
	}
	return most == 1 ? lo : 0;
}
