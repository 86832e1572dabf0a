/* SPDX-License-Identifier: MIT */
/* Which functions and lines of two runs are the same. Builds differ not only in their source, but also in the folder where they
 * were made, and in the suffixes that compilers give to clones. */
#include "compare/compare.h"

#include <stdlib.h>
#include <string.h>

static uint64_t
distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static int
by_change(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;
	uint64_t dx = distance(x->before.least, x->after.least), dy = distance(y->before.least, y->after.least);
	int c;

	if (dx != dy)
		return dx > dy ? -1 : 1;
	c = x->name && y->name ? strcmp(x->name, y->name) : 0;
	c = c ? c : strcmp(x->file, y->file);
	return c ? c : (x->line > y->line) - (x->line < y->line);
}

/* ---- functions ---- */

struct item {
	const char *name, *source, *module; /* source: the operand of .file, which does not depend on the folder of the build */
	size_t base;                        /* length of the name without the suffixes that a compiler added */
	const char *file;
	unsigned line;
	struct bounds insns, blocks, calls;
	const char *why;                    /* not NULL: its counts are not known */
	bool matched;
};
struct items {
	struct item *at;
	size_t n, cap;
};

static int
by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	c = c ? c : strcmp(x->source, y->source);
	return c ? c : strcmp(x->module, y->module);
}

/* Compares keys without suffixes and source files. */
static int
by_base(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int c = memcmp(x->name, y->name, x->base < y->base ? x->base : y->base);

	c = c ? c : (x->base > y->base) - (x->base < y->base);
	return c ? c : strcmp(x->module, y->module);
}

static void
collect_function(struct items *items, const struct view_function *f, const char *module)
{
	const struct proc *p = f->proc;
	struct item it = {.name = p->name, .source = p->file, .file = f->file, .line = f->line, .module = module, .why = f->why};

	if (!p->refused && counts_by_design(f->counts))
		return;
	it.base = strcspn(p->name + (*p->name == '.'), ".") + (*p->name == '.');
	it.insns = f->insns;
	it.blocks = f->blocks;
	it.calls = f->call_insns;
	VEC_PUSH(*items, it);
}

static bool
has_binary(const struct run *r, const char *name)
{
	for (size_t i = 0; i < r->binary.n; i++)
		if (!strcmp(base_name(r->binary.at[i].path), name))
			return true;
	return false;
}

const char *
compare_binary(const struct binary *bin, const struct run *mine, const struct run *other)
{
	const char *name = base_name(bin->path);
	bool renamed = bin == mine->binary.at && other->binary.n && !has_binary(other, name) &&
	               !has_binary(mine, base_name(other->binary.at[0].path));

	return renamed ? "" : name;
}

/* All functions of a side, sorted; those with the same key are summed. False: a sum does not fit. */
static bool
collect(const struct view_tables *t, const struct run *other, struct items *items)
{
	struct view_functions all = {0};
	size_t n = 0;
	bool fits = true;

	view_functions(&all, t->run);
	for (size_t i = 0; i < all.n; i++)
		collect_function(items, &all.at[i], compare_binary(all.at[i].binary, t->run, other));
	free(all.at);
	if (items->n)
		qsort(items->at, items->n, sizeof *items->at, by_key);
	for (size_t i = 0; i < items->n; i++) {
		struct item *last = &items->at[n ? n - 1 : 0], *it = &items->at[i];

		if (!n || by_key(last, it)) {
			items->at[n++] = *it;
			continue;
		}
		fits &= bounds_add(&last->insns, &it->insns) && bounds_add(&last->blocks, &it->blocks) &&
		        bounds_add(&last->calls, &it->calls);
		last->why = last->why ? last->why : it->why;
	}
	items->n = n;
	return fits;
}

static struct difference *
total(struct comparison *d, const char *name)
{
	for (size_t i = 0; i < d->total.n; i++)
		if (!strcmp(d->total.at[i].name, name))
			return &d->total.at[i];
	VEC_PUSH(d->total, (struct difference){.name = name, .was = true, .is = true});
	return &d->total.at[d->total.n - 1];
}

bool
compare_total(struct comparison *d, const char *name, const struct bounds *before, const struct bounds *after)
{
	struct difference *t = total(d, name);

	return bounds_add(&t->before, before) && bounds_add(&t->after, after);
}

