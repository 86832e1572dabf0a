/* SPDX-License-Identifier: MIT */
/* Functions and branches for formats of coverage. */
#include "export/coverage.h"

#include <stdlib.h>
#include <string.h>

/* What is known of a function in the source, for all code that was made from it. */
struct source {
	const char *file;
	unsigned line;
	unsigned end;
	bool ran;
};

struct collector {
	struct pool *pool;
	struct strmap number;    /* by file and line of the declaration */
	VEC(struct source) source;
};

static struct source *
source_of(struct collector *c, const char *file, unsigned line)
{
	char *key = pool_printf(c->pool, "%u %s", line, file);
	uint64_t i;

	if (!strmap_get(&c->number, str_of(key), &i)) {
		i = c->source.n;
		strmap_put(&c->number, str_of(key), i);
		VEC_PUSH(c->source, (struct source){.file = file, .line = line, .end = line});
	}
	return &c->source.at[i];
}

static void
collect(struct collector *c, const struct export *x)
{
	const struct view_insn *last = NULL;
	struct source *s = NULL;
	struct image_frame f, of = {0};

	for (size_t i = 0; i < x->list->insn.n; i++) {
		const struct view_insn *in = &x->list->insn.at[i];

		if (!in->known || !in->line || !image_frames(in->binary->image, in->addr, &f, 1) || !f.file || !f.line)
			continue;
		if (!last || of.file != f.file || of.line != f.line)
			s = source_of(c, f.file, f.line);
		last = in;
		of = f;
		if (f.at.file && !strcmp(f.at.file, f.file) && f.at.line > s->end)
			s->end = f.at.line;
		s->ran |= in->count != 0;
	}
}

static int
by_declaration(const void *a, const void *b)
{
	const struct source *x = a, *y = b;
	int c = strcmp(x->file, y->file);

	return c ? c : (x->line > y->line) - (x->line < y->line);
}

/* No function extends into the next one. Compilers sometimes give an instruction of one function a line of the other. */
static void
end_before_next(struct collector *c)
{
	struct source *sorted = xcalloc(c->source.n + 1, sizeof *sorted);

	for (size_t i = 0; i < c->source.n; i++)
		sorted[i] = c->source.at[i];
	if (c->source.n)
		qsort(sorted, c->source.n, sizeof *sorted, by_declaration);
	for (size_t i = 0; i + 1 < c->source.n; i++)
		if (!strcmp(sorted[i].file, sorted[i + 1].file) && sorted[i].end >= sorted[i + 1].line)
			source_of(c, sorted[i].file, sorted[i].line)->end = sorted[i + 1].line - 1;
	free(sorted);
}

static int
by_place(const void *a, const void *b)
{
	const struct covered *x = a, *y = b;
	int c = strcmp(x->file, y->file);

	if (c)
		return c;
	return x->line != y->line ? (x->line < y->line ? -1 : 1) : strcmp(x->name, y->name);
}

static void
sum_copies(struct covered_list *all)
{
	size_t n = 0;

	if (all->n)
		qsort(all->at, all->n, sizeof *all->at, by_place);
	for (size_t i = 0; i < all->n; i++) {
		if (n && !by_place(&all->at[n - 1], &all->at[i]))
			all->fits &= checked_add(&all->at[n - 1].calls, all->at[i].calls);
		else
			all->at[n++] = all->at[i];
	}
	all->n = n;
}

struct covered_list
covered_functions(const struct export *x)
{
	struct collector c = {.pool = pool_new()};
	struct covered_list all = {.fits = true};
	size_t n = 0;

	collect(&c, x);
	end_before_next(&c);
	for (size_t i = 0; i < x->function->n; i++) {
		const struct view_function *f = &x->function->at[i];

		if (view_is_exact(f->counts) && f->counts->activations_known && *f->file && f->line)
			VEC_PUSH(all, (struct covered){f->file, f->proc->name, f->line, f->line, f->counts->activations});
	}
	sum_copies(&all);
	for (size_t i = 0; i < all.n; i++) {
		const struct source *s = source_of(&c, all.at[i].file, all.at[i].line);

		if (s->ran != (all.at[i].calls != 0))
			continue;
		all.at[n] = all.at[i];
		all.at[n++].end = s->end;
	}
	all.n = n;
	free(c.source.at);
	strmap_free(&c.number);
	pool_free(c.pool);
	return all;
}

const struct covered *
covered_in(const struct covered_list *all, const char *file, size_t *n)
{
	size_t lo = 0, hi = all->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(all->at[mid].file, file) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (*n = 0; lo + *n < all->n && !strcmp(all->at[lo + *n].file, file);)
		++*n;
	return all->at + lo;
}

const struct view_branch *
covered_branches(const struct export *x, uint32_t file, const struct view_line *line, size_t *n)
{
	const struct view_branch *b = view_branches(x->list, file, line->line, n);
	bool ran = false;

	for (size_t i = 0; i < *n; i++) {
		if (!b[i].known) {
			*n = 0;
			return b;
		}
		ran |= b[i].taken || b[i].fell;
	}
	if (line->most.least && !ran)
		*n = 0;
	return b;
}

double
covered_rate(uint64_t hit, uint64_t all)
{
	return all ? (double)hit / (double)all : 1;
}
