/* SPDX-License-Identifier: MIT */
/* Source files, as lists of lines; each file is read once. */
#include "view/view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file that was read. It has no lines if it could not be read. */
struct text {
	const char *name;
	struct timespec changed; /* 0: not known */
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

/* When a file was changed last. False: that cannot be told. */
static bool
changed_at(const char *file, struct timespec *at)
{
	struct stat st;

	if (stat(file, &st))
		return false;
	*at = st.st_mtim;
	return true;
}

static bool
is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
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
	if (*name && strcmp(name, "-") && file_read(name, &t->bytes)) {
		changed_at(name, &t->changed);
		split_lines(t);
	}
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

size_t
view_source_newer(const struct run *run, const char **name)
{
	struct timespec built = {0}, at;
	size_t n = 0;

	for (size_t i = 0; i < run->binary.n; i++) {
		if (!changed_at(run->binary.at[i].path, &at))
			return 0;
		built = is_later(&at, &built) ? at : built;
	}
	for (size_t i = 0; i < texts.n; i++)
		if (is_later(&texts.at[i]->changed, &built) && !n++)
			*name = texts.at[i]->name;
	return n;
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
