/* SPDX-License-Identifier: MIT */
/* Instructions with their counts and source lines, and source lines with their counts. */
#include "view/internal.h"

#include <stdlib.h>
#include <string.h>

struct builder {
	struct view_listing *l;
	bool (*wants)(const void *ctx, const struct proc *p);
	bool (*source)(const void *ctx, const char *name); /* not NULL: only code of functions with such names in the source */
	const struct image *last_image; /* the result for this scope of this image was computed last */
	uint32_t last_scope;
	bool last_is;
	const void *ctx;
	struct line_table table;
	struct leaving leaving;
};

/* ---- files and lines ---- */

static void
count_line(struct builder *b, const struct view_insn *in)
{
	struct view_line *line = line_table_line(&b->table, in->file, in->line);
	const struct bounds n = {in->count, in->count};

	line->code++;
	line->unknown |= !in->known;
	line->never += in->known && !in->count;
	b->l->fits &= bounds_add(&line->insns, &n);
	bounds_raise(&line->most, &n);
}

/* ---- instructions ---- */

/* The edge of a jump out of the procedure comes before the edge to the next block. If a block ends in a conditional jump, every
 * edge but that to the next block means that the jump was taken. */
static void
add_branch(struct builder *b, const struct view_insn *in, const struct counts *c)
{
	const uint32_t out = PROC_EXIT(in->proc);
	struct view_branch br = {
		.insn = (uint32_t)b->l->insn.n - 1, .file = in->file, .line = in->line, .known = in->known,
		.taken_to = out, .fell_to = out,
	};

	leaving_of(&b->leaving, in->proc);
	/* The loop goes backward, so the first edge of each kind determines the target. */
	for (uint32_t i = b->leaving.first[in->block + 1]; i-- > b->leaving.first[in->block] && br.known;) {
		uint32_t a = b->leaving.arc[i];
		bool falls = in->proc->arc[a].kind == CHORD_EDGE_FALL;

		br.known &= c->arc_known[a];
		*(falls ? &br.fell : &br.taken) += c->arc[a];
		*(falls ? &br.fell_to : &br.taken_to) = in->proc->arc[a].to;
	}
	VEC_PUSH(b->l->branch, br);
}

/* Padding may have another length in the woven program, so its address does not determine its line. */
static void
find_line(struct builder *b, struct view_insn *in)
{
	struct image_place place;

	if (!in->addr || in->kind == CHORD_INSN_PAD || !image_place(in->binary->image, in->addr, &place))
		return;
	in->file = line_table_file(&b->table, place.file);
	in->line = place.line;
	count_line(b, in);
}

static bool
is_of_source(struct builder *b, const struct view_insn *in)
{
	const struct image *im = in->binary->image;
	uint32_t scope = b->source ? view_insn_scope(in) : IMAGE_NO_SCOPE;

	if (!b->source || (b->last_image == im && b->last_scope == scope))
		return !b->source || b->last_is;
	b->last_image = im;
	b->last_scope = scope;
	for (b->last_is = false; scope != IMAGE_NO_SCOPE && !b->last_is; scope = image_scope(im, scope)->in)
		b->last_is = b->source(b->ctx, image_scope(im, scope)->name);
	return b->last_is;
}

static void
add_block(struct builder *b, struct binary *bin, uint32_t proc, uint32_t block)
{
	const struct counts *c = &bin->counts[proc];
	struct walk w;

	for (walk_start(&w, &bin->map.proc[proc], c, block); walk_next(&w);) {
		struct view_insn in = {
			.binary = bin, .proc = w.proc, .proc_number = proc, .block = block, .number = w.i, .part = w.block->part,
			.offset = w.offset, .addr = w.addr, .count = c->why ? 0 : w.count, .kind = w.kind,
			.known = view_is_exact(c), .file = VIEW_NO_FILE,
		};

		if (!is_of_source(b, &in))
			continue;
		find_line(b, &in);
		VEC_PUSH(b->l->insn, in);
		if (in.kind == CHORD_INSN_BRANCH)
			add_branch(b, &in, c);
	}
}

/* Counts the lines of code without counts. */
static void
add_unmeasured(struct builder *b, struct binary *bin, uint64_t addr, uint64_t size)
{
	struct insn in;
	struct image_place place;

	for (uint64_t at = addr; at < addr + size; at += in.len) {
		if (!image_insn(bin->image, at, &in))
			return;
		if (!(in.attr & INSN_NOP) && image_place(bin->image, at, &place))
			count_line(b, &(struct view_insn){.file = line_table_file(&b->table, place.file), .line = place.line});
	}
}

