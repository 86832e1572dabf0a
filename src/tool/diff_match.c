/* SPDX-License-Identifier: MIT */
/* Which functions and lines of two runs are the same. Builds differ in more than their
 * source: in the folder they were made in, and in the suffixes that compilers give to clones. */
#include "tool/diff.h"

#include <stdlib.h>
#include <string.h>

/* False: the least does not fit 64 bits. */
static bool
add_bounds(uint64_t *least, uint64_t *most, const struct total *t)
{
	if (__builtin_add_overflow(*most, t->most, most))
		*most = COUNT_NO_BOUND;
	return !__builtin_add_overflow(*least, t->least, least);
}

static bool
add(struct total *sum, const struct total *t)
{
	return add_bounds(&sum->least, &sum->most, t);
}

static int
by_change(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	uint64_t dx = x->after > x->before ? x->after - x->before : x->before - x->after;
	uint64_t dy = y->after > y->before ? y->after - y->before : y->before - y->after;
	int c;

	if (dx != dy)
		return dx > dy ? -1 : 1;
	c = x->name && y->name ? strcmp(x->name, y->name) : 0;
	c = c ? c : strcmp(x->file, y->file);
	return c ? c : (x->line > y->line) - (x->line < y->line);
}

/* ---- functions ---- */

struct item {
	const char *name, *source, *module; /* source: operand of .file, the same wherever the build was made */
	size_t base;                        /* length of the name without what a compiler put behind it */
	const char *file;
	unsigned line;
	struct total insns, blocks, calls;
	const char *why;                    /* not NULL: its counts are not known */
	bool taken;
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

/* By what is left of the key if suffixes and source files are not looked at. */
static int
by_base(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int c = memcmp(x->name, y->name, x->base < y->base ? x->base : y->base);

	c = c ? c : (x->base > y->base) - (x->base < y->base);
	return c ? c : strcmp(x->module, y->module);
}

static void
collect_proc(struct items *items, struct unit *u, const char *module, uint32_t i)
{
	const struct proc *p = &u->map.proc[i];
	const struct counts *c = &u->counts[i];
	struct item it = {.name = p->name, .source = p->file, .file = p->file, .module = module};
	struct image_place place = image_declared(u->image, p->part[0].addr);

	if (!p->refused && counts_by_design(c))
		return;
	it.base = strcspn(p->name + (*p->name == '.'), ".") + (*p->name == '.');
	it.why = p->refused ? p->refused : c->why;
	if (!it.why) {
		const struct counts *m = c->most ? c->most : c;

		it.insns = (struct total){c->insns, m->insns};
		it.blocks = (struct total){c->blocks, m->blocks};
		it.calls = (struct total){c->call_insns, m->call_insns};
	}
	if (place.file) {
		it.file = place.file;
		it.line = place.line;
	}
	VEC_PUSH(*items, it);
}

/* All functions of a side, sorted, namesakes summed. False: a sum does not fit. */
static bool
collect(struct side *s, struct items *items)
{
	size_t n = 0;
	bool fits = true;

	for (size_t k = 0; k < s->run.unit.n; k++) {
		struct unit *u = &s->run.unit.at[k];

		for (uint32_t i = 0; i < u->map.nproc; i++)
			collect_proc(items, u, k ? base_name(u->path) : "", i);
	}
	if (items->n)
		qsort(items->at, items->n, sizeof *items->at, by_key);
	for (size_t i = 0; i < items->n; i++) {
		struct item *last = &items->at[n ? n - 1 : 0], *it = &items->at[i];

		if (!n || by_key(last, it)) {
			items->at[n++] = *it;
			continue;
		}
		fits &= add(&last->insns, &it->insns) && add(&last->blocks, &it->blocks) && add(&last->calls, &it->calls);
		last->why = last->why ? last->why : it->why;
	}
	items->n = n;
	return fits;
}

static struct diff_row *
total(struct diff *d, const char *name)
{
	for (size_t i = 0; i < d->total.n; i++)
		if (!strcmp(d->total.at[i].name, name))
			return &d->total.at[i];
	VEC_PUSH(d->total, (struct diff_row){.name = name, .was = true, .is = true});
	return &d->total.at[d->total.n - 1];
}

static bool
add_total(struct diff *d, const char *name, const struct total *before, const struct total *after)
{
	struct diff_row *t = total(d, name);

	return add_bounds(&t->before, &t->before_most, before) && add_bounds(&t->after, &t->after_most, after);
}

static bool
differ(const struct total *x, const struct total *y)
{
	return x->least != y->least || x->most != y->most || x->least != x->most;
}

static struct diff_row
row(const char *name, const char *file, unsigned line, const struct total *before, const struct total *after)
{
	return (struct diff_row){name, file, line, before->least, after->least, before->most, after->most, false, false};
}

/* One function; either may be NULL. */
static bool
pair(struct diff *d, struct item *a, struct item *b)
{
	static const struct item nothing;
	const struct item *x = a ? a : &nothing, *y = b ? b : &nothing, *shown = b ? b : a;
	const char *why = x->why ? x->why : y->why;

	if (a)
		a->taken = true;
	if (b)
		b->taken = true;
	if (why) {
		VEC_PUSH(d->left_out, (struct named){shown->name, why});
		return true;
	}
	if (differ(&x->insns, &y->insns)) {
		struct diff_row r = row(shown->name, shown->file, shown->line, &x->insns, &y->insns);

		r.was = a;
		r.is = b;
		VEC_PUSH(d->function, r);
	}
	return add_total(d, "instructions", &x->insns, &y->insns) && add_total(d, "blocks", &x->blocks, &y->blocks) &&
	       add_total(d, "calls", &x->calls, &y->calls);
}

static size_t
pair_equal(struct diff *d, struct items *a, struct items *b, bool *fits)
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

/* Those not yet taken, sorted by base. */
static struct item **
rest(struct pool *pool, struct items *items, size_t *n)
{
	struct item **r = pool_array(pool, items->n, sizeof *r);

	*n = 0;
	for (size_t i = 0; i < items->n; i++)
		if (!items->at[i].taken)
			r[(*n)++] = &items->at[i];
	return r;
}

static int
by_base_at(const void *a, const void *b)
{
	return by_base(*(struct item *const *)a, *(struct item *const *)b);
}

/* How many from r[0] on have one base. */
static size_t
alike(struct item **r, size_t n)
{
	size_t k = 1;

	while (k < n && !by_base(r[0], r[k]))
		k++;
	return k;
}

/* What has no counterpart of its name and file: the same base, if there is one such on both sides. */
static size_t
pair_rest(struct diff *d, struct items *a, struct items *b, bool *fits)
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
match_functions(struct diff *d, size_t *pairs)
{
	struct items a = {0}, b = {0};
	bool fits = collect(&d->side[0], &a);

	fits &= collect(&d->side[1], &b);
	d->by_function = a.n && b.n;
	if (d->by_function) {
		*pairs = pair_equal(d, &a, &b, &fits);
		*pairs += pair_rest(d, &a, &b, &fits);
		for (size_t i = 0; i < a.n; i++)
			if (!a.at[i].taken)
				fits &= pair(d, &a.at[i], NULL);
		for (size_t i = 0; i < b.n; i++)
			if (!b.at[i].taken)
				fits &= pair(d, NULL, &b.at[i]);
	}
	free(a.at);
	free(b.at);
	return fits;
}

/* ---- events ---- */

static void
match_events(struct diff *d)
{
	const struct event_totals *a = &d->side[0].report.events, *b = &d->side[1].report.events;

	if (a->why || b->why)
		return;
	for (uint32_t i = 0; i < a->n; i++)
		for (uint32_t k = 0; k < b->n; k++)
			if (!strcmp(a->at[i].name, b->at[k].name) && !(d->by_function && !strcmp(a->at[i].name, "instructions")))
				add_total(d, a->at[i].name, &(struct total){a->at[i].n, a->at[i].most},
				          &(struct total){b->at[k].n, b->at[k].most});
}

/* ---- lines ---- */

static int
by_place(const void *a, const void *b)
{
	const struct row_line *x = a, *y = b;
	int c = strcmp(x->file, y->file);

	return c ? c : (x->line > y->line) - (x->line < y->line);
}

/* How alike two paths are: the last parts that are the same, more is better; then the parts before, fewer are better. */
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
		/* a whole part: both paths begin here, or a part does */
		if ((!i || a[i - 1] == '/') && (!k || b[k - 1] == '/'))
			same_a = i;
	}
	return (struct likeness){parts_in(a + same_a, na - same_a), parts_in(a, same_a) + parts_in(b, nb - (na - same_a))};
}

