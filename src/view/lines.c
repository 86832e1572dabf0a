/* SPDX-License-Identifier: MIT */
/* Source lines and files, with the instructions executed for them. */
#include "view/internal.h"

#include <stdlib.h>
#include <string.h>

struct lines {
	struct line_table table;
	bool fits;
};

static void
add_line(struct lines *l, const char *file, unsigned line, uint64_t count, uint64_t count_most)
{
	struct view_line *row = line_table_line(&l->table, line_table_file(&l->table, file), line);
	const struct bounds n = {count, count_most};

	row->code++;
	row->never += !count_most;
	l->fits &= bounds_add(&row->insns, &n);
	bounds_raise(&row->most, &n);
}

/* The name of the compiled file, as in the line table. */
static const char *
file_of_proc(struct binary *bin, const struct proc *p)
{
	struct image_function f;
	struct image_place place;

	if (image_function(bin->image, p->part[0].addr, &f) && f.unit_file)
		return f.unit_file;
	if (image_place(bin->image, p->part[0].addr, &place) && !strcmp(base_name(place.file), base_name(p->file)))
		return place.file;
	return *p->file ? p->file : "?";
}

/* Instructions without a line count for line 0 of their procedure's file. So does padding: it may have another length in the woven
 * program, so its address does not determine its line. */
static void
add_block(struct lines *l, struct binary *bin, uint32_t proc, const char *file, uint32_t block)
{
	const struct proc *p = &bin->map.proc[proc];
	const struct counts *c = &bin->counts[proc];
	struct image_place place;
	struct walk w, most;

	walk_start(&most, p, c->most ? c->most : c, block);
	for (walk_start(&w, p, c, block); walk_next(&w) && walk_next(&most);) {
		if (w.addr && w.kind != CHORD_INSN_PAD && image_place(bin->image, w.addr, &place))
			add_line(l, place.file, place.line, w.count, most.count);
		else
			add_line(l, file, 0, w.count, most.count);
	}
}

static void
add_binary(struct lines *l, struct binary *bin, const struct view_choice *choice)
{
	for (uint32_t i = 0; i < bin->map.nproc; i++) {
		const char *file = file_of_proc(bin, &bin->map.proc[i]);
		bool shown = !bin->counts[i].why && view_is_named(&bin->map.proc[i], choice->function);

		progress("finding lines", i, bin->map.nproc);
		for (uint32_t b = 0; shown && b < bin->map.proc[i].nblock; b++)
			add_block(l, bin, i, file, b);
	}
	progress("finding lines", bin->map.nproc, bin->map.nproc);
}

static void
sum_files(struct lines *l, struct view_lines *files)
{
	size_t first = files->n;

	for (size_t i = 0; i < l->table.name.n; i++)
		VEC_PUSH(*files, (struct view_line){.file = l->table.name.at[i]});
	for (size_t i = 0; i < l->table.cell.n; i++) {
		const struct line_cell *cell = &l->table.cell.at[i];
		struct view_line *f = &files->at[first + cell->file];

		f->code += cell->line.code;
		f->never += cell->line.never;
		l->fits &= bounds_add(&f->insns, &cell->line.insns);
		bounds_raise(&f->most, &cell->line.most);
	}
}

/* Keeps the rows of files that match the pattern. */
static void
leave_files(struct view_lines *rows, const char *pattern)
{
	const char *last = NULL;
	size_t n = 0;
	bool is = false;

	for (size_t i = 0; i < rows->n; i++) {
		if (rows->at[i].file != last)
			is = view_is_file(rows->at[i].file, pattern);
		last = rows->at[i].file;
		if (is)
			rows->at[n++] = rows->at[i];
	}
	rows->n = n;
}

bool
view_lines(struct view_lines *lines, struct view_lines *files, struct run *run, const struct view_choice *choice)
{
	struct lines l = {.fits = true};

	for (size_t i = 0; i < run->binary.n; i++)
		add_binary(&l, &run->binary.at[i], choice);
	if (files) {
		sum_files(&l, files);
		leave_files(files, choice->file);
	}
	for (size_t i = 0; lines && i < l.table.cell.n; i++)
		VEC_PUSH(*lines, l.table.cell.at[i].line);
	if (lines)
		leave_files(lines, choice->file);
	line_table_free(&l.table);
	return l.fits;
}

/* ---- in order ---- */

static int
by_place(const void *a, const void *b)
{
	const struct view_line *x = a, *y = b;
	int c = strcmp(x->file, y->file);

	return c ? c : (x->line > y->line) - (x->line < y->line);
}

static int
by_insns(const void *a, const void *b)
{
	const struct view_line *x = a, *y = b;

	if (x->insns.least != y->insns.least)
		return x->insns.least > y->insns.least ? -1 : 1;
	return by_place(a, b);
}

void
view_lines_sort(struct view_lines *lines, enum view_sort sort)
{
	bool place = sort == VIEW_BY_FILE || sort == VIEW_BY_NAME || sort == VIEW_BY_ADDRESS;

	if (lines->n)
		qsort(lines->at, lines->n, sizeof *lines->at, place ? by_place : by_insns);
}