static bool
differ(const struct bounds *x, const struct bounds *y)
{
	return x->least != y->least || x->most != y->most || !bounds_exact(x);
}

static struct difference
row(const char *name, const char *file, unsigned line, const struct bounds *before, const struct bounds *after)
{
	return (struct difference){name, file, line, *before, *after, false, false};
}

static bool
add_binary(struct comparison *d, const char *name, const struct bounds *before, const struct bounds *after)
{
	if (!*name)
		name = base_name(d->side[1].run->binary.at[0].path);
	for (size_t i = 0; i < d->binary.n; i++)
		if (!strcmp(d->binary.at[i].name, name))
			return bounds_add(&d->binary.at[i].before, before) && bounds_add(&d->binary.at[i].after, after);
	VEC_PUSH(d->binary, (struct difference){.name = name, .file = "", .before = *before, .after = *after, .was = true,
	                                        .is = true});
	return true;
}

/* Pairs a function of each side; either may be NULL. */
static bool
pair(struct comparison *d, struct item *a, struct item *b)
{
	static const struct item nothing;
	const struct item *x = a ? a : &nothing, *y = b ? b : &nothing, *shown = b ? b : a;
	const char *why = x->why ? x->why : y->why;

	if (a)
		a->matched = true;
	if (b)
		b->matched = true;
	if (why) {
		VEC_PUSH(d->left_out, (struct named){shown->name, why});
		return true;
	}
	if (differ(&x->insns, &y->insns)) {
		struct difference r = row(shown->name, shown->file, shown->line, &x->insns, &y->insns);

		r.was = a;
		r.is = b;
		VEC_PUSH(d->function, r);
	}
	return add_binary(d, shown->module, &x->insns, &y->insns) && compare_total(d, "instructions", &x->insns, &y->insns) &&
	       compare_total(d, "blocks", &x->blocks, &y->blocks) && compare_total(d, "calls", &x->calls, &y->calls);
}

static size_t
pair_equal(struct comparison *d, struct items *a, struct items *b, bool *fits)
{
	size_t pairs = 0;

	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		int c = by_key(&a->at[i], &b->at[k]);

		if (!c)
			*fits &= pair(d, &a->at[i], &b->at[k]), pairs++;
		i += c <= 0;
		k += c >= 0;
	}
	return pairs;
}

/* The functions that are not matched yet, for sorting by base. */
static struct item **
rest(struct pool *pool, struct items *items, size_t *n)
{
	struct item **r = pool_array(pool, items->n, sizeof *r);

	*n = 0;
	for (size_t i = 0; i < items->n; i++)
		if (!items->at[i].matched)
			r[(*n)++] = &items->at[i];
	return r;
}

static int
by_base_at(const void *a, const void *b)
{
	return by_base(*(struct item *const *)a, *(struct item *const *)b);
}

/* The number of functions with the same base from r[0] on. */
static size_t
alike(struct item **r, size_t n)
{
	size_t k = 1;

	while (k < n && !by_base(r[0], r[k]))
		k++;
	return k;
}

/* Pairs functions without a counterpart of the same name and file: by their base, if exactly one on each side has it. */
static size_t
pair_rest(struct comparison *d, struct items *a, struct items *b, bool *fits)
{
	size_t na, nb, pairs = 0;
	struct item **x = rest(d->pool, a, &na), **y = rest(d->pool, b, &nb);

	if (na)
		qsort(x, na, sizeof *x, by_base_at);
	if (nb)
		qsort(y, nb, sizeof *y, by_base_at);
	for (size_t i = 0, k = 0; i < na && k < nb;) {
		size_t ni = alike(x + i, na - i), nk = alike(y + k, nb - k);
		int c = by_base(x[i], y[k]);

		if (!c && ni == 1 && nk == 1)
			*fits &= pair(d, x[i], y[k]), pairs++;
		i += c <= 0 ? ni : 0;
		k += c >= 0 ? nk : 0;
	}
	return pairs;
}