/* A file by its path, and as seen from the folder in which the compiler was run. */
struct file {
	const char *path, *below;
};
struct files {
	struct file *at;
	size_t n;
};

static const char *
below(const struct side *s, const char *path)
{
	for (size_t k = 0; k < s->run.unit.n; k++) {
		const char *b = image_file_below(s->run.unit.at[k].image, path);

		if (b != path)
			return b;
	}
	return path;
}

/* The files of sorted lines. */
static struct files
files_of(struct pool *pool, const struct side *s)
{
	const struct row_line *at = s->report.line.at;
	size_t n = s->report.line.n;
	struct files f = {pool_array(pool, n, sizeof *f.at), 0};

	for (size_t i = 0; i < n; i++)
		if (!f.n || strcmp(f.at[f.n - 1].path, at[i].file))
			f.at[f.n++] = (struct file){at[i].file, below(s, at[i].file)};
	return f;
}

/* The same path, or the same one below the compiler's folder, or else paths that end alike. */
static struct likeness
how_alike(const struct file *a, const struct file *b)
{
	if (!strcmp(a->path, b->path))
		return (struct likeness){SIZE_MAX, 0};
	if (!strcmp(a->below, b->below))
		return (struct likeness){SIZE_MAX - 1, 0};
	return likeness_of(a->path, b->path);
}

