/* SPDX-License-Identifier: MIT */
/* How large code is, and how much of it ran: the columns of Weinberger's lprint. */
#include "tool/annotate/annotate.h"

#include <stdlib.h>
#include <string.h>

struct row {
	const char *name;        /* the readable name */
	const char *symbol;      /* of a function: its symbol */
	const char *file;        /* the source that was compiled; "": not known */
	uint64_t entries;
	bool entries_known;
	uint64_t code, blocks;   /* instructions and blocks in the code */
	struct bounds never, unentered; /* instructions that never ran, blocks never entered */
	struct bounds insns, entered; /* instructions executed, blocks entered */
};
struct rows { struct row *at; size_t n, cap; };

/* entries: do the rows have them? */
static void
put_row(struct table *t, const struct row *r, bool entries)
{
	table_number(t, r->code);
	table_bounds(t, &r->never, true);
	table_number(t, r->blocks);
	table_bounds(t, &r->unentered, true);
	table_bounds(t, &r->insns, true);
	if (!bounds_exact(&r->insns) || !bounds_exact(&r->entered))
		table_text(t, "?");
	else if (r->entered.least)
		table_printf(t, "%.2f", (double)r->insns.least / (double)r->entered.least);
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

	if (x->insns.least != y->insns.least)
		return x->insns.least > y->insns.least ? -1 : 1;
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

static struct row
row_of(const struct proc *p, const struct counts *c)
{
	const struct view_size s = view_size_of(p, c), most = c->most ? view_size_of(p, c->most) : s;

	/* Code that may have run is not certain to have never run. */
	return (struct row){
		.name = image_readable(p->name), .symbol = p->name, .file = p->file, .entries = c->activations,
		.entries_known = c->activations_known && view_is_exact(c), .code = s.code, .blocks = s.blocks,
		.never = {most.never, s.never}, .unentered = {most.unentered, s.unentered},
		.insns = {s.insns, most.insns}, .entered = {s.entered, most.entered},
	};
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
				VEC_PUSH(*rows, row_of(p, c));
		}
	}
}

/* False: a sum does not fit 64 bits. */
static bool
add_row(struct row *sum, const struct row *r)
{
	return checked_add(&sum->code, r->code) && checked_add(&sum->blocks, r->blocks) && bounds_add(&sum->never, &r->never) &&
	       bounds_add(&sum->unentered, &r->unentered) && bounds_add(&sum->insns, &r->insns) &&
	       bounds_add(&sum->entered, &r->entered);
}

/* Sums functions by source file; the functions have to be in the order of files. False: a sum does not fit 64 bits. */
static bool
sum_files(const struct rows *functions, struct rows *files)
{
	bool fits = true;

	for (size_t i = 0; i < functions->n; i++) {
		const struct row *f = &functions->at[i];

		if (!files->n || strcmp(files->at[files->n - 1].file, f->file))
			VEC_PUSH(*files, (struct row){.name = *f->file ? path_from_here(f->file) : "?", .file = f->file});
		fits &= add_row(&files->at[files->n - 1], f);
	}
	return fits;
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
	for (size_t i = 0; i < rows->n; i++)
		table_widen(&t, &rows->at[i].insns);
	table_head(&t);
	for (size_t i = 0; i < rows->n; i++)
		put_row(&t, &rows->at[i], entries);
}

static json_t *
json_rows(const struct rows *rows, bool functions)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rows->n; i++) {
		const struct row *r = &rows->at[i];
		json_t *o = json_object();

		if (functions)
			js_set_function(o, "name", r->symbol);
		else
			js_set(o, "file", js_text(r->name));
		js_set(o, "code", js_number(r->code, true));
		js_set_total(o, "never", &r->never, true);
		js_set(o, "blocks", js_number(r->blocks, true));
		js_set_total(o, "unentered", &r->unentered, true);
		js_set_total(o, "instructions", &r->insns, true);
		js_set_total(o, "blocks_entered", &r->entered, true);
		if (functions)
			js_set(o, "calls", js_number(r->entries, r->entries_known));
		js_append(list, o);
	}
	return list;
}

bool
annotate_summary_json(const struct annotate *a, json_t *o)
{
	struct rows functions = {0}, files = {0};
	bool some;

	find_functions(a, &functions);
	sort(&functions, by_file);
	if (!sum_files(&functions, &files))
		die(a->run->path, "the sum of its counts does not fit 64 bits");
	sort(&functions, largest_first);
	js_set(o, "functions", json_rows(&functions, true));
	js_set(o, "files", json_rows(&files, false));
	some = functions.n;
	free(functions.at);
	free(files.at);
	return some;
}

bool
annotate_summary(struct annotate *a)
{
	struct rows functions = {0}, files = {0}, all = {0};
	bool some, fits;

	find_functions(a, &functions);
	sort(&functions, largest_first);
	put_rows(&functions, "function", true);
	sort(&functions, by_file);
	fits = sum_files(&functions, &files);
	sort(&files, largest_first);
	putchar('\n');
	VEC_PUSH(all, (struct row){.name = "in all"});
	for (size_t i = 0; i < files.n; i++)
		fits &= add_row(&all.at[0], &files.at[i]);
	if (!fits)
		die(a->run->path, "the sum of its counts does not fit 64 bits");
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
	size_t unknown = 0;
	bool some;

	view_mnemonics(&all, &a->list);
	table_widen_for(&t, a->insns);
	table_head(&t);
	for (size_t i = 0; i < all.n; i++) {
		table_number(&t, all.at[i].count);
		if (a->exact)
			table_share(&t, all.at[i].count, a->insns);
		else
			table_text(&t, "?");
		table_number(&t, all.at[i].code);
		table_text(&t, all.at[i].name);
		table_end(&t);
	}
	for (size_t i = 0; i < a->list.insn.n; i++)
		unknown += !a->list.insn.at[i].known;
	if (unknown)
		printf("\n%zu %s in no sum above: how often is not known\n", unknown,
		       unknown == 1 ? "instruction is" : "instructions are");
	some = all.n || unknown;
	free(all.at);
	return some;
}
