/* SPDX-License-Identifier: MIT */
/* Statements of GNU assembler text. Newlines and `;` separate them. A comment runs from `#` to the end of the line (from `/`, too,
 * if the line begins with it), or between slash-star and star-slash. Strings and character constants hide separators and comments.
 * The slices of all statements, in order, never overlap. */
#include "asm/asm.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The state of the reader. */
struct reader {
	struct text *t;
	struct pool *pool;
	const char *p, *end;
	uint32_t line;
	bool line_start;      /* nothing but blanks and labels since the newline */
	uint8_t flags;        /* STMT_FOREIGN, STMT_INLINE, STMT_ALIEN, STMT_OTHER, STMT_META now */
	uint8_t syntax;       /* with STMT_FOREIGN: which */
	uint32_t depth;       /* open .macro and .rept blocks */
	bool in_macro;        /* the outermost is a .macro */
	uint32_t conditions;  /* open .if */
	uint32_t open;        /* statement that opened the outermost one */
	VEC(uint8_t) sections;  /* pushed: flags of the section, flags of the one before */
	uint8_t previous;
	bool switched;        /* an open condition has a directive that changes the section */
	const char *why;
};

static bool
is_symbol_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || (unsigned char)c >= 0x80;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\f' || c == '\r' || c == '\v' || c == '\0';
}

struct str
stmt_str(const struct text *t, const struct stmt *s)
{
	return (struct str){t->at + s->at, s->len};
}

struct str
stmt_word(const struct text *t, const struct stmt *s)
{
	struct str w = stmt_str(t, s);
	size_t n = 0;

	while (n < w.n && is_symbol_char(w.at[n]))
		n++;
	w.n = n;
	return w;
}

const char *
stmt_syntax(const struct text *t, const struct stmt *s)
{
	return s->flags & STMT_FOREIGN ? t->machine->foreign[s->syntax] : NULL;
}

bool
word_is(struct str word, const char *name)
{
	return word.n == strlen(name) && !strncasecmp(word.at, name, word.n);
}

struct str
stmt_rest(const struct text *t, const struct stmt *s)
{
	struct str r = stmt_str(t, s);
	size_t n = stmt_word(t, s).n;

	while (n < r.n && is_blank(r.at[n]))
		n++;
	return (struct str){r.at + n, r.n - n};
}

size_t
text_number(struct str s)
{
	size_t n = s.n && *s.at == '-';
	bool hex = s.n > n + 2 && s.at[n] == '0' && (s.at[n + 1] == 'x' || s.at[n + 1] == 'X');

	for (n += hex ? 2 : 0; n < s.n && (hex ? isxdigit((unsigned char)s.at[n]) : isdigit((unsigned char)s.at[n]));)
		n++;
	return n;
}

int
stmt_pc_number(const struct text *t, const struct stmt *s)
{
	struct str word = stmt_word(t, s), rest = stmt_rest(t, s);
	size_t n = text_number(rest);

	if (s->kind != STMT_CODE || s->flags & STMT_FOREIGN || !t->machine->is_load_address(word))
		return -1;
	return str_starts((struct str){rest.at + n, rest.n - n}, t->machine->pc) ? (int)n : -1;
}

/* ---- lexical skipping ---- */

static const char *
skip_string(struct reader *r, const char *p)
{
	for (p++; p < r->end && *p != '"'; p++) {
		if (*p == '\\' && p + 1 < r->end)
			p++;
		if (*p == '\n')
			r->line++;
	}
	return p < r->end ? p + 1 : p;
}

/* 'c, 'c' or '\c': the quote after it is optional. */
static const char *
skip_char(struct reader *r, const char *p)
{
	p++;
	if (p < r->end && *p == '\\')
		p++;
	if (p < r->end && *p != '\n')
		p++;
	if (p < r->end && *p == '\'')
		p++;
	return p;
}

static const char *
skip_comment(struct reader *r, const char *p)
{
	for (p += 2; p < r->end; p++) {
		if (*p == '\n')
			r->line++;
		if (*p == '*' && p + 1 < r->end && p[1] == '/')
			return p + 2;
	}
	return p;
}

