/* SPDX-License-Identifier: MIT */
/* Functions with their counts, and the sums of the counts. */
#include "view/view.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static struct bounds
bounds_of(uint64_t least, uint64_t most)
{
	return (struct bounds){least, most};
}

static void
fill_counts(struct view_function *f)
{
	const struct counts *c = f->counts, *m = c->most ? c->most : c;

	f->insns = bounds_of(c->insns, m->insns);
	f->blocks = bounds_of(c->blocks, m->blocks);
	f->edges = bounds_of(c->jumps, m->jumps);
	f->call_insns = bounds_of(c->call_insns, m->call_insns);
	f->calls = bounds_of(c->activations, m->activations);
}

static struct view_function
function_of(struct binary *bin, uint32_t i)
{
	const struct proc *p = &bin->map.proc[i];
	struct view_function f = {.binary = bin, .proc = p, .number = i, .counts = &bin->counts[i]};
	struct image_place place = image_declared(bin->image, p->part[0].addr);

	f.file = place.file ? place.file : p->file;
	f.line = place.line;
	f.why = p->refused ? p->refused : f.counts->why;
	if (!f.why)
		fill_counts(&f);
	return f;
}

void
view_functions(struct view_functions *list, struct run *run)
{
	for (size_t k = 0; k < run->binary.n; k++)
		for (uint32_t i = 0; i < run->binary.at[k].map.nproc; i++)
			VEC_PUSH(*list, function_of(&run->binary.at[k], i));
}

void
view_functions_known(struct view_functions *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		if (!list->at[i].why)
			list->at[n++] = list->at[i];
	list->n = n;
}

/* ---- in order ---- */

/* The procedures of a map are sorted by address. */
static int
by_address(const struct view_function *x, const struct view_function *y)
{
	if (x->binary != y->binary)
		return x->binary < y->binary ? -1 : 1;
	return (x->proc > y->proc) - (x->proc < y->proc);
}

static int
by_name(const struct view_function *x, const struct view_function *y)
{
	int c = strcmp(x->proc->name, y->proc->name);

	return c ? c : by_address(x, y);
}

static int
by_count(uint64_t x, uint64_t y, const struct view_function *a, const struct view_function *b)
{
	return x != y ? (x > y ? -1 : 1) : by_name(a, b);
}

static int
compare_insns(const void *a, const void *b)
{
	const struct view_function *x = a, *y = b;

	return by_count(x->counts->insns, y->counts->insns, x, y);
}

static int
compare_calls(const void *a, const void *b)
{
	const struct view_function *x = a, *y = b;

	return by_count(x->counts->activations, y->counts->activations, x, y);
}

static int
compare_name(const void *a, const void *b)
{
	return by_name(a, b);
}

static int
compare_file(const void *a, const void *b)
{
	const struct view_function *x = a, *y = b;
	int c = strcmp(x->file, y->file);

	if (c)
		return c;
	return x->line != y->line ? (x->line < y->line ? -1 : 1) : by_name(x, y);
}

static int
compare_address(const void *a, const void *b)
{
	return by_address(a, b);
}

/* Unknown counts come last. */
static int
compare_inclusive(const void *a, const void *b)
{
	const struct view_function *x = a, *y = b;

	if (x->inclusive.known != y->inclusive.known)
		return x->inclusive.known ? -1 : 1;
	if (x->inclusive.insns == y->inclusive.insns)
		return compare_insns(a, b);
	return by_count(x->inclusive.insns, y->inclusive.insns, x, y);
}

void
view_functions_sort(struct view_functions *list, enum view_sort sort)
{
	static int (*const compare[])(const void *, const void *) = {
		[VIEW_BY_INSNS] = compare_insns, [VIEW_BY_CALLS] = compare_calls, [VIEW_BY_NAME] = compare_name,
		[VIEW_BY_FILE] = compare_file, [VIEW_BY_ADDRESS] = compare_address,
		[VIEW_BY_INCLUSIVE] = compare_inclusive,
	};

	if (list->n)
		qsort(list->at, list->n, sizeof *list->at, compare[sort]);
}

/* ---- sums ---- */

/* False: a sum does not fit 64 bits. */
static bool
add_function(struct view_totals *t, const struct view_function *f)
{
	t->procedures++;
	t->refused += f->proc->refused != NULL;
	t->events_only += f->why && f->counts->why == SOLVE_EVENTS_ONLY;
	t->known |= f->why && !f->proc->refused && !counts_by_design(f->counts);
	if (f->why)
		return true;
	t->known = true;
	t->edges_known &= f->counts->jumps_known;
	return bounds_add(&t->insns, &f->insns) && bounds_add(&t->blocks, &f->blocks) && bounds_add(&t->edges, &f->edges) &&
	       bounds_add(&t->call_insns, &f->call_insns);
}

bool
view_totals(struct view_totals *t, const struct view_functions *all, const struct event_totals *events)
{
	bool fits = true;

	*t = (struct view_totals){.edges_known = true};
	for (size_t i = 0; i < all->n; i++)
		fits &= add_function(t, &all->at[i]);
	for (uint32_t i = 0; i < events->n && !t->known; i++)
		if (!strcmp(events->at[i].name, "instructions") && !events->why)
			t->insns = bounds_of(events->at[i].n, events->at[i].most);
	/* If there are no procedures, nothing ran, and that is known. */
	t->known |= !events->n;
	return fits;
}

bool
view_insns(const struct run *run, uint64_t *n)
{
	bool fits = true;

	*n = 0;
	for (size_t k = 0; k < run->binary.n; k++)
		for (uint32_t i = 0; i < run->binary.at[k].map.nproc; i++)
			if (!run->binary.at[k].counts[i].why)
				fits &= checked_add(n, run->binary.at[k].counts[i].insns);
	return fits;
}

/* ---- sizes ---- */

struct view_size
view_size_of(const struct proc *p, const struct counts *c)
{
	struct view_size s = {.blocks = p->nblock, .insns = c->insns, .entered = c->blocks};
	struct walk w;

	for (uint32_t b = 0; b < p->nblock; b++) {
		bool entered = false;

		for (walk_start(&w, p, c, b); walk_next(&w);) {
			s.code++;
			s.never += !w.count;
			entered |= w.count != 0;
		}
		s.unentered += !entered;
	}
	return s;
}

bool
view_size_add(struct view_size *sum, const struct view_size *s)
{
	return checked_add(&sum->code, s->code) && checked_add(&sum->never, s->never) && checked_add(&sum->blocks, s->blocks) &&
	       checked_add(&sum->unentered, s->unentered) && checked_add(&sum->insns, s->insns) &&
	       checked_add(&sum->entered, s->entered);
}
