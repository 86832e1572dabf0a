/* SPDX-License-Identifier: MIT */
/* Command lines: the assembler's options, as far as its stand-in has to understand them, and @files, which compiler commands have,
 * too. */
#include "driver/driver.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- @files ---- */

/* The most files that are read. The compiler has the same limit, and reports it. */
enum { AT_FILES = 2000 };

void
args_split(struct pool *pool, struct str s, VEC_ARGS *out)
{
	struct buf word = {0};
	bool any = false;
	char quote = 0;

	for (size_t i = 0; i <= s.n; i++) {
		char c = i < s.n ? s.at[i] : ' ';

		if (c == '\\' && i + 1 < s.n) {
			buf_char(&word, s.at[++i]);
			any = true;
		} else if (quote ? c == quote : c == '"' || c == '\'') {
			quote = quote ? 0 : c;
			any = true;
		} else if (!quote && isspace((unsigned char)c)) {
			if (any)
				VEC_PUSH(*out, pool_strndup(pool, word.n ? word.at : "", word.n));
			word.n = 0;
			any = false;
		} else {
			buf_char(&word, c);
			any = true;
		}
	}
	if (any)
		VEC_PUSH(*out, pool_strndup(pool, word.n ? word.at : "", word.n));
	buf_free(&word);
}

/* Reads the file of an argument @FILE. `-` is a file of that name here. *once: it cannot be read again. */
static bool
read_at_file(const char *arg, struct buf *text, bool *once)
{
	const char *name = strcmp(arg, "@-") ? arg + 1 : "./-";
	struct stat st;

	if (*arg != '@' || stat(name, &st) || !file_read(name, text))
		return false;
	*once |= !S_ISREG(st.st_mode);
	return true;
}

/* left: how many more files may be read. If none may, a file probably contains itself, and the argument stays as it is. */
static void
expand(struct pool *pool, char *const *args, size_t n, VEC_ARGS *out, unsigned *left, bool *once)
{
	for (size_t i = 0; i < n; i++) {
		struct buf text = {0};
		VEC_ARGS inner = {0};

		if (!*left || !read_at_file(args[i], &text, once)) {
			VEC_PUSH(*out, args[i]);
		} else {
			--*left;
			args_split(pool, (struct str){text.at, text.n}, &inner);
			expand(pool, inner.at, inner.n, out, left, once);
		}
		free(inner.at);
		buf_free(&text);
	}
}

bool
args_expand(struct pool *pool, char *const *args, size_t n, VEC_ARGS *out)
{
	unsigned left = AT_FILES;
	bool once = false;

	expand(pool, args, n, out, &left, &once);
	return once;
}

/* ---- the assembler's options ---- */

/* A long option may have one dash or two. Its value comes after `=` or in the next argument. */
static const char *
long_name(const char *s)
{
	return s[0] == '-' && s[1] == '-' ? s + 2 : s + 1;
}

static bool
value_is_next(const char *s)
{
	static const char *const names[] = {
		"defsym", "debug-prefix-map", "hash-size", "MD", "listing-lhs-width", "listing-lhs-width2", "listing-rhs-width",
		"listing-cont-lines", "gdwarf-cie-version", "size-check", "elf-stt-common", "multibyte-handling",
		"generate-missing-build-notes", "march", "mtune", "mmnemonic", "msyntax", "msse-check", "moperand-check",
		"malign-branch", "malign-branch-boundary", "malign-branch-prefix-size", "mx86-used-note",
	};

	return !strcmp(s, "-o") || !strcmp(s, "-I") || !strcmp(s, "-Q") || NAMED(long_name(s), names);
}

/* Does the option ask for something that only the assembler itself can answer? */
static bool
is_probe(const char *s)
{
	static const char *const names[] = {"version", "help", "target-help", "dump-config"};

	return NAMED(long_name(s), names);
}