static const char *
line_end(struct reader *r, const char *p)
{
	const char *nl = memchr(p, '\n', (size_t)(r->end - p));

	return nl ? nl : r->end;
}

/* Characters that end or hide the text of a statement. */
static bool
is_special(char c)
{
	return c == '\n' || c == ';' || c == '#' || c == '"' || c == '\'' || c == '/';
}

/* The end of the statement that begins at p: at its separator, its comment or the end of the text. */
static const char *
statement_end(struct reader *r, const char *p)
{
	while (p < r->end) {
		if (!is_special(*p))
			p++;
		else if (*p == '"')
			p = skip_string(r, p);
		else if (*p == '\'')
			p = skip_char(r, p);
		else if (*p == '/' && p + 1 < r->end && p[1] == '*')
			p = skip_comment(r, p);
		else if (*p == '/')
			p++;
		else
			break;
	}
	return p;
}

/* ---- sections: which of them hold no code ---- */

uint8_t
section_flags(struct str name)
{
	static const char *const meta[] = {
		".debug_", ".eh_frame", ".gcc_except_table", ".note", ".comment", ".gnu.lto_", ".zdebug", ".stab",
		".gnu.debuglto_",
	};
	static const char *const prefix[] = {
		".rodata", ".data", ".bss", ".tdata", ".tbss", ".init_array", ".fini_array", ".ctors", ".dtors",
		".ldata", ".lbss", ".lrodata", ".sdata", ".preinit_array",
	};

	if (name.n && name.at[0] == '"')
		name = (struct str){name.at + 1, name.n - 1};
	for (size_t i = 0; i < sizeof meta / sizeof *meta; i++)
		if (str_starts(name, meta[i]))
			return STMT_OTHER | STMT_META;
	for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
		if (str_starts(name, prefix[i]))
			return STMT_OTHER;
	return 0;
}

enum { SECTION_FLAGS = STMT_OTHER | STMT_META };

static void
enter_section(struct reader *r, uint8_t other)
{
	r->previous = r->flags & SECTION_FLAGS;
	r->flags = (uint8_t)((r->flags & ~SECTION_FLAGS) | (r->t->unseen ? 0 : other));
	r->switched |= r->conditions > 0;
}

/* From here on it is not known which section this is, so it may hold code. */
static void
forget_sections(struct reader *r)
{
	r->flags &= (uint8_t)~SECTION_FLAGS;
	r->previous = 0;
	for (size_t i = 0; i < r->sections.n; i++)
		r->sections.at[i] = 0;
}

static bool
changes_section(struct str word)
{
	static const char *const words[] = {".section", ".pushsection", ".popsection", ".previous", ".text", ".data", ".bss"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_is(word, words[i]))
			return true;
	return false;
}

/* Do the operands of .section say that it holds instructions, whatever its name is? */
static bool
is_executable(struct str rest)
{
	const char *comma = memchr(rest.at, ',', rest.n);
	size_t i = comma ? (size_t)(comma - rest.at) + 1 : rest.n;

	while (i < rest.n && is_blank(rest.at[i]))
		i++;
	if (i >= rest.n || rest.at[i] != '"')
		return false;
	for (i++; i < rest.n && rest.at[i] != '"' && rest.at[i] != 'x'; i++)
		;
	return i < rest.n && rest.at[i] == 'x';
}

static bool
section_directive(struct reader *r, struct str word, struct str rest)
{
	uint8_t other = is_executable(rest) ? 0 : section_flags(rest);

	if (str_is(word, ".section")) {
		enter_section(r, other);
	} else if (str_is(word, ".pushsection")) {
		VEC_PUSH(r->sections, (uint8_t)(r->flags & SECTION_FLAGS));
		VEC_PUSH(r->sections, r->previous);
		enter_section(r, other);
	} else if (str_is(word, ".popsection") && r->sections.n >= 2) {
		enter_section(r, r->sections.at[r->sections.n - 2]);
		r->previous = r->sections.at[r->sections.n - 1];
		r->sections.n -= 2;
	} else if (str_is(word, ".previous")) {
		enter_section(r, r->previous);
	} else if (str_is(word, ".text")) {
		enter_section(r, 0);
	} else if (str_is(word, ".data") || str_is(word, ".bss")) {
		enter_section(r, STMT_OTHER);
	} else {
		return false;
	}
	return true;
}

