/* SPDX-License-Identifier: MIT */
/* Comments in the source that exclude lines from coverage, as users of lcov and gcovr write them. */
#include "view/coverage.h"

#include <stdlib.h>
#include <string.h>

/* The line where an open region begins; 0: none is open. */
struct regions {
	unsigned line, branch, unreachable;
};

/* Does the text begin with the whole word? Returns the text after it. */
static const char *
word_behind(struct str text, const char *word)
{
	size_t n = strlen(word);

	if (!str_starts(text, word) || (text.n > n && (text.at[n] == '_' || (text.at[n] >= 'A' && text.at[n] <= 'Z'))))
		return NULL;
	return text.at + n;
}

/* Reads the text after a prefix; kind: what the prefix marks. */
static void
read_marker(struct str text, unsigned kind, unsigned line, unsigned *here, unsigned *open)
{
	if (word_behind(text, "LINE"))
		*here |= kind;
	else if (word_behind(text, "START"))
		*open = *open ? *open : line;
	else if (word_behind(text, "STOP"))
		*open = 0;
}

static void
read_excluding(struct str text, unsigned line, unsigned *here, struct regions *open)
{
	if (str_starts(text, "BR_"))
		read_marker((struct str){text.at + 3, text.n - 3}, MARK_BRANCH, line, here, &open->branch);
	else if (word_behind(text, "FUNCTION"))
		*here |= MARK_FUNCTION;
	else
		read_marker(text, MARK_LINE, line, here, &open->line);
}

/* The text after the first occurrence of the word, from `at` on, with one of the prefixes; NULL: there is none. */
static const char *
find_marker(struct str text, const char *at, const char *word)
{
	const char *end = text.at + text.n;
	size_t n = strlen(word);

	for (; at < end && (at = memmem(at, (size_t)(end - at), word, n)); at += n) {
		struct str before = {text.at, (size_t)(at - text.at)};

		if (str_ends(before, "LCOV") || str_ends(before, "GCOV") || str_ends(before, "GCOVR"))
			return at + n;
	}
	return NULL;
}

/* The line with START belongs to the region, the line with STOP does not, as with lcov and gcovr. */
static unsigned
read_line(struct str text, unsigned line, struct regions *open)
{
	const char *at = text.at, *end = text.at + text.n;
	unsigned here = 0;

	while ((at = find_marker(text, at, "_EXCL_")))
		read_excluding((struct str){at, (size_t)(end - at)}, line, &here, open);
	at = text.at;
	while ((at = find_marker(text, at, "_UNREACHABLE_")))
		read_marker((struct str){at, (size_t)(end - at)}, MARK_UNREACHABLE, line, &here, &open->unreachable);
	return here | (open->line ? MARK_LINE : 0) | (open->branch ? MARK_BRANCH : 0) |
	       (open->unreachable ? MARK_UNREACHABLE : 0);
}

struct marks
marks_read(const char *file)
{
	struct marks m = {.n = view_source_lines(file) + 1};
	struct regions open = {0};
	struct str text;
	unsigned begin;

	m.at = xcalloc(m.n, 1);
	for (unsigned line = 1; line < m.n; line++)
		if (view_source_line(file, line, &text))
			m.at[line] = (unsigned char)read_line(text, line, &open);
	begin = open.line ? open.line : open.branch ? open.branch : open.unreachable;
	if (begin)
		error_at(file, begin, "warning: the excluded region that begins here has no end");
	return m;
}

void
marks_free(struct marks *m)
{
	free(m->at);
	*m = (struct marks){0};
}
