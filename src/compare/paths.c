/* SPDX-License-Identifier: MIT */
/* Which paths only one of two runs took. */
#include "compare/compare.h"

#include <stdlib.h>
#include <string.h>

/* Compares where paths stopped. Paths that did not stop come first. */
static int
by_stop(const struct stopped *s, const struct stopped *t)
{
	if (!s || !t)
		return (s != NULL) - (t != NULL);
	if (!s->cut != !t->cut)
		return s->cut ? 1 : -1;
	if (s->reentry != t->reentry)
		return s->reentry ? 1 : -1;
	if (!s->cut)
		return (s->call > t->call) - (s->call < t->call);
	return (s->cut->addr > t->cut->addr) - (s->cut->addr < t->cut->addr);
}

/* Procedures of one build are the same if their code has the same address. */
static int
by_path(const void *a, const void *b)
{
	const struct view_path *x = *(const struct view_path *const *)a, *y = *(const struct view_path *const *)b;
	int binary = strcmp(x->of->binary->path, y->of->binary->path);
	uint64_t p = x->of->proc->part[0].addr, q = y->of->proc->part[0].addr, c = x->of->proc->counters,
		 d = y->of->proc->counters;

	if (binary)
		return binary;
	if (p != q)
		return p < q ? -1 : 1;
	if (c != d)
		return c < d ? -1 : 1;
	if (by_stop(x->stopped, y->stopped))
		return by_stop(x->stopped, y->stopped);
	return (x->sum > y->sum) - (x->sum < y->sum);
}

static bool
is_of(const struct view_path *row, const struct view_paths_proc *p)
{
	return !strcmp(row->of->binary->path, p->binary->path) && row->of->proc->part[0].addr == p->proc->part[0].addr &&
	       row->of->proc->counters == p->proc->counters;
}

/* The counts of a path can only be compared if both are exact. */
static void
doubt(struct view_paths *r, const struct view_paths_proc *other)
{
	for (size_t i = 0; i < r->row.n; i++)
		r->row.at[i].exact &= !is_of(&r->row.at[i], other);
	for (size_t i = 0; i < r->stopped.n; i++)
		r->stopped.at[i].exact &= !is_of(&r->stopped.at[i], other);
}

static void
doubt_all(struct path_comparison *d)
{
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < d->side[i].proc.n; k++)
			if (d->side[i].proc.at[k].why)
				doubt(&d->side[!i], &d->side[i].proc.at[k]);
}

/* All paths, both finished ones and stopped ones. */
static const struct view_path **
sorted(const struct view_paths *r)
{
	const struct view_path **row = pool_array(r->pool, r->row.n + r->stopped.n, sizeof *row);
	size_t n = 0;

	for (size_t i = 0; i < r->row.n; i++)
		row[n++] = &r->row.at[i];
	for (size_t i = 0; i < r->stopped.n; i++)
		row[n++] = &r->stopped.at[i];
	if (n)
		qsort(row, n, sizeof *row, by_path);
	return row;
}

static void
add_pair(struct path_comparison *d, const struct view_path *before, const struct view_path *after)
{
	struct path_pair p = {before, after};

	if (!before)
		VEC_PUSH(d->only_after, p);
	else if (!after)
		VEC_PUSH(d->only_before, p);
	else if (before->count != after->count)
		VEC_PUSH(d->changed, p);
}

static void
match_paths(struct path_comparison *d)
{
	const struct view_path **a = sorted(&d->side[0]), **b = sorted(&d->side[1]);
	size_t na = d->side[0].row.n + d->side[0].stopped.n, nb = d->side[1].row.n + d->side[1].stopped.n;

	for (size_t i = 0, k = 0; i < na || k < nb;) {
		int order = i == na ? 1 : k == nb ? -1 : by_path(&a[i], &b[k]);

		add_pair(d, order <= 0 ? a[i] : NULL, order >= 0 ? b[k] : NULL);
		i += order <= 0;
		k += order >= 0;
	}
}

static uint64_t
difference(const struct path_pair *p)
{
	uint64_t a = p->before ? p->before->insns : 0, b = p->after ? p->after->insns : 0;

	return a < b ? b - a : a - b;
}

static int
by_difference(const void *a, const void *b)
{
	const struct path_pair *x = a, *y = b;
	uint64_t p = difference(x), q = difference(y);
	const struct view_path *r = x->after ? x->after : x->before, *s = y->after ? y->after : y->before;

	return p != q ? p < q ? 1 : -1 : by_path(&r, &s);
}

static void
sort_pairs(struct path_pairs *p)
{
	if (p->n)
		qsort(p->at, p->n, sizeof *p->at, by_difference);
}

void
compare_paths(struct path_comparison *d)
{
	doubt_all(d);
	match_paths(d);
	sort_pairs(&d->only_after);
	sort_pairs(&d->only_before);
	sort_pairs(&d->changed);
}

void
compare_paths_free(struct path_comparison *d)
{
	for (int i = 0; i < 2; i++)
		view_paths_free(&d->side[i]);
	free(d->only_after.at);
	free(d->only_before.at);
	free(d->changed.at);
}
