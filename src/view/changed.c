/* SPDX-License-Identifier: MIT */
/* A change, as a unified diff, and which of its lines ran. */
#include "view/coverage.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading ---- */

struct reader {
	struct changed *ch;
	struct str rest;
	struct changed_file *file; /* NULL: there is no file to which the lines belong */
	unsigned line;           /* number of the next line of the new file */
	uint64_t old, fresh;     /* the number of lines of the old and new file that the hunk still has */
	bool any;                /* there was a hunk */
	const char *before;      /* the name in the last "---" line */
	struct str head;         /* the text after "diff --git "; empty: git did not write the diff */
	bool moved;              /* git says that the names differ */
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

/* diff puts the time after a tab. */
static const char *
read_name(struct reader *r, struct str name)
{
	const char *tab = memchr(name.at, '\t', name.n);

	/* git quotes names that have special characters, and escapes these as in C. */
	if (name.n && *name.at == '"')
		return str_unescaped(r->ch->pool, (struct str){name.at + 1, name.n - 1});
	return pool_strndup(r->ch->pool, name.at, tab ? (size_t)(tab - name.at) : name.n);
}

/* If a file is new, only git's first line has its old name. */
static const char *
name_before(struct reader *r)
{
	bool quoted = r->head.n && *r->head.at == '"';

	if (r->before && strcmp(r->before, "/dev/null"))
		return r->before;
	return r->head.n ? pool_strndup(r->ch->pool, r->head.at + quoted, r->head.n - quoted) : NULL;
}

static void
begin_file(struct reader *r, struct str name)
{
	const char *text = read_name(r, name);

	r->file = NULL;
	if (!*text || !strcmp(text, "/dev/null"))
		return;
	VEC_PUSH(r->ch->file, (struct changed_file){.name = text, .before = name_before(r), .certain = r->head.n && !r->moved});
	r->file = &r->ch->file.at[r->ch->file.n - 1];
	r->before = NULL;
}

/* Reads what comes before the hunks of a file. */
static void
read_head(struct reader *r, struct str line)
{
	if (str_starts(line, "diff ")) {
		r->head = str_starts(line, "diff --git ") ? (struct str){line.at + 11, line.n - 11} : (struct str){NULL, 0};
		r->moved = false;
		r->before = NULL;
	}
	r->moved |= str_starts(line, "rename from ") || str_starts(line, "copy from ");
	if (str_starts(line, "--- "))
		r->before = read_name(r, (struct str){line.at + 4, line.n - 4});
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

/* False: the line does not belong to a hunk. Editors remove the blank of an empty line. */
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
		read_head(&r, line);
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

/* Is the path equal to the name, or does it end with a slash and the name? */
static bool
ends_with(const char *path, const char *name)
{
	size_t n = strlen(path), k = strlen(name);

	return n >= k && !strcmp(path + n - k, name) && (n == k || path[n - k - 1] == '/');
}

/* How much of the path of the current folder is before the name. If several files match, the nearest one is taken. */
static size_t
nearness(const char *path, const char *name, const char *cwd)
{
	size_t n = strlen(path) - strlen(name), k = strlen(cwd);

	n -= n && path[n - 1] == '/';
	return n <= k && !strncmp(path, cwd, n) && (!cwd[n] || cwd[n] == '/') ? n + 1 : 0;
}

static bool
same_text(const char *a, const char *b)
{
	struct buf x = {0}, y = {0};
	bool same = file_read(a, &x) && file_read(b, &y) && x.n == y.n && (!x.n || !memcmp(x.at, y.at, x.n));

	buf_free(&x);
	buf_free(&y);
	return same;
}

/* Is the file of that name in the current folder a different one? A copy of it is not different. Neither is one that was built
 * elsewhere. */
static bool
is_another(const char *path, const char *name)
{
	struct stat here, there;

	return !stat(name, &here) && S_ISREG(here.st_mode) && !stat(path, &there) && S_ISREG(there.st_mode) &&
	       (here.st_dev != there.st_dev || here.st_ino != there.st_ino) && !same_text(path, name);
}

/* NULL: there is none, or *why says why it is ambiguous. */
static const struct coverage_file *
find_file(struct changed *ch, const struct coverage *c, const char *name, const char **why)
{
	const struct coverage_file *best = NULL, *other = NULL;
	char *cwd = getcwd(NULL, 0);
	size_t near = 0;

	for (size_t i = 0; i < c->file.n; i++) {
		const struct coverage_file *f = &c->file.at[i];
		size_t n = cwd && ends_with(f->name, name) ? nearness(f->name, name, cwd) : 0;

		if (coverage_lacks_lines(f) || !ends_with(f->name, name) || (best && n < near) || is_another(f->name, name))
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

/* A file without line information that may be the one. Often the folder of such a file is not known. */
static const struct coverage_file *
find_unplaced(const struct coverage *c, const char *name)
{
	for (size_t i = 0; i < c->file.n; i++) {
		const struct coverage_file *f = &c->file.at[i];

		if (coverage_lacks_lines(f) && (ends_with(f->name, name) || ends_with(name, f->name)))
			return f;
	}
	return NULL;
}

/* git puts a/ and b/ before names, other letters with diff.mnemonicPrefix, and swaps them with -R. The names of diff -r look the
 * same if the folders have such names. */
static bool
has_prefix(const struct changed_file *f)
{
	static const char *const pair[] = {"ab", "ciw", "iw", "ow", "12"};
	const char *old = f->before, *new = f->name;

	if (!old || !*old || old[1] != '/' || !*new || new[1] != '/' || !new[2] || *old == *new)
		return false;
	for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
		if (strchr(pair[i], *old) && strchr(pair[i], *new))
			return true;
	return false;
}

/* False: *why says why it is ambiguous which file is meant. */
static bool
resolve(struct changed *ch, const struct coverage *c, struct changed_file *f, const char **why)
{
	const struct coverage_file *whole = NULL;
	bool prefix = has_prefix(f);

	f->file = find_file(ch, c, f->name + (prefix ? 2 : 0), why);
	if (prefix && !*why && !(f->file && f->certain))
		whole = find_file(ch, c, f->name, why);
	if (*why)
		return false;
	if (f->file && whole && f->file != whole) {
		*why = pool_printf(ch->pool, "%s may be %s or %s: choose with --include or --exclude", f->name, whole->name,
		                   f->file->name);
		return false;
	}
	if (!f->file && whole)
		f->file = whole;
	else if (prefix)
		f->name += 2;
	if (!f->file)
		f->file = find_unplaced(c, f->name);
	f->unplaced = f->file && coverage_lacks_lines(f->file);
	return true;
}

/* Joins two changes of the same file. */
static void
join_files(struct changed *ch)
{
	struct strmap known = {0};
	size_t n = 0;

	for (size_t i = 0; i < ch->file.n; i++) {
		struct changed_file *f = &ch->file.at[i];
		uint64_t k;

		if (strmap_get(&known, str_of(f->name), &k)) {
			VEC_JOIN(ch->file.at[k].line, f->line);
			free(f->line.at);
			continue;
		}
		strmap_put(&known, str_of(f->name), n);
		ch->file.at[n++] = *f;
	}
	ch->file.n = n;
	strmap_free(&known);
}

static int
ascending(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void
sort_lines(struct changed_file *f)
{
	size_t n = 0;

	if (f->line.n)
		qsort(f->line.at, f->line.n, sizeof *f->line.at, ascending);
	for (size_t i = 0; i < f->line.n; i++)
		if (!n || f->line.at[i] != f->line.at[n - 1])
			f->line.at[n++] = f->line.at[i];
	f->line.n = n;
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
	for (size_t i = 0; i < ch->file.n; i++)
		if (!resolve(ch, c, &ch->file.at[i], why))
			return false;
	join_files(ch);
	for (size_t i = 0; i < ch->file.n; i++) {
		sort_lines(&ch->file.at[i]);
		take_rows(ch, &ch->file.at[i]);
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
