/* SPDX-License-Identifier: MIT */
/* A change, as a unified diff, and which of its lines ran. */
#include "view/coverage.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reading ---- */

struct reader {
	struct changed *ch;
	struct str rest;
	struct changed_file *file; /* NULL: what is read is of none */
	unsigned line;           /* of the new file, next */
	uint64_t old, fresh;     /* lines of either that the hunk still has */
	bool any;                /* there was a hunk */
};

static struct str
next_line(struct reader *r)
{
	const char *end = memchr(r->rest.at, '\n', r->rest.n);
	struct str line = {r->rest.at, end ? (size_t)(end - r->rest.at) : r->rest.n};

	r->rest.at += line.n + (end != NULL);
	r->rest.n -= line.n + (end != NULL);
	if (line.n && line.at[line.n - 1] == '\r')
		line.n--;
	return line;
}

/* As git writes names that hold other than plain characters: in quotes, with those as in C. */
static const char *
unquote(struct pool *pool, struct str name)
{
	static const char letter[] = "abtnvfr", means[] = "\a\b\t\n\v\f\r";
	char *out = pool_alloc(pool, name.n + 1);
	size_t n = 0;

	for (size_t i = 1; i < name.n && name.at[i] != '"'; i++) {
		const char *known;

		if (name.at[i] != '\\' || ++i == name.n) {
			out[n++] = name.at[i < name.n ? i : i - 1];
		} else if (i + 2 < name.n && name.at[i] >= '0' && name.at[i] <= '3') {
			out[n++] = (char)((name.at[i] - '0') * 64 + (name.at[i + 1] - '0') * 8 + (name.at[i + 2] - '0'));
			i += 2;
		} else {
			known = strchr(letter, name.at[i]);
			out[n++] = known ? means[known - letter] : name.at[i];
		}
	}
	return out;
}

/* Behind a tab diff has the time. */
static void
begin_file(struct reader *r, struct str name)
{
	const char *tab = memchr(name.at, '\t', name.n);
	const char *text;

	if (name.n && *name.at == '"')
		text = unquote(r->ch->pool, name);
	else
		text = pool_strndup(r->ch->pool, name.at, tab ? (size_t)(tab - name.at) : name.n);
	r->file = NULL;
	if (!*text || !strcmp(text, "/dev/null"))
		return;
	VEC_PUSH(r->ch->file, (struct changed_file){.name = text});
	r->file = &r->ch->file.at[r->ch->file.n - 1];
}

static bool
take_number(const char **at, const char *end, uint64_t *n)
{
	const char *start = *at;

	for (*n = 0; *at < end && isdigit((unsigned char)**at) && *n < UINT32_MAX; ++*at)
		*n = *n * 10 + (uint64_t)(**at - '0');
	return *at > start && *n < UINT32_MAX;
}

/* ",3", or 1 without it. */
static bool
take_size(const char **at, const char *end, uint64_t *n)
{
	*n = 1;
	if (*at == end || **at != ',')
		return true;
	++*at;
	return take_number(at, end, n);
}

/* "@@ -1,2 +3,4 @@ ..." */
static bool
begin_hunk(struct reader *r, struct str line)
{
	const char *at = line.at + 4, *end = line.at + line.n;
	uint64_t from, to;

	if (!take_number(&at, end, &from) || !take_size(&at, end, &r->old) || end - at < 2 || at[0] != ' ' || at[1] != '+')
		return false;
	at += 2;
	if (!take_number(&at, end, &to) || !take_size(&at, end, &r->fresh))
		return false;
	r->line = (unsigned)to;
	r->any = true;
	return true;
}

/* False: it is none of a hunk. Editors remove the blank of an empty line. */
static bool
read_hunk_line(struct reader *r, struct str line)
{
	char c = line.n ? *line.at : ' ';

	if (c == '\\')
		return true;
	if (c != '+' && c != '-' && c != ' ')
		return false;
	if ((c != '+' && !r->old) || (c != '-' && !r->fresh))
		return false;
	r->old -= c != '+';
	r->fresh -= c != '-';
	if (c == '+' && r->file)
		VEC_PUSH(r->file->line, r->line);
	r->line += c != '-';
	return true;
}