/* ---- directives that matter here ---- */

/* The word in lower case, as the assembler takes it, in `room`. A longer word is returned as it is. */
static struct str
lowered(struct str word, char room[static 64])
{
	if (word.n > 64)
		return word;
	for (size_t i = 0; i < word.n; i++)
		room[i] = (char)tolower((unsigned char)word.at[i]);
	return (struct str){room, word.n};
}

static bool
is_data(struct str word)
{
	static const char *const data[] = {
		".byte", ".long", ".quad", ".value", ".short", ".word", ".int", ".hword", ".2byte", ".4byte", ".8byte",
		".octa", ".ascii", ".asciz", ".string", ".string8", ".string16", ".string32", ".string64", ".uleb128",
		".sleb128", ".float", ".double", ".single", ".tfloat", ".incbin", ".base64", ".bfloat16", ".float16",
		".hfloat", ".slong",
	};

	for (size_t i = 0; i < sizeof data / sizeof *data; i++)
		if (str_is(word, data[i]))
			return true;
	return str_starts(word, ".dc");
}

static bool
is_room(struct str word)
{
	return str_is(word, ".skip") || str_is(word, ".space") || str_is(word, ".zero") || str_is(word, ".fill") ||
	       str_starts(word, ".ds.");
}

static uint8_t
makes_bytes(struct str word)
{
	static const char *const pad[] = {
		".p2align", ".p2alignw", ".p2alignl", ".align", ".balign", ".balignw", ".balignl", ".org", ".nops", ".nop",
	};

	if (is_data(word))
		return STMT_BYTES;
	for (size_t i = 0; i < sizeof pad / sizeof *pad; i++)
		if (str_is(word, pad[i]))
			return STMT_BYTES | STMT_PAD;
	return is_room(word) ? STMT_BYTES | STMT_PAD : 0;
}

static bool
repeats(struct str word)
{
	return str_is(word, ".rept") || str_is(word, ".rep") || str_is(word, ".irp") || str_is(word, ".irpc") ||
	       str_is(word, ".irep") || str_is(word, ".irepc");
}

/* In a macro the assembler looks for macros only, up to its end, and in .rept and the like for their kind only. */
static bool
opens_block(const struct reader *r, struct str word)
{
	bool macro = str_is(word, ".macro");

	return r->depth ? r->in_macro ? macro : repeats(word) : macro || repeats(word);
}

static bool
closes_block(const struct reader *r, struct str word)
{
	return str_is(word, r->in_macro ? ".endm" : ".endr");
}

/* The statement behind labels. In a block the assembler passes over names, and not over numbers. */
static const char *
behind_labels(const char *p, const char *end)
{
	const char *q;

	for (; p < end && !isdigit((unsigned char)*p); p = q) {
		q = p;
		while (q < end && is_symbol_char(*q))
			q++;
		if (q == p)
			break;
		while (q < end && is_blank(*q))
			q++;
		if (q == end || *q != ':')
			break;
		q++;
		while (q < end && is_blank(*q))
			q++;
	}
	return p;
}

