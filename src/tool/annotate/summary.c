/* SPDX-License-Identifier: MIT */
/* How large code is, and how much of it ran: the columns of Weinberger's lprint. */
#include "tool/annotate/annotate.h"

#include <stdlib.h>
#include <string.h>

struct row {
	const char *name;
	const char *file;        /* the source that was compiled; "": not known */
	uint64_t entries;
	bool entries_known;
	struct view_size size;
};
struct rows { struct row *at; size_t n, cap; };

/* entries: whether the rows have them. */
static void
put_row(struct table *t, const struct row *r, bool entries)
{
	const struct view_size *s = &r->size;

	table_number(t, s->code);
	table_number(t, s->never);
	table_number(t, s->blocks);
	table_number(t, s->unentered);
	table_number(t, s->insns);
	if (s->entered)
		table_printf(t, "%.2f", (double)s->insns / (double)s->entered);
	else
		table_skip(t, 1);
	if (entries && r->entries_known)
		table_number(t, r->entries);
	else if (entries)
		table_skip(t, 1);
	table_text(t, r->name);
	table_end(t);
}

static int
largest_first(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->size.insns != y->size.insns)
		return x->size.insns > y->size.insns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int
by_file(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->file, ((const struct row *)b)->file);
}

static void
sort(struct rows *rows, int (*compare)(const void *, const void *))
{
	if (rows->n)
		qsort(rows->at, rows->n, sizeof *rows->at, compare);
}

static void
find_functions(const struct annotate *a, struct rows *rows)
{
	for (size_t k = 0; k < a->run->binary.n; k++) {
		const struct binary *bin = &a->run->binary.at[k];

		for (uint32_t i = 0; i < bin->map.nproc; i++) {
			const struct proc *p = &bin->map.proc[i];
			const struct counts *c = &bin->counts[i];

			if (!c->why && (!a->functions || annotate_wants_proc(a, p)))
				VEC_PUSH(*rows, (struct row){image_readable(p->name), p->file, c->activations,
				                             c->activations_known && view_is_exact(c), view_size_of(p, c)});
		}
	}
}

/* Sums over the functions of a source file; needs these in the order of files. */
static void
sum_files(const struct rows *functions, struct rows *files)
{
	for (size_t i = 0; i < functions->n; i++) {
		const struct row *f = &functions->at[i];

		if (!files->n || strcmp(files->at[files->n - 1].file, f->file))
			VEC_PUSH(*files, (struct row){.name = *f->file ? shown_path(f->file) : "?", .file = f->file});
		view_size_add(&files->at[files->n - 1].size, &f->size);
	}
}

static void
put_rows(const struct rows *rows, const char *what, bool entries)
{
	const struct column columns[] = {
		{"instructions", 12, 0}, {"never", 8, 0}, {"blocks", 9, 0}, {"unentered", 10, 0}, {"executed", 16, 0},
		{"block", 6, 0}, {entries ? "activations" : what, entries ? 14 : 0, 0}, {what, 0, 0},
	};
	struct table t = TABLE(columns);

	t.n -= !entries;
	table_head(&t);
	for (size_t i = 0; i < rows->n; i++)
		put_row(&t, &rows->at[i], entries);
}

bool
annotate_summary(struct annotate *a)
{
	struct rows functions = {0}, files = {0}, all = {0};
	bool some;

	find_functions(a, &functions);
	sort(&functions, largest_first);
	put_rows(&functions, "function", true);
	sort(&functions, by_file);
	sum_files(&functions, &files);
	sort(&files, largest_first);
	putchar('\n');
	VEC_PUSH(all, (struct row){.name = "in all"});
	for (size_t i = 0; i < files.n; i++)
		view_size_add(&all.at[0].size, &files.at[i].size);
	VEC_PUSH(files, all.at[0]);
	put_rows(&files, "file", false);
	some = functions.n;
	free(functions.at);
	free(files.at);
	free(all.at);
	return some;
}

/* ---- mnemonics ---- */

bool
annotate_mnemonics(struct annotate *a)
{
	static const struct column mnemonics[] = {
		{"executed", 16, 0}, {"share", 8, 0}, {"instructions", 12, 0}, {"mnemonic", 0, 0},
	};
	struct table t = TABLE(mnemonics);
	struct view_mnemonics all = {0};
	bool some;

	view_mnemonics(&all, &a->list);
	table_head(&t);
	for (size_t i = 0; i < all.n; i++) {
		table_number(&t, all.at[i].count);
		table_share(&t, all.at[i].count, a->insns);
		table_number(&t, all.at[i].code);
		table_text(&t, all.at[i].name);
		table_end(&t);
	}
	some = all.n;
	free(all.at);
	return some;
}
