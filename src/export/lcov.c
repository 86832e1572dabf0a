/* SPDX-License-Identifier: MIT */
/* Tracefiles of lcov, as in geninfo(1). The count of a line is that of its instruction that ran most often. A line gets no record
 * if some of its code is not known. Version 2 also reads the last lines of functions, and would guess them otherwise. */
#include "export/coverage.h"

#include <inttypes.h>
#include <stdlib.h>

/* The first line of a function that has code: genhtml 2 wants functions to be there. 0: none is known. */
static unsigned
first_line(const struct view_file *v, const struct covered *f)
{
	size_t first = 0;

	for (size_t end = v->line.n; first < end;) {
		size_t middle = first + (end - first) / 2;

		if (v->line.at[middle].line < f->line)
			first = middle + 1;
		else
			end = middle;
	}
	for (; first < v->line.n && v->line.at[first].line <= f->end; first++)
		if (!v->line.at[first].unknown)
			return v->line.at[first].line;
	return 0;
}

/* Readers strip blanks at the end of a line, so a name without another character would be none. */
static void
put_name(const char *name, struct buf *out)
{
	size_t start = out->n;
	bool blank = true;

	buf_plain(out, name);
	for (size_t i = start; i < out->n; i++)
		blank &= out->at[i] == ' ';
	if (blank)
		buf_char(out, '?');
	buf_char(out, '\n');
}

static void
put_functions(const struct covered_list *all, const struct view_file *v, bool ends, struct buf *out)
{
	size_t n, found = 0, hit = 0;
	const struct covered *f = covered_in(all, v->name, &n);

	for (size_t i = 0; i < n; i++) {
		unsigned line = first_line(v, &f[i]);

		if (!line)
			continue;
		buf_printf(out, "FN:%u,", line);
		if (ends)
			buf_printf(out, "%u,", f[i].end);
		put_name(f[i].name, out);
		found++;
	}
	for (size_t i = 0; i < n; i++) {
		if (!first_line(v, &f[i]))
			continue;
		buf_printf(out, "FNDA:%" PRIu64 ",", f[i].calls);
		put_name(f[i].name, out);
		hit += f[i].calls != 0;
	}
	buf_printf(out, "FNF:%zu\nFNH:%zu\n", found, hit);
}

/* Each conditional jump is a block of two branches. Branches of a jump that never ran have no counts. */
static size_t
put_branches(const struct view_branch *b, size_t n, struct buf *out)
{
	size_t hit = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t count[] = {b[i].taken, b[i].fell};

		for (int k = 0; k < 2; k++) {
			if (b[i].taken || b[i].fell)
				buf_printf(out, "BRDA:%u,%zu,%d,%" PRIu64 "\n", b[i].line, i, k, count[k]);
			else
				buf_printf(out, "BRDA:%u,%zu,%d,-\n", b[i].line, i, k);
			hit += count[k] != 0;
		}
	}
	return hit;
}

static void
put_all_branches(const struct export *x, uint32_t file, struct buf *out)
{
	const struct view_file *f = &x->list->file.at[file];
	size_t found = 0, hit = 0;

	for (size_t i = 0; i < f->line.n; i++) {
		size_t n;
		const struct view_branch *b;

		if (f->line.at[i].unknown)
			continue;
		b = covered_branches(x, file, &f->line.at[i], &n);
		hit += put_branches(b, n, out);
		found += 2 * n;
	}
	if (found)
		buf_printf(out, "BRF:%zu\nBRH:%zu\n", found, hit);
}

static void
put_lines(const struct view_file *f, struct buf *out)
{
	size_t n = 0, hit = 0;

	for (size_t i = 0; i < f->line.n; i++) {
		const struct view_line *l = &f->line.at[i];

		if (l->unknown)
			continue;
		buf_printf(out, "DA:%u,%" PRIu64 "\n", l->line, l->most.least);
		n++;
		hit += l->most.least != 0;
	}
	buf_printf(out, "LF:%zu\nLH:%zu\n", n, hit);
}

static bool
put_tracefile(const struct export *x, bool ends, struct buf *out)
{
	struct covered_list all = covered_functions(x);

	for (uint32_t i = 0; i < x->nfile; i++) {
		const struct view_file *f = &x->list->file.at[x->file[i]];

		buf_str(out, "TN:\nSF:");
		put_name(f->name, out);
		put_functions(&all, f, ends, out);
		put_all_branches(x, x->file[i], out);
		put_lines(f, out);
		buf_str(out, "end_of_record\n");
	}
	free(all.at);
	return export_fits(x, all.fits);
}

bool
export_lcov(const struct export *x, struct buf *out)
{
	return put_tracefile(x, false, out);
}

bool
export_lcov2(const struct export *x, struct buf *out)
{
	return put_tracefile(x, true, out);
}
