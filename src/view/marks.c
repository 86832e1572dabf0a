/* SPDX-License-Identifier: MIT */
/* Comments by which source excludes lines from coverage, as users of lcov and gcovr write them. */
#include "view/coverage.h"

#include <stdlib.h>
#include <string.h>

/* From which line on a region goes; 0: none is open. */
struct regions {
	unsigned line, branch;
};

/* Does the word stand there as a whole? */
static const char *
word_behind(struct str text, const char *word)
{
	size_t n = strlen(word);

	if (!str_starts(text, word) || (text.n > n && (text.at[n] == '_' || (text.at[n] >= 'A' && text.at[n] <= 'Z'))))
		return NULL;
	return text.at + n;
}

static void
read_marker(struct str text, unsigned line, unsigned *here, struct regions *open)
{
	bool branch = str_starts(text, "BR_");

	if (branch)
		text = (struct str){text.at + 3, text.n - 3};
	if (word_behind(text, "LINE"))
		*here |= branch ? MARK_BRANCH : MARK_LINE;
	else if (word_behind(text, "START"))
		*(branch ? &open->branch : &open->line) = line;
	else if (word_behind(text, "STOP"))
		*(branch ? &open->branch : &open->line) = 0;
}

/* The line with the STOP belongs to the region, as for lcov and gcovr. */
static unsigned
read_line(struct str text, unsigned line, struct regions *open)
{
	unsigned here = (open->line ? MARK_LINE : 0) | (open->branch ? MARK_BRANCH : 0);
	const char *at = text.at, *end = text.at + text.n;

	while (at < end && (at = memmem(at, (size_t)(end - at), "_EXCL_", 6))) {
		struct str before = {text.at, (size_t)(at - text.at)};

		at += 6;
		if (str_ends(before, "LCOV") || str_ends(before, "GCOV") || str_ends(before, "GCOVR"))
			read_marker((struct str){at, (size_t)(end - at)}, line, &here, open);
	}
	return here | (open->line ? MARK_LINE : 0) | (open->branch ? MARK_BRANCH : 0);
}

struct marks
marks_read(const char *file)
{
	struct marks m = {.n = view_source_lines(file) + 1};
	struct regions open = {0};
	struct str text;

	m.at = xcalloc(m.n, 1);
	for (unsigned line = 1; line < m.n; line++)
		if (view_source_line(file, line, &text))
			m.at[line] = (unsigned char)read_line(text, line, &open);
	if (open.line || open.branch)
		error_at(file, open.line ? open.line : open.branch, "warning: the excluded region that begins here has no end");
	return m;
}

void
marks_free(struct marks *m)
{
	free(m->at);
	*m = (struct marks){0};
}
