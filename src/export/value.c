/* SPDX-License-Identifier: MIT */
/* Texts in the form of XML and JSON. */
#include "export/value.h"

#include <string.h>

/* May the text be written as it is? XML has no form for control characters, nor for U+FFFE and U+FFFF. */
static bool
is_fit(const char *s)
{
	json_t *j = strstr(s, "\xef\xbf\xbe") || strstr(s, "\xef\xbf\xbf") ? NULL : json_string(s);

	for (const char *c = s; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127) {
			json_decref(j);
			return false;
		}
	json_decref(j);
	return j;
}

const char *
value_utf8(struct pool *pool, const char *s)
{
	char *copy;

	if (is_fit(s))
		return s;
	copy = pool_strdup(pool, s);
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x7f || (unsigned char)*c < ' ')
			*c = '?';
	return copy;
}

void
value_xml(struct pool *pool, struct buf *out, const char *s)
{
	for (s = value_utf8(pool, s); *s; s++) {
		switch (*s) {
		case '<': buf_str(out, "&lt;"); break;
		case '>': buf_str(out, "&gt;"); break;
		case '&': buf_str(out, "&amp;"); break;
		case '"': buf_str(out, "&quot;"); break;
		default: buf_char(out, *s);
		}
	}
}

json_t *
value_text(struct pool *pool, const char *s)
{
	json_t *j = json_string(value_utf8(pool, s));

	if (!j)
		die("memory", "out of memory");
	return j;
}

json_t *
value_number(uint64_t n)
{
	return n <= INT64_MAX ? json_integer((json_int_t)n) : json_null();
}

static int
append(const char *at, size_t n, void *out)
{
	buf_add(out, at, n);
	return 0;
}

void
value_put(struct buf *out, json_t *value)
{
	if (!value || json_dump_callback(value, append, out, JSON_COMPACT | JSON_ENCODE_ANY))
		die("memory", "out of memory");
	json_decref(value);
}
