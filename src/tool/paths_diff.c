/* SPDX-License-Identifier: MIT */
/* chord paths --diff: what paths one run took and the other did not. */
#include "tool/paths.h"
#include "tool/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct pair {
	const struct path_row *before, *after; /* NULL: it did not run */
};

struct paths_diff {
	struct run run[2];
	struct path_report side[2];
	VEC(struct pair) only_after, only_before, changed;
};

/* ---- matching ---- */

/* Where paths stopped; those that did not come first. */
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

/* Procedures of one build are the same if their code is at the same place. */
static int
by_path(const void *a, const void *b)
{
	const struct path_row *x = *(const struct path_row *const *)a, *y = *(const struct path_row *const *)b;
	int unit = strcmp(x->of->unit->path, y->of->unit->path);
	uint64_t p = x->of->proc->part[0].addr, q = y->of->proc->part[0].addr, c = x->of->proc->counters,
		 d = y->of->proc->counters;

	if (unit)
		return unit;
	if (p != q)
		return p < q ? -1 : 1;
	if (c != d)
		return c < d ? -1 : 1;
	if (by_stop(x->stopped, y->stopped))
		return by_stop(x->stopped, y->stopped);
	return (x->sum > y->sum) - (x->sum < y->sum);
}

static bool
is_of(const struct path_row *row, const struct paths_proc *p)
{
	return !strcmp(row->of->unit->path, p->unit->path) && row->of->proc->part[0].addr == p->proc->part[0].addr &&
	       row->of->proc->counters == p->proc->counters;
}

/* A path's counts can be compared if both are exact. */
static void
doubt(struct path_report *r, const struct paths_proc *other)
{
	for (size_t i = 0; i < r->row.n; i++)
		r->row.at[i].exact &= !is_of(&r->row.at[i], other);
	for (size_t i = 0; i < r->stopped.n; i++)
		r->stopped.at[i].exact &= !is_of(&r->stopped.at[i], other);
}

static void
doubt_all(struct paths_diff *d)
{
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < d->side[i].proc.n; k++)
			if (d->side[i].proc.at[k].why)
				doubt(&d->side[!i], &d->side[i].proc.at[k]);
}

/* Those that came to their ends, and those that did not. */
static const struct path_row **
sorted(const struct path_report *r)
{
	const struct path_row **row = pool_array(r->pool, r->row.n + r->stopped.n, sizeof *row);
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
add_pair(struct paths_diff *d, const struct path_row *before, const struct path_row *after)
{
	struct pair p = {before, after};

	if (!before)
		VEC_PUSH(d->only_after, p);
	else if (!after)
		VEC_PUSH(d->only_before, p);
	else if (before->count != after->count)
		VEC_PUSH(d->changed, p);
}

static void
match(struct paths_diff *d)
{
	const struct path_row **a = sorted(&d->side[0]), **b = sorted(&d->side[1]);
	size_t na = d->side[0].row.n + d->side[0].stopped.n, nb = d->side[1].row.n + d->side[1].stopped.n;

	for (size_t i = 0, k = 0; i < na || k < nb;) {
		int order = i == na ? 1 : k == nb ? -1 : by_path(&a[i], &b[k]);

		add_pair(d, order <= 0 ? a[i] : NULL, order >= 0 ? b[k] : NULL);
		i += order <= 0;
		k += order >= 0;
	}
}

static uint64_t
difference(const struct pair *p)
{
	uint64_t a = p->before ? p->before->insns : 0, b = p->after ? p->after->insns : 0;

	return a < b ? b - a : a - b;
}

static int
by_difference(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	uint64_t p = difference(x), q = difference(y);
	const struct path_row *r = x->after ? x->after : x->before, *s = y->after ? y->after : y->before;

	return p != q ? p < q ? 1 : -1 : by_path(&r, &s);
}

/* ---- printing ---- */

static void
print_only(const char *title, const struct pair *p, size_t n, const struct paths_options *opt)
{
	char a[32];

	printf("\n%s %s that only %s took\n", grouped(a, n), n == 1 ? "path" : "paths", title);
	if (n)
		path_row_head(false);
	for (size_t i = 0; i < n && (!opt->top || i < opt->top); i++)
		path_row_print(p[i].before ? p[i].before : p[i].after, 0, opt->source);
	if (opt->top && n > opt->top)
		printf("  and %zu more (--top=0 shows all)\n", n - opt->top);
}

static void
print_changed(const struct paths_diff *d, const struct paths_options *opt)
{
	size_t n = d->changed.n;
	char a[32], b[32], c[32];

	printf("\n%s %s that both took, but not as often\n", grouped(a, n), n == 1 ? "path" : "paths");
	if (n)
		path_row_head(false);
	for (size_t i = 0; i < n && (!opt->top || i < opt->top); i++) {
		const struct pair *p = &d->changed.at[i];
		bool more = p->after->count > p->before->count;
		uint64_t by = more ? p->after->count - p->before->count : p->before->count - p->after->count;

		printf("%18s times, then %s (%c%s):\n", grouped(a, p->before->count), grouped(b, p->after->count),
		       more ? '+' : '-', grouped(c, by));
		path_row_print(p->after, 0, opt->source);
	}
	if (opt->top && n > opt->top)
		printf("  and %zu more (--top=0 shows all)\n", n - opt->top);
}

static void
print_text(const struct paths_diff *d, const struct paths_options *opt)
{
	printf("%s: from %s to %s\n", d->run[0].path, d->run[0].summed.at[0], d->run[1].summed.at[0]);
	print_only(d->run[1].summed.at[0], d->only_after.at, d->only_after.n, opt);
	print_only(d->run[0].summed.at[0], d->only_before.at, d->only_before.n, opt);
	print_changed(d, opt);
	for (int i = 0; i < 2; i++)
		path_report_doubts(&d->side[i], pool_printf(d->run[0].pool, ", of %s", d->run[i].summed.at[0]));
}

static json_t *
json_pairs(const struct pair *p, size_t n, const struct paths_options *opt)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n && (!opt->top || i < opt->top); i++) {
		json_t *o = path_row_json(p[i].after ? p[i].after : p[i].before);

		js_set(o, "before", js_number(p[i].before ? p[i].before->count : 0, true));
		js_set(o, "after", js_number(p[i].after ? p[i].after->count : 0, true));
		json_object_del(o, "count");
		json_object_del(o, "instructions");
		js_append(a, o);
	}
	return a;
}

