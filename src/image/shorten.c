/* SPDX-License-Identifier: MIT */
/* Long names for narrow places. Text in the deepest brackets is left out first, then text in any brackets, then the middle. */
#include "image/image.h"

#include <ctype.h>
#include <string.h>

#define GONE "..."

/* The number of characters from s on that look like brackets but are none: `operator<`, `operator()`, `(anonymous namespace)`, the
 * arrow of a result. */
static size_t
plain_at(const char *name, const char *s)
{
	static const char own[] = "(anonymous namespace)", operator[] = "operator";
	size_t n = sizeof operator - 1;

	if (!strncmp(s, own, sizeof own - 1))
		return sizeof own - 1;
	if (!strncmp(s, "->", 2))
		return 2;
	if (strncmp(s, operator, n) || (s > name && (isalnum((unsigned char)s[-1]) || s[-1] == '_')))
		return 0;
	return n + (!strncmp(s + n, "()", 2) ? 2 : strspn(s + n, "<>=-*"));
}

/* The depth of nested brackets; 0: there are none, or they do not match. */
static unsigned
depth_of(const char *name)
{
	unsigned depth = 0, most = 0;

	for (const char *s = name; *s;) {
		size_t n = plain_at(name, s);

		if (!n && strchr("<([{", *s) && ++depth > most)
			most = depth;
		else if (!n && strchr(">)]}", *s) && !depth--)
			return 0;
		s += n ? n : 1;
	}
	return depth ? 0 : most;
}

/* The name without everything that is nested at least that deep. */
static void
leave_out(struct buf *to, const char *name, unsigned least)
{
	unsigned depth = 0;
	size_t n;

	to->n = 0;
	for (const char *s = name; *s; s += n) {
		bool opens, closes;

		n = plain_at(name, s);
		opens = !n && strchr("<([{", *s);
		closes = !n && strchr(">)]}", *s);
		n = n ? n : 1;
		depth -= closes;
		if (depth < least)
			buf_add(to, s, n);
		depth += opens;
		if (opens && depth == least && !strchr(">)]}", s[1]))
			buf_str(to, GONE);
	}
}

/* Is the byte the second or a later one of a character (UTF-8)? */
static bool
is_inside(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* The beginning of the name and its end, which gets more room because it says more. */
static const char *
ends_of(struct pool *pool, const char *name, size_t n, size_t most)
{
	size_t front = (most - strlen(GONE)) / 3, back = n - (most - strlen(GONE) - front);

	while (front && is_inside(name[front]))
		front--;
	while (back < n && is_inside(name[back]))
		back++;
	return pool_printf(pool, "%.*s" GONE "%.*s", (int)front, name, (int)(n - back), name + back);
}

const char *
image_shortened(struct pool *pool, const char *name, size_t most)
{
	struct buf b = {0};
	size_t n = strlen(name);
	const char *shown;

	if (n <= most || most < 4 * strlen(GONE))
		return name;
	for (unsigned d = depth_of(name); d && n > most; d--) {
		leave_out(&b, name, d);
		n = b.n;
	}
	if (n > most)
		shown = ends_of(pool, b.n ? b.at : name, n, most);
	else
		shown = pool_strndup(pool, b.at, b.n);
	buf_free(&b);
	return shown;
}