static void
add_binary(struct builder *b, struct binary *bin)
{
	struct unmeasured un = {0};

	for (uint32_t i = 0; i < bin->map.nproc; i++) {
		const struct proc *p = &bin->map.proc[i];

		progress("finding lines", i, bin->map.nproc);
		if (b->wants && !b->wants(b->ctx, p))
			continue;
		for (uint32_t k = 0; k < p->nblock && !p->refused; k++)
			add_block(b, bin, i, k);
		for (uint32_t k = 0; k < p->npart && p->refused; k++)
			add_unmeasured(b, bin, p->part[k].addr, p->part[k].woven_size);
	}
	progress("finding lines", bin->map.nproc, bin->map.nproc);
	if (b->wants || b->source)
		return;
	unmeasured_find(bin, &un);
	for (size_t i = 0; i < un.symbol.n; i++)
		add_unmeasured(b, bin, un.symbol.at[i].addr, un.symbol.at[i].size);
	unmeasured_free(&un);
}

/* ---- in order ---- */

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct view_file *)a)->name, ((const struct view_file *)b)->name);
}

static int
by_line(const void *a, const void *b)
{
	const struct view_line *x = a, *y = b;

	return (x->line > y->line) - (x->line < y->line);
}

static int
by_place(const void *a, const void *b)
{
	const struct view_branch *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->insn > y->insn) - (x->insn < y->insn);
}

static void
fill_files(struct builder *b)
{
	struct view_listing *l = b->l;

	for (size_t i = 0; i < b->table.name.n; i++)
		VEC_PUSH(l->file, (struct view_file){.name = b->table.name.at[i]});
	for (size_t i = 0; i < b->table.cell.n; i++) {
		struct view_file *f = &l->file.at[b->table.cell.at[i].file];
		const struct view_line *line = &b->table.cell.at[i].line;

		VEC_PUSH(f->line, *line);
		f->code += line->code;
		f->never += line->never;
		l->fits &= checked_add(&f->insns, line->insns.least);
	}
	for (size_t i = 0; i < l->file.n; i++)
		qsort(l->file.at[i].line.at, l->file.at[i].line.n, sizeof *l->file.at[i].line.at, by_line);
}

/* Numbers files in the order of their names. */
static void
sort_files(struct builder *b)
{
	struct view_listing *l = b->l;
	uint32_t *now = xcalloc(l->file.n + 1, sizeof *now);
	const char **old = xcalloc(l->file.n + 1, sizeof *old);

	for (size_t i = 0; i < l->file.n; i++)
		old[i] = l->file.at[i].name;
	if (l->file.n)
		qsort(l->file.at, l->file.n, sizeof *l->file.at, by_name);
	for (uint32_t i = 0; i < l->file.n; i++)
		strmap_put(&b->table.number, str_of(l->file.at[i].name), i);
	for (size_t i = 0; i < l->file.n; i++) {
		uint64_t n = 0;

		strmap_get(&b->table.number, str_of(old[i]), &n);
		now[i] = (uint32_t)n;
	}
	for (size_t i = 0; i < l->insn.n; i++)
		if (l->insn.at[i].file != VIEW_NO_FILE)
			l->insn.at[i].file = now[l->insn.at[i].file];
	for (size_t i = 0; i < l->branch.n; i++)
		if (l->branch.at[i].file != VIEW_NO_FILE)
			l->branch.at[i].file = now[l->branch.at[i].file];
	if (l->branch.n)
		qsort(l->branch.at, l->branch.n, sizeof *l->branch.at, by_place);
	free(now);
	free(old);
}

static void
build(struct builder *b, struct view_listing *l, struct run *run)
{
	b->l = l;
	*l = (struct view_listing){.run = run, .fits = true};
	for (size_t i = 0; i < run->binary.n; i++)
		add_binary(b, &run->binary.at[i]);
	fill_files(b);
	sort_files(b);
	line_table_free(&b->table);
	leaving_free(&b->leaving);
}

void
view_listing(struct view_listing *l, struct run *run, bool (*wants)(const void *ctx, const struct proc *p), const void *ctx)
{
	build(&(struct builder){.wants = wants, .ctx = ctx}, l, run);
}

void
view_listing_source(struct view_listing *l, struct run *run, bool (*wants)(const void *ctx, const char *name), const void *ctx)
{
	build(&(struct builder){.source = wants, .ctx = ctx}, l, run);
}

void
view_listing_free(struct view_listing *l)
{
	for (size_t i = 0; i < l->file.n; i++)
		free(l->file.at[i].line.at);
	free(l->insn.at);
	free(l->branch.at);
	free(l->file.at);
	*l = (struct view_listing){0};
}

const struct view_branch *
view_branches(const struct view_listing *l, uint32_t file, unsigned line, size_t *n)
{
	const struct view_branch key = {.file = file, .line = line};
	size_t lo = 0, hi = l->branch.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (by_place(&l->branch.at[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (*n = 0; lo + *n < l->branch.n && l->branch.at[lo + *n].file == file && l->branch.at[lo + *n].line == line;)
		++*n;
	return l->branch.at + lo;
}
