/* SPDX-License-Identifier: MIT */
/* Functions as they are in the source: what was executed for each, in its own code and where it was inlined. */
#include "view/view.h"

#include <stdlib.h>
#include <string.h>

struct sources {
	struct pool *pool;
	struct view_sources *list;
	struct strmap number;    /* index of functions, by name and place */
	struct strmap copy;      /* index of their copies, by function and place */
	uint32_t *of_scope;      /* the functions of a binary's scopes, plus 1; 0: not looked up yet */
	size_t nscope;
	bool fits;
};

static size_t
number_of(struct sources *s, const char *name, const char *file, unsigned line)
{
	char *key = pool_printf(s->pool, "%s\n%s\n%u", name, file, line);
	uint64_t n;

	if (strmap_get(&s->number, str_of(key), &n))
		return n;
	n = s->list->n;
	strmap_put(&s->number, str_of(key), n);
	VEC_PUSH(*s->list, (struct view_source){.name = name, .file = file, .line = line});
	return n;
}

static size_t
number_of_scope(struct sources *s, const struct image *im, uint32_t scope)
{
	const struct image_scope *sc = image_scope(im, scope);

	if (scope >= s->nscope) {
		size_t n = s->nscope * 2 > scope ? s->nscope * 2 : scope + 64;

		s->of_scope = xreallocarray(s->of_scope, n, sizeof *s->of_scope);
		memset(s->of_scope + s->nscope, 0, (n - s->nscope) * sizeof *s->of_scope);
		s->nscope = n;
	}
	if (!s->of_scope[scope])
		s->of_scope[scope] = (uint32_t)number_of(s, sc->name, sc->at.file ? sc->at.file : "", sc->at.line) + 1;
	return s->of_scope[scope] - 1;
}

static struct view_copy *
copy_of(struct sources *s, size_t number, const char *in, const char *file, unsigned line)
{
	struct view_source *of = &s->list->at[number];
	char *key = pool_printf(s->pool, "%zu\n%s\n%s\n%u", number, in ? in : "", file, line);
	uint64_t n;

	if (!strmap_get(&s->copy, str_of(key), &n)) {
		n = of->copy.n;
		strmap_put(&s->copy, str_of(key), n);
		VEC_PUSH(of->copy, (struct view_copy){.in = in, .file = file, .line = line});
	}
	return &of->copy.at[n];
}

/* ---- instructions ---- */

/* The copy of the last instruction, which is looked up only when the scope changes. */
struct last {
	uint32_t scope;
	size_t number;
	struct view_copy *copy;
	VEC(size_t) in;          /* the function, and those into which it was inlined, each once */
};

static void
add_once(struct last *last, size_t number)
{
	for (size_t i = 0; i < last->in.n; i++)
		if (last->in.at[i] == number)
			return;
	VEC_PUSH(last->in, number);
}

static void
look_up_copy(struct sources *s, struct last *last, struct binary *bin, const struct proc *p, uint32_t scope)
{
	const struct image_scope *sc = scope == IMAGE_NO_SCOPE ? NULL : image_scope(bin->image, scope);
	struct image_place place;

	last->scope = scope;
	if (sc && sc->in != IMAGE_NO_SCOPE) {
		last->number = number_of_scope(s, bin->image, scope);
		last->copy = copy_of(s, last->number, image_scope(bin->image, sc->in)->name, sc->call.file ? sc->call.file : "",
		                     sc->call.line);
		return;
	}
	if (sc) {
		last->number = number_of_scope(s, bin->image, scope);
	} else {
		place = image_declared(bin->image, p->part[0].addr);
		last->number = number_of(s, p->name, place.file ? place.file : p->file, place.line);
	}
	last->copy = copy_of(s, last->number, NULL, "", 0);
}

static void
look_up(struct sources *s, struct last *last, struct binary *bin, const struct proc *p, uint32_t scope)
{
	look_up_copy(s, last, bin, p, scope);
	last->in.n = 0;
	VEC_PUSH(last->in, last->number);
	for (; scope != IMAGE_NO_SCOPE; scope = image_scope(bin->image, scope)->in)
		add_once(last, number_of_scope(s, bin->image, scope));
}

static void
add_insn(struct sources *s, struct last *last, const struct bounds *n)
{
	struct view_source *f = &s->list->at[last->number];

	s->fits &= bounds_add(&f->insns, n) && bounds_add(&last->copy->insns, n);
	if (last->copy->in)
		s->fits &= bounds_add(&f->inlined, n);
	for (size_t i = 0; i < last->in.n; i++)
		s->fits &= bounds_add(&s->list->at[last->in.at[i]].whole, n);
}

/* The scope of an instruction. Instructions without a known place belong to the procedure itself. So does padding: it may have
 * another length in the woven program, so its address does not determine its scope. */
