/* SPDX-License-Identifier: MIT */
/* Values in the form of scripts. Names and source text may be hostile, so they must not end a string or a line. */
#include "html/html.h"

#include <inttypes.h>

/* The number of bytes of the UTF-8 character at s; 0: there is none. */
static size_t
length_of(const unsigned char *s, size_t n)
{
	static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;
	unsigned c = length < 2 ? *s : *s & (0x7fu >> length);

	if (!length || length > n)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : length;
}

/* Is it U+2028 or U+2029, which end lines in scripts? */
static bool
ends_line(const unsigned char *s, size_t length)
{
	return length == 3 && s[0] == 0xe2 && s[1] == 0x80 && (s[2] == 0xa8 || s[2] == 0xa9);
}

void
script_text(struct buf *out, struct str text)
{
	const unsigned char *s = (const unsigned char *)text.at;
	size_t length;

	buf_char(out, '"');
	for (size_t i = 0; i < text.n; i += length ? length : 1) {
		length = length_of(s + i, text.n - i);
		if (!length)
			buf_str(out, "\\ufffd");
		else if (s[i] == '"' || s[i] == '\\')
			buf_printf(out, "\\%c", s[i]);
		else if (s[i] < 0x20 || s[i] == 0x7f || s[i] == '<' || s[i] == '>' || s[i] == '&')
			buf_printf(out, "\\u%04x", s[i]);
		else if (ends_line(s + i, length))
			buf_printf(out, "\\u20%02x", s[i + 2] - 0x80);
		else
			buf_add(out, s + i, length);
	}
	buf_char(out, '"');
}

void
script_count(struct buf *out, uint64_t n)
{
	if (n > (uint64_t)1 << 53)
		buf_printf(out, "\"%" PRIu64 "\"", n);
	else
		buf_number(out, n);
}

void
script_known(struct buf *out, uint64_t n, bool known)
{
	if (known)
		script_count(out, n);
	else
		buf_str(out, "null");
}

void
script_bounds(struct buf *out, const struct bounds *b, bool known)
{
	if (!known || bounds_exact(b)) {
		script_known(out, b->least, known);
		return;
	}
	buf_char(out, '[');
	script_count(out, b->least);
	buf_char(out, ',');
	script_known(out, b->most, b->most != COUNT_NO_BOUND);
	buf_char(out, ']');
}

void
script_next(struct buf *out)
{
	char last = out->n ? out->at[out->n - 1] : '[';

	if (last != '[' && last != '{' && last != '(' && last != ':')
		buf_char(out, ',');
}

void
script_key(struct buf *out, const char *key)
{
	script_next(out);
	script_name(out, key);
	buf_char(out, ':');
}

void
script_begin(struct buf *out, const char *name)
{
	buf_str(out, "chord.data(");
	script_name(out, name);
	buf_char(out, ',');
}

void
script_end(struct buf *out)
{
	buf_str(out, ");\n");
}
