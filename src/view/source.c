/* SPDX-License-Identifier: MIT */
/* Source files, as lists of lines; each file is read once. */
#include "view/view.h"

#include <stdlib.h>
#include <string.h>

/* A file that was read. It has no lines if it could not be read. */
struct text {
	const char *name;
	struct buf bytes;
	VEC(struct str) line;
};

static VEC(struct text *) texts;

static void
split_lines(struct text *t)
{
	struct str rest = {t->bytes.at, t->bytes.n};

	while (rest.n) {
		const char *end = memchr(rest.at, '\n', rest.n);
		size_t n = end ? (size_t)(end - rest.at) : rest.n;

		VEC_PUSH(t->line, (struct str){rest.at, n});
		rest.at += n + (end != NULL);
		rest.n -= n + (end != NULL);
	}
}

static const struct text *
text_of(const char *name)
{
	struct text *t;

	for (size_t i = texts.n; i-- > 0;)
		if (!strcmp(texts.at[i]->name, name))
			return texts.at[i];
	t = xcalloc(1, sizeof *t);
	t->name = name;
	if (*name && strcmp(name, "-") && file_read(name, &t->bytes))
		split_lines(t);
	VEC_PUSH(texts, t);
	return t;
}

bool
view_source_line(const char *file, unsigned line, struct str *text)
{
	const struct text *t = text_of(file);

	if (!line || line > t->line.n)
		return false;
	*text = t->line.at[line - 1];
	return true;
}

size_t
view_source_lines(const char *file)
{
	return text_of(file)->line.n;
}

void
view_source_free(void)
{
	for (size_t i = 0; i < texts.n; i++) {
		buf_free(&texts.at[i]->bytes);
		free(texts.at[i]->line.at);
		free(texts.at[i]);
	}
	free(texts.at);
	texts.at = NULL;
	texts.n = texts.cap = 0;
}