bool
changed_read(struct changed *ch, struct pool *pool, struct str diff, const char **why)
{
	struct reader r = {.ch = ch, .rest = diff};
	bool empty = true;
	unsigned n = 0;

	*ch = (struct changed){.pool = pool};
	while (r.rest.n) {
		struct str line = next_line(&r);

		n++;
		empty &= !line.n;
		if (r.old || r.fresh) {
			if (read_hunk_line(&r, line))
				continue;
			*why = pool_printf(pool, "line %u does not belong to the hunk of the diff in which it stands", n);
			return false;
		}
		if (str_starts(line, "+++ "))
			begin_file(&r, (struct str){line.at + 4, line.n - 4});
		else if (str_starts(line, "@@ -") && !begin_hunk(&r, line)) {
			*why = pool_printf(pool, "line %u: not the beginning of a hunk", n);
			return false;
		}
		if (str_starts(line, "@@@ ")) {
			*why = "a combined diff, of a merge: compare with one parent (git diff PARENT)";
			return false;
		}
	}
	*why = r.old || r.fresh ? "it ends within a hunk" : "it is no unified diff: make it with `git diff` or `diff -u`";
	return !r.old && !r.fresh && (r.any || empty || ch->file.n || str_starts(diff, "diff "));
}

/* ---- finding ---- */

/* Is the path that name, or does it end with it behind a slash? */
static bool
ends_with(const char *path, const char *name)
{
	size_t n = strlen(path), k = strlen(name);

	return n >= k && !strcmp(path + n - k, name) && (n == k || path[n - k - 1] == '/');
}

/* How much of the current folder's path is what stands before the name: of several, changes are of the nearest. */
static size_t
nearness(const char *path, const char *name, const char *cwd)
{
	size_t n = strlen(path) - strlen(name), k = strlen(cwd);

	n -= n && path[n - 1] == '/';
	return n <= k && !strncmp(path, cwd, n) && (!cwd[n] || cwd[n] == '/') ? n + 1 : 0;
}

/* NULL: none, or *why it cannot be told. */
static const struct coverage_file *
find_file(struct changed *ch, const struct coverage *c, const char *name, const char **why)
{
	const struct coverage_file *best = NULL, *other = NULL;
	char *cwd = getcwd(NULL, 0);
	size_t near = 0;

	for (size_t i = 0; i < c->file.n; i++) {
		const struct coverage_file *f = &c->file.at[i];
		size_t n = cwd && ends_with(f->name, name) ? nearness(f->name, name, cwd) : 0;

		if (!ends_with(f->name, name) || (best && n < near))
			continue;
		other = best && n == near ? best : NULL;
		best = f;
		near = n;
	}
	free(cwd);
	if (!other)
		return best;
	*why = pool_printf(ch->pool, "%s may be %s or %s: choose with --include or --exclude", name, other->name, best->name);
	return NULL;
}

/* git puts a/, b/ and other letters before names. */
static bool
has_prefix(const char *name)
{
	return strchr("abciow", name[0]) && name[0] && name[1] == '/' && name[2];
}

static void
take_rows(struct changed *ch, struct changed_file *f)
{
	for (size_t i = 0; f->file && i < f->line.n; i++) {
		const struct coverage_line *l = coverage_line_at(f->file, f->line.at[i]);

		if (!l)
			continue;
		VEC_PUSH(f->code, *l);
		f->share.n[l->ran]++;
		ch->share.n[l->ran]++;
	}
}

bool
changed_find(struct changed *ch, const struct coverage *c, const char **why)
{
	*why = NULL;
	for (size_t i = 0; i < ch->file.n; i++) {
		struct changed_file *f = &ch->file.at[i];

		bool prefix = has_prefix(f->name);

		f->file = prefix ? find_file(ch, c, f->name + 2, why) : NULL;
		if (!f->file && !*why) {
			f->file = find_file(ch, c, f->name, why);
			prefix &= !f->file;
		}
		if (*why)
			return false;
		f->name += prefix ? 2 : 0;
		take_rows(ch, f);
	}
	return true;
}

void
changed_free(struct changed *ch)
{
	for (size_t i = 0; i < ch->file.n; i++) {
		free(ch->file.at[i].line.at);
		free(ch->file.at[i].code.at);
	}
	free(ch->file.at);
	*ch = (struct changed){0};
}