/* Does the operand of .ident name a compiler? Assembly written by hand may have an .ident of its own. */
static bool
is_compiler(struct str rest)
{
	static const char *const names[] = {"GCC: (", "clang version", "rustc version", "flang", "LDC"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (memmem(rest.at, rest.n, names[i], strlen(names[i])))
			return true;
	return false;
}

/* The name of a source file in the operand of .file, as readers of maps have it: without control characters. */
static const char *
source_name(struct pool *pool, struct str operand)
{
	const char *name = str_unescaped(pool, (struct str){operand.at + 1, operand.n - 1});
	char *plain = pool_strdup(pool, name);

	for (char *c = plain; *c; c++)
		*c = plain_char(*c);
	return plain;
}

/* What is woven in would change to another syntax behind it than the text has. */
static void
refuse_syntax(struct reader *r)
{
	r->why = pool_printf(r->pool, "line %u: a condition, macro, .rept or .include may change the syntax", r->line);
}

static void
mode_directive(struct reader *r, struct str word, struct str rest)
{
	struct text *t = r->t;
	enum text_mode mode = t->machine->mode(word, rest);
	uint8_t flags = r->flags, syntax = r->syntax;

	if (mode >= TEXT_FOREIGN && mode <= TEXT_FOREIGN_LAST) {
		r->flags |= STMT_FOREIGN;
		r->syntax = (uint8_t)(mode - TEXT_FOREIGN);
	}
	switch (mode) {
	case TEXT_OWN: r->flags &= (uint8_t)~STMT_FOREIGN; break;
	case TEXT_NATIVE: r->flags &= (uint8_t)~STMT_ALIEN; break;
	case TEXT_ALIEN: r->flags |= STMT_ALIEN; break;
	default: break;
	}
	if (r->conditions && (r->flags != flags || r->syntax != syntax))
		refuse_syntax(r);
	if (str_is(word, ".ident"))
		t->compiler |= is_compiler(rest);
	else if (str_is(word, ".file") && !*t->source && rest.n >= 2 && rest.at[0] == '"')
		t->source = source_name(r->pool, rest);
}

/* Counts open conditions, and ends the text at its .end: the assembler reads nothing behind it. One in a condition is left out, or
 * the assembler rejects it. */
static void
flow_directive(struct reader *r, struct str word, const struct stmt *s)
{
	bool ends = str_is(word, ".endif") || str_is(word, ".endc");

	if ((ends || str_starts(word, ".else")) && r->switched)
		forget_sections(r);
	if (str_starts(word, ".if"))
		r->conditions++;
	else if (ends)
		r->conditions -= r->conditions > 0;
	else if (str_is(word, ".end") && !r->conditions)
		r->t->n = s->at;
	r->switched &= r->conditions > 0;
}

static bool
is_emitting_unknown(struct str word)
{
	return str_is(word, ".include");
}

enum { ANYTHING = STMT_MIXED | STMT_SECTIONS | STMT_DEFINES | STMT_DIFFERS | STMT_ALIGNS };

/* What a word tells of the block that it is in: STMT_MIXED if it makes something else than instructions, or counts bytes by `.`. A
 * macro's word has the macro's flags. */
static uint16_t
word_flags(const struct reader *r, struct str word)
{
	uint64_t flags;

	if (is_emitting_unknown(word))
		return ANYTHING;
	if (str_is(word, ".") || is_data(word) || is_room(word))
		return STMT_MIXED;
	if (makes_bytes(word) & STMT_PAD)
		return STMT_ALIGNS;
	if (changes_section(word))
		return STMT_SECTIONS;
	if (str_is(word, ".macro"))
		return STMT_DEFINES;
	if (r->t->machine->mode(word, STR("")) != TEXT_SAME)
		return STMT_SYNTAX;
	return word.n && strmap_get(&r->t->macros, word, &flags) ? (uint16_t)flags : 0;
}

/* Notes what follows from an opaque statement for those behind it. */
static void
note_opaque(struct reader *r, uint16_t flags)
{
	r->t->code |= !(flags & STMT_OTHER) || flags & (STMT_SECTIONS | STMT_DEFINES);
	r->t->unseen |= flags & STMT_DEFINES;
	/* If an .include goes back to AT&T's syntax, woven code would change to the other one behind it. */
	if (flags & STMT_SYNTAX || ((flags & ANYTHING) == ANYTHING && flags & STMT_FOREIGN))
		refuse_syntax(r);
	if (flags & (STMT_SECTIONS | STMT_DEFINES))
		forget_sections(r);
}

bool
word_decides(struct str word)
{
	static const char *const words[] = {".if", ".ifeq", ".ifne", ".ifge", ".ifgt", ".ifle", ".iflt", ".elseif", ".rept", ".rep",
		".irep"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_is(word, words[i]))
			return true;
	return false;
}

/* Is something subtracted from something before the line ends? */
static bool
subtracts(struct str s)
{
	for (size_t i = 1; i < s.n && s.at[i] != '\n' && s.at[i] != ';'; i++) {
		size_t before = i;

		while (s.at[i] == '-' && before && is_blank(s.at[before - 1]))
			before--;
		if (s.at[i] == '-' && before && (is_symbol_char(s.at[before - 1]) || strchr(")@\"", s.at[before - 1])))
			return true;
	}
	return false;
}

/* Does a block have the label at the start of s, as in `2b`? Labels of its own stay where they are from each other. */
static bool
has_label(struct str body, struct str s)
{
	size_t n = 0;

	while (n < s.n && is_symbol_char(s.at[n]))
		n++;
	n -= n && isdigit((unsigned char)*s.at);
	for (size_t i = 0; n && i + n < body.n; i++)
		if (body.at[i + n] == ':' && (!i || !is_symbol_char(body.at[i - 1])) && !memcmp(body.at + i, s.at, n))
			return true;
	return false;
}

/* What is subtracted in a line of a block: what an argument names (STMT_LENGTHS), or a label outside of it, which may be anywhere
 * (STMT_COUNTS). Names that may stand for numbers are passed over. */
static uint16_t
line_lengths(struct str body, struct str line)
{
	enum { LARGE = 1 << 16 };
	uint16_t flags = 0;

	for (size_t i = 1; i < line.n && line.at[i] != '\n' && line.at[i] != ';'; i++) {
		struct str s = {line.at + i + 1, line.n - i - 1};
		size_t digits = 0;
		bool label;

		if (line.at[i] != '-')
			continue;
		while (s.n && (is_blank(*s.at) || *s.at == '('))
			s = (struct str){s.at + 1, s.n - 1};
		while (digits < s.n && isdigit((unsigned char)s.at[digits]))
			digits++;
		label = str_starts(s, ".L") || (digits && digits < s.n && strchr("bf", s.at[digits]));
		if (s.n && *s.at == '\\')
			flags |= STMT_LENGTHS;
		else if (label && (body.n > LARGE || !has_label(body, s)))
			flags |= STMT_COUNTS;
	}
	return flags;
}

/* What the words of a block tell. */
static uint16_t
block_flags(const struct reader *r, struct str body)
{
	uint16_t flags = r->t->machine->counts_from_pc(body) ? STMT_NUMBERS : 0;
	bool decides = false, begins = true;
	struct str word;
	char room[64];

	for (size_t i = 0; i < body.n;) {
		size_t from = i;

		while (i < body.n && is_symbol_char(body.at[i]))
			i++;
		word = lowered((struct str){body.at + from, i - from}, room);
		if (str_is(word, ".size")) /* its `.` only says how long something is */
			while (i < body.n && body.at[i] != '\n' && body.at[i] != ';')
				i++;
		flags |= word_flags(r, word);
		decides = word_decides(word) || (decides && (i == from || body.at[from - 1] != '\n'));
		if (decides && str_is(word, "."))
			flags |= STMT_COUNTS;
		if (is_data(word) && subtracts((struct str){body.at + i, body.n - i}))
			flags |= STMT_DIFFERS;
		if (begins && i > from && !is_data(word))
			flags |= line_lengths(body, (struct str){body.at + i, body.n - i});
		if (i > from)
			begins &= i < body.n && body.at[i] == ':';
		else
			begins |= body.at[i] == '\n' || body.at[i] == ';';
		i += i == from;
	}
	return flags;
}

/* Does a label stand right before a statement, on its line? */
static bool
is_labelled(const struct text *t, const struct stmt *s)
{
	const char *p = t->at + s->at;

	while (p > t->at && is_blank(p[-1]))
		p--;
	return s > t->stmts.at && s[-1].kind == STMT_LABEL && p == t->at + s[-1].at + s[-1].len;
}

/* The name that a .macro gives: that of a label before it on its line, if there is one. */
static struct str
macro_name(const struct text *t, const struct stmt *s)
{
	bool labelled = is_labelled(t, s) && !isdigit((unsigned char)t->at[s[-1].at]);
	struct str name = labelled ? stmt_str(t, s - 1) : stmt_rest(t, s);
	size_t n = 0;

	if (name.n && *name.at == '"')
		name = (struct str){name.at + 1, name.n - 1};

	while (n < name.n && is_symbol_char(name.at[n]))
		n++;
	return (struct str){name.at, n};
}

static void
close_block(struct reader *r, struct stmt *open)
{
	struct text *t = r->t;
	uint16_t flags = block_flags(r, stmt_rest(t, open));
	struct str name;
	char room[64];

	if (open->kind == STMT_OPAQUE) {
		open->flags |= flags;
		note_opaque(r, open->flags);
		return;
	}
	name = lowered(macro_name(t, open), room);
	strmap_put(&r->t->macros, str_of(pool_strndup(r->pool, name.at, name.n)), flags);
}

/* Statements inside .macro, .rept and the like belong to the block, which is one statement. */
static bool
block_statement(struct reader *r, struct str word, const char *begin, const char *end)
{
	struct text *t = r->t;
	struct stmt *open;

	if (!r->depth && !opens_block(r, word))
		return false;
	if (!r->depth) {
		bool macro = str_is(word, ".macro");

		r->in_macro = macro;
		r->open = (uint32_t)t->stmts.n;
		VEC_PUSH(t->stmts, (struct stmt){(uint32_t)(begin - t->at), 0, r->line,
			macro ? STMT_DIRECTIVE : STMT_OPAQUE, r->syntax, r->flags});
	}
	if (str_is(word, ".end"))
		r->why = pool_printf(r->pool, "line %u: an .end in a macro or .rept", r->line);
	r->depth += opens_block(r, word);
	r->depth -= closes_block(r, word);
	open = &t->stmts.at[r->open];
	open->len = (uint32_t)(end - t->at) - open->at;
	if (!r->depth)
		close_block(r, open);
	return true;
}

static void
add_directive(struct reader *r, struct str word, struct str low, struct stmt s)
{
	struct str rest = {word.at + word.n, s.len - word.n};

	while (rest.n && is_blank(*rest.at))
		rest = (struct str){rest.at + 1, rest.n - 1};
	s.kind = STMT_DIRECTIVE;
	flow_directive(r, low, &s);
	if (r->t->n == s.at)
		return;
	if (str_is(low, ".insn")) {
		s.kind = STMT_CODE;
		r->t->code |= !(s.flags & STMT_OTHER);
	}
	if (!section_directive(r, low, rest)) {
		mode_directive(r, low, rest);
		s.flags |= makes_bytes(low);
		if (is_emitting_unknown(low)) {
			s.kind = STMT_OPAQUE;
			s.flags |= ANYTHING;
			note_opaque(r, s.flags);
		}
	}
	VEC_PUSH(r->t->stmts, s);
}

static void
add_statement(struct reader *r, const char *begin, const char *end)
{
	struct text *t = r->t;
	struct stmt s = {(uint32_t)(begin - t->at), (uint32_t)(end - begin), r->line, STMT_CODE, r->syntax, r->flags};
	struct str word = {begin, 0}, low;
	char room[64];
	const char *p;
	uint64_t flags;

	if (r->depth)
		word.at = behind_labels(begin, end);
	while (word.at + word.n < end && is_symbol_char(word.at[word.n]))
		word.n++;
	low = lowered(word, room);
	if (block_statement(r, low, begin, end))
		return;
	if (word.n && *begin == '.' && !(r->t->macros.n && strmap_get(&r->t->macros, low, &flags))) {
		add_directive(r, word, low, s);
		return;
	}
	for (p = word.at + word.n; p < end && is_blank(*p); p++)
		;
	if (word.n && p < end && *p == '=') {
		s.kind = STMT_ASSIGN;
	} else {
		t->code |= !(s.flags & STMT_OTHER);
		if (r->t->macros.n && strmap_get(&r->t->macros, low, &flags)) {
			s.kind = STMT_OPAQUE;
			s.flags |= (uint16_t)flags;
			note_opaque(r, s.flags);
		}
	}
	VEC_PUSH(t->stmts, s);
}

/* The end of the label at p, after the colon; NULL: there is no label. */
static const char *
label_end(struct reader *r, const char *p)
{
	const char *q = p;

	if (q < r->end && *q == '"')
		q = skip_string(r, q);
	else
		while (q < r->end && is_symbol_char(*q))
			q++;
	if (q == p)
		return NULL;
	while (q < r->end && (*q == ' ' || *q == '\t'))
		q++;
	return q < r->end && *q == ':' ? q + 1 : NULL;
}

/* Handles `#APP`, `#NO_APP`, and what clang writes around assembly outside of functions. Other comments mean nothing. */
static void
hash_line(struct reader *r, const char *p)
{
	struct str rest = {p, (size_t)(r->end - p)};

	if (str_starts(rest, "#APP") || str_starts(rest, "# Start of file scope inline assembly"))
		r->flags |= STMT_INLINE;
	else if (str_starts(rest, "#NO_APP") || str_starts(rest, "# End of file scope inline assembly"))
		r->flags &= (uint8_t)~STMT_INLINE;
}

static const char *
trim_end(const char *begin, const char *end)
{
	while (end > begin && is_blank(end[-1]))
		end--;
	return end;
}

static void
read_one(struct reader *r)
{
	const char *p = r->p, *q;
	uint32_t line = r->line, after;

	if (*p == '\n') {
		r->line++;
		r->line_start = true;
		r->p++;
	} else if (*p == ';' || is_blank(*p)) {
		r->p++;
	} else if (*p == '#' || (*p == '/' && r->line_start && !(p + 1 < r->end && p[1] == '*'))) {
		if (r->line_start)
			hash_line(r, p);
		r->p = line_end(r, p);
	} else if (*p == '/' && p + 1 < r->end && p[1] == '*') {
		r->p = skip_comment(r, p);
	} else if (!r->depth && (q = label_end(r, p))) {
		VEC_PUSH(r->t->stmts, (struct stmt){(uint32_t)(p - r->t->at), (uint32_t)(q - p), line, STMT_LABEL, r->syntax,
			r->flags});
		r->p = q;
		r->line_start = false;
	} else {
		q = statement_end(r, p);
		if (q == p)
			q++;
		after = r->line;
		r->line = line;
		add_statement(r, p, trim_end(p, q));
		r->line = after;
		r->p = q;
		r->line_start = false;
	}
}

bool
text_defines(const struct text *t, const char *at, size_t n, struct str *name)
{
	char room[64];

	for (size_t i = 0; i < n && t->macros.n; i++) {
		size_t from = i;

		while (i < n && is_symbol_char(at[i]))
			i++;
		*name = lowered((struct str){at + from, i - from}, room);
		if (i < n && at[i] == ':')
			continue;
		if (name->n && strmap_get(&t->macros, *name, &(uint64_t){0})) {
			*name = (struct str){at + from, name->n};
			return true;
		}
		if (i == from && is_blank(at[i]))
			continue;
		while (i < n && at[i] != ';' && at[i] != '\n')
			i++;
	}
	return false;
}

bool
text_read(struct text *t, struct pool *pool, const struct machine_text *machine, const char *at, size_t n, const char *file,
          const char **why)
{
	struct reader r = {.t = t, .pool = pool, .p = at, .end = at + n, .line = 1, .line_start = true};

	*t = (struct text){.machine = machine, .at = at, .n = (uint32_t)n, .file = file, .source = ""};
	if (n >= UINT32_MAX) {
		*why = "more than 4 GiB of text";
		return false;
	}
	while (r.p < r.end && t->n == n && !r.why)
		read_one(&r);
	free(r.sections.at);
	if (r.depth && !r.why)
		r.why = pool_printf(pool, "line %u: a macro or .rept that does not end", t->stmts.at[r.open].line);
	*why = r.why ? r.why : *why;
	return !r.why;
}

void
text_free(struct text *t)
{
	free(t->stmts.at);
	strmap_free(&t->macros);
	t->stmts.n = 0;
	t->stmts.at = NULL;
}