static bool
match_functions(struct comparison *d, size_t *pairs)
{
	struct items a = {0}, b = {0};
	bool fits = collect(&d->side[0], d->side[1].run, &a);

	fits &= collect(&d->side[1], d->side[0].run, &b);
	d->by_function = a.n && b.n;
	if (d->by_function) {
		*pairs = pair_equal(d, &a, &b, &fits);
		*pairs += pair_rest(d, &a, &b, &fits);
		for (size_t i = 0; i < a.n; i++)
			if (!a.at[i].matched)
				fits &= pair(d, &a.at[i], NULL);
		for (size_t i = 0; i < b.n; i++)
			if (!b.at[i].matched)
				fits &= pair(d, NULL, &b.at[i]);
	}
	free(a.at);
	free(b.at);
	return fits;
}

/* ---- events ---- */

/* Instructions, blocks and calls may be counted as events, too. If functions have them, they are in the totals already. */
static bool
is_in_functions(const struct comparison *d, const char *name)
{
	return d->by_function && (!strcmp(name, "instructions") || !strcmp(name, "blocks") || !strcmp(name, "calls"));
}

static bool
match_events(struct comparison *d)
{
	const struct event_totals *a = &d->side[0].events, *b = &d->side[1].events;
	bool fits = true;

	if (a->why || b->why)
		return true;
	for (uint32_t i = 0; i < a->n; i++)
		for (uint32_t k = 0; k < b->n; k++)
			if (!strcmp(a->at[i].name, b->at[k].name) && !is_in_functions(d, a->at[i].name))
				fits &= compare_total(d, a->at[i].name, &(struct bounds){a->at[i].n, a->at[i].most},
				                      &(struct bounds){b->at[k].n, b->at[k].most});
	return fits;
}

/* ---- lines ---- */

static int
lines_by_place(const void *a, const void *b)
{
	const struct view_line *x = a, *y = b;
	int c = strcmp(x->file, y->file);

	return c ? c : (x->line > y->line) - (x->line < y->line);
}

/* How similar two paths are. More equal parts at the end are better, then fewer parts before them. */
struct likeness {
	size_t same, rest;
};

static size_t
parts_in(const char *path, size_t n)
{
	size_t parts = 0;

	for (size_t i = 0; i < n; i++)
		parts += path[i] != '/' && (!i || path[i - 1] == '/');
	return parts;
}

static struct likeness
likeness_of(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b), i = na, k = nb, same_a = na;

	while (i && k && a[i - 1] == b[k - 1]) {
		i--;
		k--;
		/* whole parts are equal: each path begins here, or a part of it does */
		if ((!i || a[i - 1] == '/') && (!k || b[k - 1] == '/'))
			same_a = i;
	}
	return (struct likeness){parts_in(a + same_a, na - same_a), parts_in(a, same_a) + parts_in(b, nb - (na - same_a))};
}

/* A file: its path, and its path relative to the folder in which the compiler ran. */
struct file {
	const char *path, *below;
};
struct files {
	struct file *at;         /* by path */
	struct file **below;     /* the same, by the relative path */
	size_t n;
};

static const char *
below(const struct run *run, const char *path)
{
	for (size_t k = 0; k < run->binary.n; k++) {
		const char *b = image_file_below(run->binary.at[k].image, path);

		if (b != path)
			return b;
	}
	return path;
}

static int
by_path(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->path, ((const struct file *)b)->path);
}

static int
by_below(const void *a, const void *b)
{
	return strcmp((*(struct file *const *)a)->below, (*(struct file *const *)b)->below);
}

/* The files of sorted lines. */
static struct files
files_of(struct pool *pool, const struct view_tables *t)
{
	const struct view_line *at = t->line.at;
	size_t n = t->line.n;
	struct files f = {pool_array(pool, n, sizeof *f.at), NULL, 0};

	for (size_t i = 0; i < n; i++)
		if (!f.n || strcmp(f.at[f.n - 1].path, at[i].file))
			f.at[f.n++] = (struct file){at[i].file, below(t->run, at[i].file)};
	f.below = pool_array(pool, f.n, sizeof *f.below);
	for (size_t i = 0; i < f.n; i++)
		f.below[i] = &f.at[i];
	if (f.n)
		qsort(f.below, f.n, sizeof *f.below, by_below);
	return f;
}

