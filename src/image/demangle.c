/* SPDX-License-Identifier: MIT */
/* Symbols of C++, Rust and D, in the form of their sources. */
#include "image/image.h"

#include <ctype.h>
#include <fnmatch.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

/* The library gives up on names of more than 1 KiB unless told not to, because it is recursive. Nested templates have longer names.
 * The stack has room for names up to this length. */
enum { LONGEST = 8192 };

static char *
demangle(const char *symbol, int options)
{
	if (symbol[0] != '_' || strlen(symbol) > LONGEST)
		return NULL;
	switch (symbol[1]) {
	case 'Z': /* C++, and Rust's older form */
	case 'R':
		return cplus_demangle(symbol, options | DMGL_ANSI | DMGL_AUTO | DMGL_NO_RECURSE_LIMIT);
	case 'D':
		return cplus_demangle(symbol, options | DMGL_DLANG);
	default:
		return NULL;
	}
}

char *
image_demangle(const char *symbol, bool parameters)
{
	const char *version = strchr(symbol, '@');
	int options = parameters ? DMGL_PARAMS : 0;
	struct buf b = {0};
	char *name, *bare;

	if (!version)
		return demangle(symbol, options);
	buf_add(&b, symbol, (size_t)(version - symbol));
	buf_char(&b, 0);
	bare = demangle(b.at, options);
	buf_free(&b);
	if (!bare)
		return NULL;
	buf_printf(&b, "%s%s", bare, version);
	free(bare);
	name = xstrdup(b.at);
	buf_free(&b);
	return name;
}

const char *
image_bare(struct pool *pool, const char *symbol)
{
	char *name = image_demangle(symbol, false);
	const char *bare = name ? pool_strdup(pool, name) : symbol;

	free(name);
	return bare;
}

static bool
name_matches(const char *symbol, bool parameters, const char *pattern)
{
	char *name = image_demangle(symbol, parameters);
	bool is = name && !fnmatch(pattern, name, 0);

	free(name);
	return is;
}

bool
image_name_matches(const char *symbol, const char *pattern)
{
	return !fnmatch(pattern, symbol, 0) || name_matches(symbol, false, pattern) ||
	       (strchr(pattern, '(') && name_matches(symbol, true, pattern));
}

/* ---- for human readers ---- */

static bool mangled;

void
image_keep_mangled(void)
{
	mangled = true;
}

const char *
image_readable(const char *symbol)
{
	static struct pool *pool;
	static struct strmap known;
	const char *shown = symbol;
	uint64_t have;
	char *name;

	if (mangled || symbol[0] != '_')
		return symbol;
	if (strmap_get(&known, str_of(symbol), &have))
		return (const char *)(uintptr_t)have;
	if (!pool)
		pool = pool_new();
	name = image_demangle(symbol, true);
	symbol = pool_strdup(pool, symbol);
	shown = name ? pool_strdup(pool, name) : symbol;
	free(name);
	strmap_put(&known, str_of(symbol), (uintptr_t)shown);
	return shown;
}

static bool
is_of_symbol(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.' || c == '@';
}

/* A full stop after the word ends the sentence, and is no part of the symbol. */
static void
add_word(struct buf *out, struct str word)
{
	size_t n = word.n;
	char *symbol;

	while (n && word.at[n - 1] == '.')
		n--;
	symbol = xmalloc(n + 1);
	memcpy(symbol, word.at, n);
	symbol[n] = 0;
	buf_str(out, image_readable(symbol));
	buf_add(out, word.at + n, word.n - n);
	free(symbol);
}

const char *
image_readable_text(const char *text)
{
	static struct pool *pool;
	struct buf out = {0};
	const char *shown;
	size_t n;

	for (const char *at = text; *at; at += n) {
		for (n = 0; is_of_symbol(at[n]);)
			n++;
		if (n)
			add_word(&out, (struct str){at, n});
		else
			buf_add(&out, at, n = 1);
	}
	if (!pool)
		pool = pool_new();
	shown = pool_strndup(pool, out.n ? out.at : "", out.n);
	buf_free(&out);
	return shown;
}
