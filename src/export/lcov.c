/* SPDX-License-Identifier: MIT */
/* Tracefiles of lcov, as geninfo(1) has them. A line's count is that of its instruction that ran most often. Lines some of whose
 * code is not known have no record. */
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A function that begins in a file. */
struct function {
	const char *file, *name;
	unsigned line;
	uint64_t calls;
};
struct functions { struct function *at; size_t n, cap; };

static int
by_place(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int c = strcmp(x->file, y->file);

	if (c)
		return c;
	return x->line != y->line ? (x->line < y->line ? -1 : 1) : strcmp(x->name, y->name);
}

static struct functions
functions_of(const struct export *x)
{
	struct functions all = {0};

	for (size_t i = 0; i < x->function->n; i++) {
		const struct view_function *f = &x->function->at[i];

		if (view_is_exact(f->counts) && *f->file && f->line)
			VEC_PUSH(all, (struct function){f->file, f->proc->name, f->line, f->counts->activations});
	}
	if (all.n)
		qsort(all.at, all.n, sizeof *all.at, by_place);
	return all;
}

static void
put_functions(const struct functions *all, const char *file, struct buf *out)
{
	size_t n = 0, hit = 0;

	for (size_t i = 0; i < all->n; i++) {
		if (strcmp(all->at[i].file, file))
			continue;
		buf_printf(out, "FN:%u,%s\n", all->at[i].line, all->at[i].name);
		n++;
		hit += all->at[i].calls != 0;
	}
	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->at[i].file, file))
			buf_printf(out, "FNDA:%" PRIu64 ",%s\n", all->at[i].calls, all->at[i].name);
	buf_printf(out, "FNF:%zu\nFNH:%zu\n", n, hit);
}

/* Each conditional jump is a block of two branches; of one that was never executed it is not known which it would be. */
static void
put_branches(const struct export *x, uint32_t file, struct buf *out)
{
	size_t found = 0, hit = 0, block = 0;
	unsigned line = 0;

	for (size_t i = 0; i < x->list->branch.n; i++) {
		const struct view_branch *b = &x->list->branch.at[i];
		const uint64_t count[] = {b->taken, b->fell};

		if (b->file != file || !b->known)
			continue;
		block = b->line == line ? block + 1 : 0;
		line = b->line;
		for (int k = 0; k < 2; k++) {
			if (b->taken + b->fell)
				buf_printf(out, "BRDA:%u,%zu,%d,%" PRIu64 "\n", b->line, block, k, count[k]);
			else
				buf_printf(out, "BRDA:%u,%zu,%d,-\n", b->line, block, k);
			hit += count[k] != 0;
		}
		found += 2;
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

bool
export_lcov(const struct export *x, struct buf *out)
{
	struct functions all = functions_of(x);

	for (uint32_t i = 0; i < x->list->file.n; i++) {
		const struct view_file *f = &x->list->file.at[i];

		buf_printf(out, "TN:\nSF:%s\n", f->name);
		put_functions(&all, f->name, out);
		put_branches(x, i, out);
		put_lines(f, out);
		buf_str(out, "end_of_record\n");
	}
	free(all.at);
	return true;
}
