/* SPDX-License-Identifier: MIT */
/* The paths of functions, for drawing them on graphs. */
#include "html/html.h"
#include "view/paths.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SHOWN = 50 }; /* the most of each function */

struct page_paths {
	struct pages *p;
	struct view_paths all;
	const struct view_path **row; /* by procedure, hottest first */
	size_t n;
	size_t of;               /* index in all.proc of the next procedure: both lists have the same order */
};

static int
by_proc(const void *a, const void *b)
{
	const struct view_path *x = *(const struct view_path *const *)a, *y = *(const struct view_path *const *)b;

	if (x->of->proc != y->of->proc)
		return x->of->proc < y->of->proc ? -1 : 1;
	return (x > y) - (x < y);
}

static bool
counts_paths(const struct run *run)
{
	for (size_t k = 0; k < run->binary.n; k++)
		for (uint32_t i = 0; i < run->binary.at[k].map.nproc; i++)
			if (run->binary.at[k].map.proc[i].paths)
				return true;
	return false;
}

struct page_paths *
page_paths_find(struct pages *p)
{
	struct page_paths *x;

	if (!counts_paths(p->run))
		return NULL;
	x = xcalloc(1, sizeof *x);
	x->p = p;
	if (view_paths(&x->all, p->run, NULL)) {
		x->row = xcalloc(x->all.row.n + 1, sizeof *x->row);
		for (x->n = 0; x->n < x->all.row.n; x->n++)
			x->row[x->n] = &x->all.row.at[x->n];
		qsort(x->row, x->n, sizeof *x->row, by_proc);
	}
	return x;
}

/* Rows are sorted by procedure, so the first one is found by binary search. */
static size_t
first_of(const struct page_paths *x, const struct proc *proc)
{
	size_t lo = 0, hi = x->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (x->row[mid]->of->proc < proc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* [count, instructions of one execution, of all, exact, edges] */
static void
put_path(struct buf *out, const struct view_path *row)
{
	struct pool *pool = pool_new();
	struct path path = view_path_edges(pool, row);

	script_next(out);
	buf_char(out, '[');
	script_count(out, row->count);
	buf_char(out, ',');
	script_count(out, row->length);
	buf_char(out, ',');
	script_known(out, row->insns, row->insns != UINT64_MAX);
	buf_printf(out, ",%d,[", row->exact);
	for (uint32_t i = 0; i < path.n; i++) {
		script_next(out);
		buf_printf(out, "%" PRIu32, path.edge[i]);
	}
	buf_str(out, "]]");
	pool_free(pool);
}

static void
put_numbers(struct buf *out, const struct view_paths_proc *of)
{
	script_key(out, "possible");
	script_known(out, of->possible, of->possible != UINT64_MAX);
	script_key(out, "ran");
	script_known(out, of->ran, of->ran != UINT64_MAX);
	if (of->why) {
		script_key(out, "why");
		script_name(out, of->why);
	}
}

/* Writes how many paths are possible and how many ran, why the counts are not all exact, and the hottest paths. */
void
page_paths_put(struct page_paths *x, struct buf *out, const struct proc *proc)
{
	size_t first = first_of(x, proc), n = 0;

	if (!proc->paths)
		return;
	while (first + n < x->n && x->row[first + n]->of->proc == proc)
		n++;
	script_key(out, "paths");
	buf_char(out, '{');
	while (x->of < x->all.proc.n && x->all.proc.at[x->of].proc != proc)
		x->of++;
	if (x->of < x->all.proc.n)
		put_numbers(out, &x->all.proc.at[x->of]);
	script_key(out, "hottest");
	buf_char(out, '[');
	for (size_t i = first; i < first + n && i < first + SHOWN; i++)
		put_path(out, x->row[i]);
	buf_str(out, "]}");
}

void
page_paths_free(struct page_paths *x)
{
	if (!x)
		return;
	view_paths_free(&x->all);
	free(x->row);
	free(x);
}