static bool
print_json(const struct paths_diff *d, const struct paths_options *opt)
{
	json_t *o = json_object();

	js_set(o, "program", js_text(d->run[0].path));
	js_set(o, "before", js_text(d->run[0].summed.at[0]));
	js_set(o, "after", js_text(d->run[1].summed.at[0]));
	js_set(o, "only_after", json_pairs(d->only_after.at, d->only_after.n, opt));
	js_set(o, "only_before", json_pairs(d->only_before.at, d->only_before.n, opt));
	js_set(o, "changed", json_pairs(d->changed.at, d->changed.n, opt));
	for (int i = 0; i < 2; i++) {
		json_t *doubts = json_object();

		path_doubts_json(doubts, &d->side[i]);
		js_set(o, i ? "doubts_after" : "doubts_before", doubts);
	}
	return js_print(o, stdout);
}

/* ---- the command ---- */

static bool
load(struct paths_diff *d, const struct paths_options *opt, char **name)
{
	for (int i = 0; i < 2; i++)
		if (!run_load(&d->run[i], name[0], &name[1 + i], 1) || !path_report_find(&d->side[i], &d->run[i], opt))
			return false;
	doubt_all(d);
	match(d);
	if (d->only_after.n)
		qsort(d->only_after.at, d->only_after.n, sizeof *d->only_after.at, by_difference);
	if (d->only_before.n)
		qsort(d->only_before.at, d->only_before.n, sizeof *d->only_before.at, by_difference);
	if (d->changed.n)
		qsort(d->changed.at, d->changed.n, sizeof *d->changed.at, by_difference);
	return true;
}

int
path_report_diff(const struct paths_options *opt, char **name)
{
	struct paths_diff d = {0};
	bool ok;

	ok = load(&d, opt, name);
	if (ok && opt->json)
		ok = print_json(&d, opt);
	else if (ok)
		print_text(&d, opt);
	if (fflush(stdout) || ferror(stdout)) {
		say_error("standard output", "%s", strerror(errno));
		ok = false;
	}
	for (int i = 0; i < 2; i++) {
		path_report_free(&d.side[i]);
		if (d.run[i].pool)
			run_close(&d.run[i]);
	}
	source_free();
	free(d.only_after.at);
	free(d.only_before.at);
	free(d.changed.at);
	return ok ? 0 : EXIT_NO;
}
