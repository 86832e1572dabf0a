/* SPDX-License-Identifier: MIT */
/* Tables of functions, lines, files and instructions, sorted. */
#include "tool/report.h"

#include <stdlib.h>
#include <string.h>

struct cell {
	uint32_t file, line;
	struct total insns, most;
};

/* Lines being collected. File names come from the line table, where the same
 * name has an address for each unit: `file` makes it one number. */
struct lines {
	struct strmap file;
	VEC(const char *) name;
	VEC(struct cell) cell;
	size_t *slot, nslot;     /* open addressing into cell, + 1 */
	const char *last;        /* the name looked up last, by address, and its number */
	uint32_t last_number;
	bool fits;
};

static bool
add(uint64_t *sum, uint64_t v)
{
	return !__builtin_add_overflow(*sum, v, sum);
}

/* False: the least does not fit 64 bits. */
static bool
add_total(struct total *t, uint64_t least, uint64_t most)
{
	if (!add(&t->most, most))
		t->most = COUNT_NO_BOUND;
	return add(&t->least, least);
}

static bool
add_totals(struct totals *t, const struct counts *c)
{
	const struct counts *m = c->most ? c->most : c;

	t->known = true;
	t->edges_known &= c->jumps_known;
	return add_total(&t->insns, c->insns, m->insns) && add_total(&t->blocks, c->blocks, m->blocks) &&
	       add_total(&t->edges, c->jumps, m->jumps) && add_total(&t->call_insns, c->call_insns, m->call_insns);
}

static void
add_function(struct report *r, struct unit *u, uint32_t i)
{
	struct row_function f = {.unit = u, .proc = &u->map.proc[i], .counts = &u->counts[i]};
	struct image_place place = image_declared(u->image, f.proc->part[0].addr);

	f.file = place.file ? place.file : f.proc->file;
	f.line = place.line;
	VEC_PUSH(r->function, f);
}

static uint32_t
file_number(struct lines *l, const char *file)
{
	uint64_t n;

	if (file == l->last)
		return l->last_number;
	if (!strmap_get(&l->file, str_of(file), &n)) {
		n = l->name.n;
		strmap_put(&l->file, str_of(file), n);
		VEC_PUSH(l->name, file);
	}
	l->last = file;
	return l->last_number = (uint32_t)n;
}

static size_t *
find_slot(struct lines *l, uint32_t file, uint32_t line)
{
	size_t i = ((uint64_t)file << 32 | line) * 0x9e3779b97f4a7c15u >> 20 & (l->nslot - 1);

	while (l->slot[i] && (l->cell.at[l->slot[i] - 1].file != file || l->cell.at[l->slot[i] - 1].line != line))
		i = (i + 1) & (l->nslot - 1);
	return &l->slot[i];
}

static void
grow_slots(struct lines *l)
{
	free(l->slot);
	l->nslot = l->nslot ? l->nslot * 2 : 4096;
	l->slot = xcalloc(l->nslot, sizeof *l->slot);
	for (size_t i = 0; i < l->cell.n; i++)
		*find_slot(l, l->cell.at[i].file, l->cell.at[i].line) = i + 1;
}

static void
raise_to(struct total *t, const struct total *other)
{
	t->least = other->least > t->least ? other->least : t->least;
	t->most = other->most > t->most ? other->most : t->most;
}

static void
add_line(struct lines *l, const char *file, uint32_t line, uint64_t count, uint64_t count_most)
{
	uint32_t number = file_number(l, file);
	struct cell *c;
	size_t *slot;

	if (l->cell.n * 2 >= l->nslot)
		grow_slots(l);
	slot = find_slot(l, number, line);
	if (!*slot) {
		VEC_PUSH(l->cell, (struct cell){.file = number, .line = line});
		*slot = l->cell.n;
	}
	c = &l->cell.at[*slot - 1];
	l->fits &= add_total(&c->insns, count, count_most);
	raise_to(&c->most, &(struct total){count, count_most});
}

/* The file that was compiled, by the same name as in the line table. */
static const char *
file_of_proc(struct unit *u, const struct proc *p)
{
	struct image_function f;
	struct image_place place;

	if (image_function(u->image, p->part[0].addr, &f) && f.unit_file)
		return f.unit_file;
	if (image_place(u->image, p->part[0].addr, &place) && !strcmp(base_name(place.file), base_name(p->file)))
		return place.file;
	return *p->file ? p->file : "?";
}

/* Instructions without a line count for their procedure's file, line 0. So does padding: it may be longer
 * or shorter in the woven program, so its address there is no guide. */
static void
add_block_lines(struct lines *l, struct unit *u, uint32_t proc, const char *file, uint32_t block)
{
	const struct proc *p = &u->map.proc[proc];
	const struct counts *c = &u->counts[proc];
	struct image_place place;
	struct walk w, most;

	walk_start(&most, p, c->most ? c->most : c, block);
	for (walk_start(&w, p, c, block); walk_next(&w) && walk_next(&most);) {
		if (w.addr && w.kind != CHORD_INSN_PAD && image_place(u->image, w.addr, &place))
			add_line(l, place.file, place.line, w.count, most.count);
		else
			add_line(l, file, 0, w.count, most.count);
	}
}

static void
add_unit_lines(struct lines *l, struct unit *u)
{
	for (uint32_t i = 0; i < u->map.nproc; i++) {
		const char *file = file_of_proc(u, &u->map.proc[i]);

		progress("finding lines", i, u->map.nproc);
		for (uint32_t b = 0; !u->counts[i].why && b < u->map.proc[i].nblock; b++)
			add_block_lines(l, u, i, file, b);
	}
	progress("finding lines", u->map.nproc, u->map.nproc);
}

