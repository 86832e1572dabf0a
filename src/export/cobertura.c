/* SPDX-License-Identifier: MIT */
/* Cobertura's XML, by its coverage-04.dtd: a package for each folder, a class for each file in it. The sum over all files comes
 * first. */
#include "export/coverage.h"
#include "export/value.h"

#include <limits.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct shares {
	uint64_t lines, hit, branches, taken;
};

struct writer {
	const struct export *x;
	struct covered_list function;
	struct shares *file;     /* by file */
	uint32_t *order;         /* numbers of files, with those of one folder next to each other */
	const char *folder;      /* the folder that all files are in */
	struct buf *out;
};

static size_t
branches_of(const struct writer *w, uint32_t file, const struct view_line *l, uint64_t *taken)
{
	size_t n;
	const struct view_branch *b = covered_branches(w->x, file, l, &n);

	*taken = 0;
	for (size_t i = 0; i < n; i++)
		*taken += (b[i].taken ? 1U : 0U) + (b[i].fell ? 1U : 0U);
	return 2 * n;
}

/* The index of the first line that is not before that one. */
static size_t
first_line(const struct view_file *f, unsigned line)
{
	size_t lo = 0, hi = f->line.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->line.at[mid].line < line)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The shares of a range of a file's lines. */
static struct shares
shares_of(const struct writer *w, uint32_t file, unsigned from, unsigned to)
{
	const struct view_file *f = &w->x->list->file.at[file];
	struct shares s = {0};

	for (size_t i = first_line(f, from); i < f->line.n && f->line.at[i].line <= to; i++) {
		uint64_t taken;

		if (f->line.at[i].unknown)
			continue;
		s.lines++;
		s.hit += f->line.at[i].most.least != 0;
		s.branches += branches_of(w, file, &f->line.at[i], &taken);
		s.taken += taken;
	}
	return s;
}

static void
put_rates(struct buf *out, const struct shares *s)
{
	buf_printf(out, " line-rate=\"%.6g\" branch-rate=\"%.6g\"", covered_rate(s->hit, s->lines),
	           covered_rate(s->taken, s->branches));
}

static void
put_attribute(const struct writer *w, const char *name, const char *value)
{
	buf_printf(w->out, " %s=\"", name);
	value_xml(w->x->run->pool, w->out, value);
	buf_char(w->out, '"');
}

static void
put_line(const struct writer *w, uint32_t file, const struct view_line *l, const char *indent)
{
	uint64_t taken;
	size_t n = branches_of(w, file, l, &taken);

	buf_printf(w->out, "%s<line number=\"%u\" hits=\"%" PRIu64 "\" branch=\"%s\"", indent, l->line, l->most.least,
	           n ? "true" : "false");
	if (n)
		buf_printf(w->out, " condition-coverage=\"%" PRIu64 "%% (%" PRIu64 "/%zu)\"", taken * 100 / n, taken, n);
	buf_str(w->out, "/>\n");
}

/* Writes the known lines of a range. */
static void
put_lines(const struct writer *w, uint32_t file, unsigned first, unsigned last, const char *indent)
{
	const struct view_file *f = &w->x->list->file.at[file];

	for (size_t i = first_line(f, first); i < f->line.n && f->line.at[i].line <= last; i++)
		if (!f->line.at[i].unknown)
			put_line(w, file, &f->line.at[i], indent);
}

static void
put_method(const struct writer *w, uint32_t file, const struct covered *m)
{
	struct shares s = shares_of(w, file, m->line, m->end);

	buf_str(w->out, "            <method");
	put_attribute(w, "name", m->name);
	put_attribute(w, "signature", "");
	put_rates(w->out, &s);
	buf_str(w->out, " complexity=\"0\">\n              <lines>\n");
	put_lines(w, file, m->line, m->end, "                ");
	buf_str(w->out, "              </lines>\n            </method>\n");
}

/* The name without the folder of all files. */
static const char *
below(const struct writer *w, const char *name)
{
	size_t n = strlen(w->folder);

	return n && !strncmp(name, w->folder, n) && name[n] == '/' ? name + n + 1 : name;
}

