/* SPDX-License-Identifier: MIT */
/* chord paths --source: the text of the lines that a path executes. */
#include "tool/paths.h"

#include <stdlib.h>
#include <string.h>

/* A file that has been read; without lines: it cannot be. */
struct text {
	const char *name;
	struct buf bytes;
	VEC(struct str) line;
};

static VEC(struct text *) texts;

static void
split(struct text *t)
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

	for (size_t i = 0; i < texts.n; i++)
		if (!strcmp(texts.at[i]->name, name))
			return texts.at[i];
	t = xcalloc(1, sizeof *t);
	t->name = name;
	if (*name && file_read(name, &t->bytes))
		split(t);
	VEC_PUSH(texts, t);
	return t;
}

void
path_source_print(const struct path_lines *lines, int indent)
{
	for (size_t i = 0; i < lines->n; i++) {
		const struct text *t = text_of(lines->at[i].file);
		struct str s = STR("(not to be read)");

		if (lines->at[i].line <= t->line.n)
			s = t->line.at[lines->at[i].line - 1];
		if (!i || strcmp(lines->at[i].file, lines->at[i - 1].file))
			printf("%*s%s\n", indent, "", shown_path(lines->at[i].file));
		printf("%*s%6u  ", indent, "", lines->at[i].line);
		/* What could do harm on a terminal becomes blank. */
		for (size_t k = 0; k < s.n; k++)
			putchar((unsigned char)s.at[k] < ' ' && s.at[k] != '\t' ? ' ' : s.at[k]);
		putchar('\n');
	}
}

void
path_source_free(void)
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