static bool
is_for_original(const char *s)
{
	return (!strncmp(s, "-a", 2) && strcmp(s, "-alternate")) || !strcmp(s, "--MD") || !strncmp(s, "--MD=", 5) ||
	       !strcmp(s, "-MD");
}

/* Does it have the assembler pad code before branches? That moves instructions away from where the map has them, and differently
 * in each text. So a text with counters gets no such padding. */
static bool
pads_branches(const char *s)
{
	return !strncmp(long_name(s), "mbranches-within", 16) || !strncmp(long_name(s), "malign-branch", 13);
}

static bool
is_debug(const char *s)
{
	return !strcmp(s, "-g") || !strcmp(s, "--gen-debug") || !strncmp(s, "--gdwarf-", 9) || !strncmp(s, "-gdwarf-", 8) ||
	       !strncmp(s, "--gstabs", 8) || !strncmp(s, "-gstabs", 7);
}

static void
take_option(struct as_args *a, char *s, char *value)
{
	VEC_ARGS *to = NULL;

	if (!strcmp(s, "-o"))
		a->output = value;
	else if (!strncmp(s, "-o", 2))
		a->output = s + 2;
	else if (is_for_original(s))
		to = &a->original_only;
	else
		to = pads_branches(s) ? &a->unwoven : &a->options;
	a->as_called |= is_probe(s);
	a->debug |= is_debug(s);
	a->other_mode |= !strcmp(s, "--32") || !strcmp(s, "--x32");
	a->other_mode &= strcmp(s, "--64") != 0;
	if (to)
		VEC_PUSH(*to, s);
	if (to && value)
		VEC_PUSH(*to, value);
}

/* Says so if input i is a part of the request before it: gcc and clang split their option -Wa at commas. */
static bool
is_split(char **argv, size_t i)
{
	const char *s = argv[i], *before = i ? argv[i - 1] : "";

	if (strncmp(before, "--chord=", 8) || !access(s, F_OK))
		return false;
	if (!strchr(before, '@') && measure_named(str_of(s)) == CHORD_MEASURES)
		return false;
	say_error(before, "'%s' after it is no file; with -Wa, measures are joined by +, and a comma in a value is %%2c", s);
	return true;
}

/* Takes one argument, and its value if it has one. */
static bool
take(struct as_args *a, char **argv, size_t n, size_t *i)
{
	char *s = argv[*i], *value = NULL;

	if (!strncmp(s, "--chord=", 8))
		return request_take(s + 8, &a->request, a->pool);
	if (*s != '-' || !s[1]) {
		if (is_split(argv, *i))
			return false;
		VEC_PUSH(a->inputs, s);
	} else if (!strcmp(s, "--")) {
		*i = n - 1; /* the assembler ignores everything after it */
	} else {
		if (value_is_next(s)) {
			a->as_called |= *i + 1 == n;
			value = *i + 1 < n ? argv[++*i] : NULL;
		}
		take_option(a, s, value);
	}
	return true;
}

bool
as_args_read(struct as_args *a, int argc, char **argv)
{
	VEC_ARGS all = {0};
	bool ok = true;

	*a = (struct as_args){.pool = pool_new(), .output = "a.out"};
	args_expand(a->pool, argv + 1, argc ? (size_t)argc - 1 : 0, &all);
	for (size_t i = 0; i < all.n && ok; i++)
		ok = take(a, all.at, all.n, &i);
	ok = ok && request_complete(&a->request, a->pool);
	a->all = pool_array(a->pool, all.n + 1, sizeof *a->all);
	for (size_t i = 0; i < all.n; i++)
		if (strncmp(all.at[i], "--chord=", 8))
			a->all[a->nall++] = all.at[i];
	free(all.at);
	return ok;
}

void
as_args_free(struct as_args *a)
{
	free(a->inputs.at);
	free(a->options.at);
	free(a->original_only.at);
	free(a->unwoven.at);
	request_free(&a->request);
	pool_free(a->pool);
}