static uint32_t
scope_of(struct binary *bin, const struct walk *w)
{
	bool known = w->addr && w->kind != CHORD_INSN_PAD;

	return known ? image_scope_at(bin->image, w->addr)
	             : image_scope_around(bin->image, w->proc->part[w->block->part].addr);
}

static void
add_insns(struct sources *s, struct binary *bin, uint32_t proc)
{
	const struct proc *p = &bin->map.proc[proc];
	const struct counts *c = &bin->counts[proc];
	struct last last = {0};
	struct walk w, most;

	for (uint32_t b = 0; b < p->nblock; b++) {
		walk_start(&most, p, c->most ? c->most : c, b);
		for (walk_start(&w, p, c, b); walk_next(&w) && walk_next(&most);) {
			const struct bounds n = {w.count, most.count};
			uint32_t scope = scope_of(bin, &w);

			if (!last.copy || scope != last.scope)
				look_up(s, &last, bin, p, scope);
			add_insn(s, &last, &n);
		}
	}
	free(last.in.at);
}

/* Adds numbers that are at most the count of the whole procedure. */
static bool
add_within(struct bounds *sum, struct bounds n, uint64_t all)
{
	/* The procedure's own bounds may be narrower than the sum of its blocks' bounds. */
	n.most = n.most > all && all >= n.least ? all : n.most;
	return bounds_add(sum, &n);
}

static void
add_source(struct sources *s, const struct view_source *of, uint64_t all)
{
	size_t number = number_of(s, of->name, of->file, of->line);
	struct view_source *f = &s->list->at[number];

	s->fits &= add_within(&f->insns, of->insns, all) && add_within(&f->inlined, of->inlined, all) &&
	           add_within(&f->whole, of->whole, all);
	for (size_t i = 0; i < of->copy.n; i++) {
		const struct view_copy *c = &of->copy.at[i];

		s->fits &= add_within(&copy_of(s, number, c->in, c->file, c->line)->insns, c->insns, all);
	}
}

/* A procedure whose counts are bounds is first summed by itself. */
static void
add_proc(struct sources *s, struct binary *bin, uint32_t proc)
{
	const struct counts *c = &bin->counts[proc];
	struct view_sources list = {0};
	struct sources own = {.pool = s->pool, .list = &list, .fits = true};

	if (!c->most) {
		add_insns(s, bin, proc);
		return;
	}
	add_insns(&own, bin, proc);
	for (size_t i = 0; i < list.n; i++)
		add_source(s, &list.at[i], c->most->insns);
	s->fits &= own.fits;
	view_sources_free(&list);
	free(own.of_scope);
	strmap_free(&own.number);
	strmap_free(&own.copy);
}

/* ---- in order ---- */

static int
by_insns(const void *a, const void *b)
{
	const struct view_source *x = a, *y = b;
	int c;

	if (x->insns.least != y->insns.least)
		return x->insns.least > y->insns.least ? -1 : 1;
	if ((c = strcmp(x->name, y->name)) || (c = strcmp(x->file, y->file)))
		return c;
	return (x->line > y->line) - (x->line < y->line);
}

static int
copy_by_insns(const void *a, const void *b)
{
	const struct view_copy *x = a, *y = b;
	int c;

	if (x->insns.least != y->insns.least)
		return x->insns.least > y->insns.least ? -1 : 1;
	if (!x->in != !y->in)
		return x->in ? 1 : -1;
	if (x->in && ((c = strcmp(x->in, y->in)) || (c = strcmp(x->file, y->file))))
		return c;
	return (x->line > y->line) - (x->line < y->line);
}

static void
leave_chosen(struct view_sources *list, const struct view_choice *choice)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct view_source *f = &list->at[i];

		if ((!choice->function || image_name_matches(f->name, choice->function)) && view_is_file(f->file, choice->file))
			list->at[n++] = *f;
		else
			free(f->copy.at);
	}
	list->n = n;
}

bool
view_sources(struct view_sources *list, struct run *run, const struct view_choice *choice)
{
	struct sources s = {.pool = run->pool, .list = list, .fits = true};

	for (size_t k = 0; k < run->binary.n; k++) {
		struct binary *bin = &run->binary.at[k];

		for (uint32_t i = 0; i < bin->map.nproc; i++)
			if (!bin->counts[i].why)
				add_proc(&s, bin, i);
		if (s.nscope)
			memset(s.of_scope, 0, s.nscope * sizeof *s.of_scope);
	}
	leave_chosen(list, choice);
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i].copy.n)
			qsort(list->at[i].copy.at, list->at[i].copy.n, sizeof *list->at[i].copy.at, copy_by_insns);
	if (list->n)
		qsort(list->at, list->n, sizeof *list->at, by_insns);
	free(s.of_scope);
	strmap_free(&s.number);
	strmap_free(&s.copy);
	return s.fits;
}

void
view_sources_free(struct view_sources *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->at[i].copy.at);
	free(list->at);
	*list = (struct view_sources){0};
}
