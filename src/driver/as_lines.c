/* SPDX-License-Identifier: MIT */
/* A text whose lines the assembler numbers, under the name of its file. */
#include "driver/driver.h"

#include <ctype.h>
#include <string.h>

/* The assembler's own line numbers have to refer to the named file. */
static void
put_line(struct buf *to, size_t number, const char *name)
{
	buf_printf(to, "# %zu \"", number);
	buf_octal(to, name, strlen(name));
	buf_str(to, "\"\n");
}

/* Does the line begin with this word? */
static bool
has_word(struct str line, const char *word)
{
	size_t n = strlen(word);

	return str_starts(line, word) && line.n > n && isspace((unsigned char)line.at[n]);
}

/* Is the end of the line in a comment of several lines, if its beginning is or is not? It may say so of other lines. */
static bool
leaves_comment(struct str line, bool inside)
{
	for (size_t i = 0; i + 1 < line.n; i++)
		if (!memcmp(line.at + i, inside ? "*/" : "/*", 2)) {
			inside = !inside;
			i++;
		}
	return inside;
}

/* Is it a line from which on the text numbers its lines by itself, or may have lines that are read elsewhere? */
static bool
ends_numbering(struct str line)
{
	return (line.n > 2 && line.at[0] == '#' && isspace((unsigned char)line.at[1]) && isdigit((unsigned char)line.at[2])) ||
	       has_word(line, ".line") || has_word(line, ".ln") || has_word(line, ".macro") || str_starts(line, ".rep") ||
	       str_starts(line, ".irp");
}

/* Behind such a line .file "NAME" replaces the name, though not that of a file
 * that the assembler opens itself. So the name is given again. */
void
as_add_named(struct buf *to, const struct buf *in, const char *name)
{
	bool ours = true, inside = false, began;
	size_t at = 0;

	put_line(to, 1, name);
	for (size_t number = 2; ours && at < in->n; number++) {
		const char *end = memchr(in->at + at, '\n', in->n - at);
		size_t n = end ? (size_t)(end - in->at) + 1 - at : in->n - at;
		struct str line = {in->at + at, n};

		buf_add(to, line.at, line.n);
		at += n;
		while (line.n && (*line.at == ' ' || *line.at == '\t'))
			line = (struct str){line.at + 1, line.n - 1};
		began = inside;
		inside = leaves_comment(line, inside);
		ours = !ends_numbering(line);
		if (end && !began && !inside && has_word(line, ".file") && memchr(line.at, '"', line.n))
			put_line(to, number, name);
	}
	buf_add(to, in->at + at, in->n - at);
}