/* The file whose path ends like the given one's; NULL: there is none, or two are equally similar. */
static const struct file *
ends_alike(const struct files *f, const struct file *file)
{
	const struct file *best = NULL;
	struct likeness most = {0, 0};

	for (size_t i = 0; i < f->n; i++) {
		struct likeness l = likeness_of(f->at[i].path, file->path);

		if (l.same > most.same || (l.same && l.same == most.same && l.rest < most.rest)) {
			best = &f->at[i];
			most = l;
		} else if (l.same && l.same == most.same && l.rest == most.rest) {
			best = NULL;
		}
	}
	return best;
}

/* The best is the same path, then the same one below the compiler's folder, then paths that end alike. NULL: there is none, or two
 * are equally similar. */
static const struct file *
most_alike(const struct files *f, const struct file *file)
{
	const struct file *same = f->n ? bsearch(file, f->at, f->n, sizeof *f->at, by_path) : NULL;
	struct file **below = f->n && !same ? bsearch(&file, f->below, f->n, sizeof *f->below, by_below) : NULL;

	if (same)
		return same;
	if (!below)
		return ends_alike(f, file);
	if ((below > f->below && !by_below(below, below - 1)) || (below + 1 < f->below + f->n && !by_below(below, below + 1)))
		return NULL;
	return *below;
}

/* Gives files of the first side their names on the other side. */
static void
rename_files(struct comparison *d)
{
	struct files x = files_of(d->pool, &d->side[0]), y = files_of(d->pool, &d->side[1]);
	struct view_lines *lines = &d->side[0].line;
	size_t k = 0;

	for (size_t i = 0; i < x.n; i++) {
		const struct file *to = most_alike(&y, &x.at[i]), *back = to ? most_alike(&x, to) : NULL;
		const char *from = x.at[i].path;

		for (; k < lines->n && !strcmp(lines->at[k].file, from); k++)
			if (back == &x.at[i])
				lines->at[k].file = to->path;
	}
}

static void
add_line(struct comparison *d, const struct view_line *a, const struct view_line *b)
{
	static const struct bounds nothing;
	const struct view_line *shown = b ? b : a;
	const struct bounds *x = a ? &a->insns : &nothing, *y = b ? &b->insns : &nothing;
	struct difference r = row(NULL, shown->file, shown->line, x, y);

	r.was = a;
	r.is = b;
	if (differ(x, y))
		VEC_PUSH(d->line, r);
}

static void
match_lines(struct comparison *d)
{
	struct view_lines *a = &d->side[0].line, *b = &d->side[1].line;
	size_t i = 0, k = 0;

	view_lines_sort(a, VIEW_BY_FILE);
	view_lines_sort(b, VIEW_BY_FILE);
	rename_files(d);
	view_lines_sort(a, VIEW_BY_FILE);
	while (i < a->n || k < b->n) {
		int c = i == a->n ? 1 : k == b->n ? -1 : lines_by_place(&a->at[i], &b->at[k]);

		add_line(d, c <= 0 ? &a->at[i] : NULL, c >= 0 ? &b->at[k] : NULL);
		i += c <= 0;
		k += c >= 0;
	}
	if (d->line.n)
		qsort(d->line.at, d->line.n, sizeof *d->line.at, by_change);
}

/* Objects that cannot be read any more cannot be compared. */
static void
leave_out_objects(struct comparison *d)
{
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < d->side[i].run->unknown.n; k++) {
			const struct named *u = &d->side[i].run->unknown.at[k];

			if (strchr(u->name, '/'))
				VEC_PUSH(d->left_out, *u);
		}
}

bool
compare_builds(struct comparison *d, bool lines, const char **why)
{
	size_t pairs = 0;
	bool fits = match_functions(d, &pairs);

	fits &= match_events(d);
	*why = !fits ? "the sum of the counts does not fit 64 bits" :
	       d->by_function && !pairs ? "they have no function in common" :
	       !d->total.n ? "nothing was counted in both" : NULL;
	if (*why)
		return false;
	if (lines)
		match_lines(d);
	if (d->function.n)
		qsort(d->function.at, d->function.n, sizeof *d->function.at, by_change);
	if (d->binary.n)
		qsort(d->binary.at, d->binary.n, sizeof *d->binary.at, by_change);
	leave_out_objects(d);
	return true;
}

void
compare_builds_free(struct comparison *d)
{
	view_tables_free(&d->side[0]);
	view_tables_free(&d->side[1]);
	free(d->total.at);
	free(d->function.at);
	free(d->line.at);
	free(d->binary.at);
	free(d->left_out.at);
}