/* The one of the files that is most like that; NULL if there is none, or two are as good. */
static const struct file *
most_alike(const struct files *f, const struct file *file)
{
	const struct file *best = NULL;
	struct likeness most = {0, 0};

	for (size_t i = 0; i < f->n; i++) {
		struct likeness l = how_alike(&f->at[i], file);

		if (l.same > most.same || (l.same && l.same == most.same && l.rest < most.rest)) {
			best = &f->at[i];
			most = l;
		} else if (l.same && l.same == most.same && l.rest == most.rest) {
			best = NULL;
		}
	}
	return best;
}

/* Gives files of the first side the names that they have on the other. */
static void
rename_files(struct diff *d)
{
	struct files x = files_of(d->pool, &d->side[0]), y = files_of(d->pool, &d->side[1]);
	struct report *r = &d->side[0].report;
	size_t k = 0;

	for (size_t i = 0; i < x.n; i++) {
		const struct file *to = most_alike(&y, &x.at[i]), *back = to ? most_alike(&x, to) : NULL;
		const char *from = x.at[i].path;

		for (; k < r->line.n && !strcmp(r->line.at[k].file, from); k++)
			if (back == &x.at[i])
				r->line.at[k].file = to->path;
	}
}

static void
add_line(struct diff *d, const struct row_line *a, const struct row_line *b)
{
	static const struct total nothing;
	const struct row_line *shown = b ? b : a;
	const struct total *x = a ? &a->insns : &nothing, *y = b ? &b->insns : &nothing;
	struct diff_row r = row(NULL, shown->file, shown->line, x, y);

	r.was = a;
	r.is = b;
	if (differ(x, y))
		VEC_PUSH(d->line, r);
}

static void
match_lines(struct diff *d)
{
	struct report *a = &d->side[0].report, *b = &d->side[1].report;
	size_t i = 0, k = 0;

	if (a->line.n)
		qsort(a->line.at, a->line.n, sizeof *a->line.at, by_place);
	if (b->line.n)
		qsort(b->line.at, b->line.n, sizeof *b->line.at, by_place);
	rename_files(d);
	if (a->line.n)
		qsort(a->line.at, a->line.n, sizeof *a->line.at, by_place);
	while (i < a->line.n || k < b->line.n) {
		int c = i == a->line.n ? 1 : k == b->line.n ? -1 : by_place(&a->line.at[i], &b->line.at[k]);

		add_line(d, c <= 0 ? &a->line.at[i] : NULL, c >= 0 ? &b->line.at[k] : NULL);
		i += c <= 0;
		k += c >= 0;
	}
	if (d->line.n)
		qsort(d->line.at, d->line.n, sizeof *d->line.at, by_change);
}

bool
diff_match(struct diff *d, const char **why)
{
	size_t pairs = 0;
	bool fits = match_functions(d, &pairs);

	match_events(d);
	*why = !fits ? "the sum of the counts does not fit 64 bits" :
	       d->by_function && !pairs ? "they have no function in common" :
	       !d->total.n ? "nothing was counted in both" : NULL;
	if (*why)
		return false;
	if (d->opt->lines)
		match_lines(d);
	if (d->function.n)
		qsort(d->function.at, d->function.n, sizeof *d->function.at, by_change);
	return true;
}