static void
put_class(const struct writer *w, uint32_t file)
{
	const struct view_file *f = &w->x->list->file.at[file];
	size_t n;
	const struct covered *m = covered_in(&w->function, f->name, &n);

	buf_str(w->out, "        <class");
	put_attribute(w, "name", base_name(f->name));
	put_attribute(w, "filename", below(w, f->name));
	put_rates(w->out, &w->file[file]);
	buf_str(w->out, " complexity=\"0\">\n          <methods>\n");
	for (size_t i = 0; i < n; i++)
		put_method(w, file, &m[i]);
	buf_str(w->out, "          </methods>\n          <lines>\n");
	put_lines(w, file, 0, UINT32_MAX, "            ");
	buf_str(w->out, "          </lines>\n        </class>\n");
}

static void
add_shares(struct shares *sum, const struct shares *s)
{
	sum->lines += s->lines;
	sum->hit += s->hit;
	sum->branches += s->branches;
	sum->taken += s->taken;
}

/* Sorts names by their folders, then by base name, so that files of one folder are next to each other. */
static int
by_folder(const void *a, const void *b, void *ctx)
{
	const struct view_file *file = ctx, *x = &file[*(const uint32_t *)a], *y = &file[*(const uint32_t *)b];
	size_t nx = (size_t)(base_name(x->name) - x->name), ny = (size_t)(base_name(y->name) - y->name);
	int c = memcmp(x->name, y->name, nx < ny ? nx : ny);

	if (c)
		return c;
	return nx != ny ? (nx < ny ? -1 : 1) : strcmp(x->name, y->name);
}

static bool
same_folder(const char *a, const char *b)
{
	size_t n = (size_t)(base_name(a) - a);

	return n == (size_t)(base_name(b) - b) && !strncmp(a, b, n);
}

/* Writes the package of files number first to last - 1 in that order. */
static void
put_package(const struct writer *w, uint32_t first, uint32_t last)
{
	const char *name = w->x->list->file.at[w->order[first]].name, *in;
	struct shares s = {0};

	for (uint32_t i = first; i < last; i++)
		add_shares(&s, &w->file[w->order[i]]);
	in = pool_strndup(w->x->run->pool, below(w, name), (size_t)(base_name(name) - below(w, name)));
	buf_str(w->out, "    <package");
	put_attribute(w, "name", *in ? in : ".");
	put_rates(w->out, &s);
	buf_str(w->out, " complexity=\"0\">\n      <classes>\n");
	for (uint32_t i = first; i < last; i++)
		put_class(w, w->order[i]);
	buf_str(w->out, "      </classes>\n    </package>\n");
}

static void
put_packages(const struct writer *w)
{
	const struct view_file *file = w->x->list->file.at;
	uint32_t n = w->x->nfile;

	for (uint32_t first = 0, last; first < n; first = last) {
		for (last = first + 1; last < n && same_folder(file[w->order[first]].name, file[w->order[last]].name);)
			last++;
		put_package(w, first, last);
	}
}

static void
put_document(const struct writer *w)
{
	struct shares all = {0};

	for (uint32_t i = 0; i < w->x->nfile; i++)
		add_shares(&all, &w->file[w->order[i]]);
	buf_str(w->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	        "<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n<coverage");
	put_rates(w->out, &all);
	buf_printf(w->out, " lines-covered=\"%" PRIu64 "\" lines-valid=\"%" PRIu64 "\" branches-covered=\"%" PRIu64
	           "\" branches-valid=\"%" PRIu64 "\" complexity=\"0\" version=\"chord\" timestamp=\"0\">\n",
	           all.hit, all.lines, all.taken, all.branches);
	buf_str(w->out, "  <sources>\n    <source>");
	value_xml(w->x->run->pool, w->out, *w->folder ? w->folder : "/");
	buf_str(w->out, "</source>\n  </sources>\n  <packages>\n");
	put_packages(w);
	buf_str(w->out, "  </packages>\n</coverage>\n");
}

bool
export_cobertura(const struct export *x, struct buf *out)
{
	struct writer w = {.x = x, .function = covered_functions(x), .out = out, .folder = export_folder(x)};

	w.file = xcalloc(x->list->file.n + 1, sizeof *w.file);
	w.order = xcalloc(x->nfile + 1, sizeof *w.order);
	for (uint32_t i = 0; i < x->nfile; i++) {
		w.file[x->file[i]] = shares_of(&w, x->file[i], 0, UINT_MAX);
		w.order[i] = x->file[i];
	}
	if (x->nfile)
		qsort_r(w.order, x->nfile, sizeof *w.order, by_folder, x->list->file.at);
	put_document(&w);
	free(w.order);
	free(w.file);
	free(w.function.at);
	return export_fits(x, w.function.fits);
}