static int
by_insns(const struct row_line *x, const struct row_line *y)
{
	int c;

	if (x->insns.least != y->insns.least)
		return x->insns.least > y->insns.least ? -1 : 1;
	c = strcmp(x->file, y->file);
	return c ? c : (x->line > y->line) - (x->line < y->line);
}

static int
compare_lines(const void *a, const void *b)
{
	return by_insns(a, b);
}

static int
compare_lines_by_place(const void *a, const void *b)
{
	const struct row_line *x = a, *y = b;
	int c = strcmp(x->file, y->file);

	return c ? c : (x->line > y->line) - (x->line < y->line);
}

static void
sort_lines(struct row_line *at, size_t n, enum report_sort sort)
{
	bool by_place = sort == SORT_FILE || sort == SORT_NAME || sort == SORT_ADDRESS;

	if (n)
		qsort(at, n, sizeof *at, by_place ? compare_lines_by_place : compare_lines);
}

static void
sum_files(struct report *r, struct lines *l)
{
	struct row_line *row = pool_array(r->run->pool, l->name.n, sizeof *row);

	for (size_t i = 0; i < l->cell.n; i++) {
		struct row_line *f = &row[l->cell.at[i].file];

		l->fits &= add_total(&f->insns, l->cell.at[i].insns.least, l->cell.at[i].insns.most);
		raise_to(&f->most, &l->cell.at[i].most);
	}
	for (size_t i = 0; i < l->name.n; i++) {
		row[i].file = l->name.at[i];
		VEC_PUSH(r->file, row[i]);
	}
	sort_lines(r->file.at, r->file.n, r->opt.sort);
}

static bool
find_lines(struct report *r)
{
	struct lines l = {.fits = true};

	for (size_t i = 0; i < r->run->unit.n; i++)
		add_unit_lines(&l, &r->run->unit.at[i]);
	if (r->opt.files)
		sum_files(r, &l);
	for (size_t i = 0; r->opt.lines && i < l.cell.n; i++)
		VEC_PUSH(r->line, (struct row_line){l.name.at[l.cell.at[i].file], l.cell.at[i].line, l.cell.at[i].insns,
		                                    l.cell.at[i].most});
	sort_lines(r->line.at, r->line.n, r->opt.sort);
	strmap_free(&l.file);
	free(l.name.at);
	free(l.cell.at);
	free(l.slot);
	return l.fits;
}

static int
by_name(const struct row_function *x, const struct row_function *y)
{
	int c = strcmp(x->proc->name, y->proc->name);

	if (c)
		return c;
	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return (x->proc > y->proc) - (x->proc < y->proc);
}

static int
by_count(uint64_t x, uint64_t y, const struct row_function *a, const struct row_function *b)
{
	return x != y ? (x > y ? -1 : 1) : by_name(a, b);
}

static int
compare_insns(const void *a, const void *b)
{
	const struct row_function *x = a, *y = b;

	return by_count(x->counts->insns, y->counts->insns, x, y);
}

static int
compare_calls(const void *a, const void *b)
{
	const struct row_function *x = a, *y = b;

	return by_count(x->counts->calls, y->counts->calls, x, y);
}

static int
compare_name(const void *a, const void *b)
{
	return by_name(a, b);
}

static int
compare_file(const void *a, const void *b)
{
	const struct row_function *x = a, *y = b;
	int c = strcmp(x->file, y->file);

	if (c)
		return c;
	return x->line != y->line ? (x->line < y->line ? -1 : 1) : by_name(x, y);
}

/* Procedures of a map are sorted by address. */
static int
compare_address(const void *a, const void *b)
{
	const struct row_function *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return (x->proc > y->proc) - (x->proc < y->proc);
}

static void
sort_functions(struct report *r)
{
	static int (*const compare[])(const void *, const void *) = {
		[SORT_INSNS] = compare_insns, [SORT_CALLS] = compare_calls, [SORT_NAME] = compare_name,
		[SORT_FILE] = compare_file, [SORT_ADDRESS] = compare_address,
	};

	if (r->function.n)
		qsort(r->function.at, r->function.n, sizeof *r->function.at, compare[r->opt.sort]);
}

bool
report_tables(struct report *r)
{
	bool fits = true;

	r->totals.edges_known = true;
	unmeasured_find_all(r->run, &r->unmeasured);
	for (size_t i = 0; i < r->run->unit.n; i++) {
		struct unit *u = &r->run->unit.at[i];

		r->has_lines |= image_has_lines(u->image);
		r->totals.procedures += u->map.nproc;
		r->totals.refused += u->map.nrefused;
		for (uint32_t k = 0; k < u->map.nproc; k++) {
			r->totals.known |= u->counts[k].why && !u->map.proc[k].refused && !counts_by_design(&u->counts[k]);
			if (!u->counts[k].why) {
				fits &= add_totals(&r->totals, &u->counts[k]);
				add_function(r, u, k);
			}
		}
	}
	r->events = run_events(r->run);
	for (uint32_t i = 0; i < r->events.n && !r->totals.known; i++)
		if (!strcmp(r->events.at[i].name, "instructions") && !r->events.why)
			r->totals.insns = (struct total){r->events.at[i].n, r->events.at[i].most};
	/* Without any procedure nothing ran. */
	r->totals.known |= !r->events.n;
	if (r->opt.lines || r->opt.files)
		fits &= find_lines(r);
	sort_functions(r);
	return fits;
}
