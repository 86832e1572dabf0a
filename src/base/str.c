/* SPDX-License-Identifier: MIT */
/* Slices of text that are not terminated, and a hash table from slices to numbers. */
#include "base/base.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct str
str_of(const char *s)
{
	return (struct str){s, strlen(s)};
}

bool
str_eq(struct str a, struct str b)
{
	return a.n == b.n && (!a.n || !memcmp(a.at, b.at, a.n));
}

bool
str_is(struct str a, const char *s)
{
	return str_eq(a, str_of(s));
}

bool
str_starts(struct str a, const char *prefix)
{
	size_t n = strlen(prefix);

	return a.n >= n && !memcmp(a.at, prefix, n);
}

bool
str_ends(struct str a, const char *suffix)
{
	size_t n = strlen(suffix);

	return a.n >= n && !memcmp(a.at + a.n - n, suffix, n);
}

static bool
is_octal(char c)
{
	return c >= '0' && c <= '7';
}

const char *
str_unescaped(struct pool *p, struct str s)
{
	static const char letter[] = "abtnvfr", means[] = "\a\b\t\n\v\f\r";
	char *out = pool_alloc(p, s.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.n && s.at[i] != '"'; i++) {
		const char *known;

		if (s.at[i] != '\\' || ++i == s.n) {
			out[n++] = s.at[i < s.n ? i : i - 1];
		} else if (i + 2 < s.n && s.at[i] <= '3' && is_octal(s.at[i]) && is_octal(s.at[i + 1]) && is_octal(s.at[i + 2])) {
			out[n++] = (char)((s.at[i] - '0') * 64 + (s.at[i + 1] - '0') * 8 + (s.at[i + 2] - '0'));
			i += 2;
		} else {
			known = strchr(letter, s.at[i]);
			out[n++] = known ? means[known - letter] : s.at[i];
		}
	}
	return out;
}

/* FNV-1a, 64 bits. */
uint64_t
str_hash(struct str s)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.at[i]) * 0x100000001b3u;
	return h;
}

/* The slot that holds the key, or the free one where it belongs. */
static struct strmap_slot *
find(const struct strmap *m, struct str key)
{
	size_t i = str_hash(key) & (m->cap - 1);

	while (m->slot[i].used && !str_eq(m->slot[i].key, key))
		i = (i + 1) & (m->cap - 1);
	return &m->slot[i];
}

static void
grow(struct strmap *m)
{
	struct strmap bigger = {.cap = m->cap ? m->cap * 2 : 64};

	bigger.slot = xcalloc(bigger.cap, sizeof *bigger.slot);
	for (size_t i = 0; i < m->cap; i++)
		if (m->slot[i].used)
			*find(&bigger, m->slot[i].key) = m->slot[i];
	bigger.n = m->n;
	free(m->slot);
	*m = bigger;
}

void
strmap_put(struct strmap *m, struct str key, uint64_t value)
{
	struct strmap_slot *s;

	if (m->n * 4 >= m->cap * 3)
		grow(m);
	s = find(m, key);
	m->n += !s->used;
	*s = (struct strmap_slot){key, value, true};
}

bool
strmap_get(const struct strmap *m, struct str key, uint64_t *value)
{
	const struct strmap_slot *s;

	if (!m->n)
		return false;
	s = find(m, key);
	if (s->used)
		*value = s->value;
	return s->used;
}

void
strmap_free(struct strmap *m)
{
	free(m->slot);
	*m = (struct strmap){0};
}

void
buf_plain(struct buf *b, const char *s)
{
	for (; *s; s++)
		buf_char(b, plain_char(*s));
}

const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool
name_among(const char *s, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(s, names[i]))
			return true;
	return false;
}

const char *
grouped(char out[32], uint64_t n)
{
	char digit[24];
	int len = snprintf(digit, sizeof digit, "%" PRIu64, n);
	char *o = out;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*o++ = ',';
		*o++ = digit[i];
	}
	*o = 0;
	return out;
}
