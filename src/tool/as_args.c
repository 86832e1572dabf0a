/* SPDX-License-Identifier: MIT */
/* The assembler's command line, as far as its stand-in has to understand it. */
#include "tool/as.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Options whose value is the next argument. */
static bool
takes_value(const char *a)
{
	static const char *const names[] = {"-o", "-I", "--MD", "--defsym", "-defsym", "--debug-prefix-map", "--hash-size",
		"--listing-lhs-width", "--listing-lhs-width2", "--listing-rhs-width", "--listing-cont-lines", "-J",
		"--reduce-memory-overheads", "-K"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(a, names[i]))
			return i < 12 && strcmp(a, "-J");
	return false;
}

/* Asks for something that only the assembler itself can answer. */
static bool
is_probe(const char *a)
{
	return !strcmp(a, "--version") || !strcmp(a, "--help") || !strcmp(a, "--target-help") || !strcmp(a, "-version");
}

static bool
set_measure(struct as_args *a, const char *list)
{
	static const struct { const char *name; uint8_t measure; } measures[] = {
		{"edges", CHORD_EDGES}, {"every-block", CHORD_EVERY_BLOCK}, {"every-edge", CHORD_EVERY_EDGE},
	};

	for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
		if (!strcmp(list, measures[i].name)) {
			a->measure = measures[i].measure;
			return true;
		}
	error("-fchord", "unknown measure '%s'; there are edges, every-block and every-edge", list);
	return false;
}

/* Splits the text of an @file at blanks; quotes and backslashes protect. */
static void
split_file(struct as_args *a, const char *s, size_t n, VEC_ARGS *out)
{
	struct buf word = {0};
	bool any = false;
	char quote = 0;

	for (size_t i = 0; i <= n; i++) {
		char c = i < n ? s[i] : ' ';

		if (c == '\\' && i + 1 < n) {
			buf_char(&word, s[++i]);
			any = true;
		} else if (quote ? c == quote : c == '"' || c == '\'') {
			quote = quote ? 0 : c;
			any = true;
		} else if (!quote && isspace((unsigned char)c)) {
			if (any) {
				VEC_PUSH(*out, pool_strndup(a->pool, word.n ? word.at : "", word.n));
				word.n = 0;
				any = false;
			}
		} else {
			buf_char(&word, c);
			any = true;
		}
	}
	buf_free(&word);
}

static void
expand(struct as_args *a, int argc, char **argv, VEC_ARGS *out, int depth)
{
	for (int i = 0; i < argc; i++) {
		struct buf text = {0};
		VEC_ARGS inner = {0};

		if (*argv[i] != '@' || depth > 100 || !file_read(argv[i] + 1, &text)) {
			VEC_PUSH(*out, argv[i]);
			continue;
		}
		split_file(a, text.at, text.n, &inner);
		expand(a, (int)inner.n, inner.at, out, depth + 1);
		free(inner.at);
		buf_free(&text);
	}
}

static bool
is_option_for_original(const char *s)
{
	return !strncmp(s, "-a", 2) || !strncmp(s, "--MD", 4) || !strcmp(s, "-MD") || !strcmp(s, "--statistics");
}

/* One argument, and its value if it has one. */
static bool
take(struct as_args *a, char **argv, size_t n, size_t *i)
{
	char *s = argv[*i];
	char *value = takes_value(s) && *i + 1 < n ? argv[++*i] : NULL;

	if (!strncmp(s, "--chord=", 8))
		return set_measure(a, s + 8);
	a->probe |= is_probe(s);
	a->other_mode |= !strcmp(s, "--32") || !strcmp(s, "--x32");
	a->other_mode |= !strcmp(s, "-mfence-as-lock-add=yes") && false;
	if (*s != '-' || !s[1]) {
		VEC_PUSH(a->inputs, s);
	} else if (!strcmp(s, "-o")) {
		a->output = value;
	} else if (!strncmp(s, "-o", 2)) {
		a->output = s + 2;
	} else if (!strcmp(s, "--")) {
		for (++*i; *i < n; ++*i)
			VEC_PUSH(a->inputs, argv[*i]);
	} else if (is_option_for_original(s)) {
		a->for_original = true;
		VEC_PUSH(a->original_only, s);
		if (value)
			VEC_PUSH(a->original_only, value);
	} else {
		a->listing_noise |= !strcmp(s, "--fatal-warnings") || !strcmp(s, "-v");
		VEC_PUSH(a->options, s);
		if (value)
			VEC_PUSH(a->options, value);
	}
	return true;
}

bool
as_args_read(struct as_args *a, int argc, char **argv)
{
	VEC_ARGS all = {0};
	bool ok = true;

	*a = (struct as_args){.pool = pool_new(), .measure = CHORD_EDGES, .output = "a.out"};
	expand(a, argc - 1, argv + 1, &all, 0);
	for (size_t i = 0; i < all.n && ok; i++)
		ok = take(a, all.at, all.n, &i);
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
	pool_free(a->pool);
}
