/* SPDX-License-Identifier: MIT */
/* AT&T syntax, in which all woven-in code is written, and what Chord has to know of Intel syntax. */
#include "machine/x86_64/x86_64.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static enum text_mode
mode(struct str word, struct str rest)
{
	if (str_is(word, ".intel_syntax"))
		return str_is(rest, "noprefix") ? TEXT_FOREIGN : TEXT_FOREIGN + 1;
	if (str_is(word, ".att_syntax"))
		return str_is(rest, "noprefix") ? TEXT_FOREIGN + 2 : TEXT_OWN;
	if (str_is(word, ".code32") || str_is(word, ".code16") || str_is(word, ".code16gcc"))
		return TEXT_ALIEN;
	return str_is(word, ".code64") ? TEXT_NATIVE : TEXT_SAME;
}

static bool
is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || (unsigned char)c >= 0x80;
}

static size_t
back_over(struct str s, size_t at, const char *chars)
{
	while (at && strchr(chars, s.at[at - 1]))
		at--;
	return at;
}

/* Does a number stand before the bracket at `at`, or nothing that can be a name? */
static bool
has_number_before(struct str s, size_t at)
{
	size_t end = back_over(s, at, " \t"), i = end;

	while (i && (is_word(s.at[i - 1]) || strchr("+\\()@", s.at[i - 1])))
		i--;
	while (i < end && s.at[i] == '+')
		i++;
	return i == end || isdigit((unsigned char)s.at[i]);
}

/* `N(%rip)`, `(%rip)`, `N[rip]`, `[rip + N]` or `[N + rip]`; pc: where the register's name stands, after any %. */
static bool
is_counted(struct str s, size_t pc)
{
	size_t before = back_over(s, pc, "% \t"), after = pc + 3;

	while (after < s.n && strchr(" \t", s.at[after]))
		after++;
	if (after < s.n && strchr("+-", s.at[after])) {
		for (after++; after < s.n && strchr(" \t", s.at[after]);)
			after++;
		return after < s.n && isdigit((unsigned char)s.at[after]);
	}
	if (!before || !strchr("([+", s.at[before - 1]))
		return false;
	return has_number_before(s, before - 1);
}

static bool
counts_from_pc(struct str s)
{
	for (size_t i = 1; i + 3 <= s.n; i++)
		if (strchr("rReE", s.at[i]) && !strncasecmp(s.at + i + 1, "ip", 2) && !is_word(s.at[i - 1]) &&
		    (i + 3 == s.n || !is_word(s.at[i + 3])) && is_counted(s, i))
			return true;
	return false;
}

/* Either case is taken. */
static bool
is_mnemonic(struct str word, const char *name)
{
	return word.n == strlen(name) && !strncasecmp(word.at, name, word.n);
}

static bool
is_load_address(struct str word)
{
	return is_mnemonic(word, "lea") || is_mnemonic(word, "leaq");
}

static struct str
moved(struct str word, struct str rest)
{
	if (word.n < 3 || strncasecmp(word.at, "mov", 3))
		return STR("");
	while (rest.n && rest.at[rest.n - 1] != ',')
		rest.n--;
	rest.n -= rest.n > 0;
	return rest;
}

/* The pointer of a call *OPERAND that names only 64-bit registers. */
static struct str
pointer(struct str word, struct str rest)
{
	if (!(is_mnemonic(word, "call") || is_mnemonic(word, "callq")) || rest.n < 2 || *rest.at != '*' ||
	    memchr(rest.at, '@', rest.n) || memchr(rest.at, '#', rest.n) || memchr(rest.at, '"', rest.n) ||
	    memmem(rest.at, rest.n, "%e", 2))
		return STR("");
	return (struct str){rest.at + 1, rest.n - 1};
}

#define GOT "@GOTPCREL"

/* Reads NAME, NAME@PLT, *NAME@GOTPCREL(%rip) or [QWORD PTR NAME@GOTPCREL[rip]]. */
static bool
callee(struct str word, struct str rest, struct text_callee *out)
{
	static const char *const ways[][2] = {{"*", GOT "(%rip)"}, {"[QWORD PTR ", GOT "[rip]]"}};

	if (!is_mnemonic(word, "call") && !is_mnemonic(word, "jmp") && !is_mnemonic(word, "callq") && !is_mnemonic(word, "jmpq"))
		return false;
	*out = (struct text_callee){.name = rest};
	for (int i = 0; i < 2; i++)
		if (str_starts(rest, ways[i][0]) && str_ends(rest, ways[i][1])) {
			out->name.at += strlen(ways[i][0]);
			out->name.n -= strlen(ways[i][0]) + strlen(ways[i][1]);
			out->mark = (struct str){out->name.at + out->name.n, strlen(GOT)};
			return true;
		}
	if (str_ends(rest, "@PLT"))
		out->name.n -= 4;
	return true;
}

static bool
by_got(struct str stmt)
{
	return stmt.n && memmem(stmt.at, stmt.n, GOT, strlen(GOT));
}

static void
jump_out(struct buf *out, const char *name)
{
	buf_printf(out, "\tjmp\t%s@PLT\n", name);
}

/* The resolver is called through a pointer, so with control-flow protection the processor demands an endbr64. */
static void
before_resolver(struct buf *out, const char *name)
{
	buf_printf(out, "\t.cfi_startproc\n\tendbr64\n\tleaq\t%s(%%rip), %%r11\n\tjmp\t__chord_resolver\n\t.cfi_endproc\n", name);
}

static bool
is_helper(const char *name)
{
	return str_starts(str_of(name), "__x86_");
}

static uint16_t
named(struct str name)
{
	const char *const *const names[] = {name64, name32, name16, name8};

	if (name.n && *name.at == '%')
		name = (struct str){name.at + 1, name.n - 1};
	for (unsigned r = 0; r < 16; r++)
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			if (str_is(name, names[i][r]))
				return (uint16_t)(1 << r);
	return 0;
}

const struct machine_text x86_text = {
	.own = "\t.att_syntax prefix\n",
	.foreign = {"\t.intel_syntax noprefix\n", "\t.intel_syntax prefix\n", "\t.att_syntax noprefix\n"},
	.mode = mode, .pc = "(%rip)",
	.counts_from_pc = counts_from_pc, .is_load_address = is_load_address, .moved = moved, .pointer = pointer, .callers = "cj",
	.callee = callee, .by_got = by_got, .jump_out = jump_out,
	.before_resolver = before_resolver, .is_helper = is_helper, .named = named,
};
