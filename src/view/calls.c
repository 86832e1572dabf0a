/* SPDX-License-Identifier: MIT */
/* Calls: what happened between each call and its return. */
#include "view/view.h"

#include <stdlib.h>
#include <string.h>

/* The callee's name, as the weaver saw it. */
static const char *
name_of_callee(const struct call *c, enum chord_insn kind)
{
	if (c->callee && *c->callee)
		return c->callee;
	return kind == CHORD_INSN_ICALL ? "(through a pointer)" : "(not known)";
}

static void
set_place(struct view_call *row, const struct walk *w)
{
	struct image_place place;

	row->file = w->proc->file;
	if (!w->addr || !image_place(row->binary->image, w->addr, &place))
		return;
	row->file = place.file;
	row->line = place.line;
}

static void
add_call(struct view_calls *list, struct run *run, struct binary *bin, const struct walk *w, uint64_t most, uint32_t proc,
         uint32_t call)
{
	const struct proc *p = w->proc;
	const struct module *m = profile_module(run->sum, image_build_id(bin->image));
	struct view_call row = {.binary = bin, .proc = p, .callee = name_of_callee(&p->call[call], w->kind),
	                        .calls = {w->count, most}};

	row.nevent = p->nevent < CHORD_SUMS ? p->nevent : CHORD_SUMS;
	for (uint32_t e = 0; e < row.nevent; e++)
		row.known[e] = call_sum(&bin->map, p, &bin->counts[proc], m, call, e, &row.n[e]);
	set_place(&row, w);
	if (p->call[call].flags & CHORD_CALL_POINTER)
		view_callees(run, m, p, call, &row);
	VEC_PUSH(*list, row);
}

/* Adds up calls without sums. The total of all calls fits 64 bits (view_totals()), and so does this. */
static void
add_left(struct view_calls *list, struct binary *bin, const struct walk *w, uint64_t most, const struct view_choice *choice)
{
	struct view_call row = {.binary = bin};

	if (w->kind != CHORD_INSN_CALL && w->kind != CHORD_INSN_ICALL)
		return;
	set_place(&row, w);
	if (view_is_file(row.file, choice->file))
		(void)bounds_add(&list->left, &(struct bounds){w->count, most});
}

static void
find_calls_of(struct view_calls *list, struct run *run, struct binary *bin, uint32_t proc, const struct view_choice *choice)
{
	const struct proc *p = &bin->map.proc[proc];
	const struct counts *c = &bin->counts[proc];

	for (uint32_t b = 0; b < p->nblock; b++) {
		uint32_t call = p->block[b].call, end = call + p->block[b].ncall;
		struct walk w, most;

		walk_start(&most, p, c->most ? c->most : c, b);
		for (walk_start(&w, p, c, b); walk_next(&w) && walk_next(&most);) {
			while (call < end && p->call[call].insn < w.i)
				call++;
			if (!most.count)
				continue;
			if (call < end && p->call[call].insn == w.i && p->call[call].sum)
				add_call(list, run, bin, &w, most.count, proc, call);
			else
				add_left(list, bin, &w, most.count, choice);
		}
	}
}

/* Rows for a procedure whose calls have no counters of their own: how often its call instructions ran, and what they name. */
static void
find_call_insns(struct view_calls *list, struct run *run, struct binary *bin, uint32_t proc)
{
	const struct proc *p = &bin->map.proc[proc];
	const struct counts *c = &bin->counts[proc];
	struct walk w, most;

	for (uint32_t b = 0; b < p->nblock; b++) {
		walk_start(&most, p, c->most ? c->most : c, b);
		for (walk_start(&w, p, c, b); walk_next(&w) && walk_next(&most);) {
			struct view_call row = {.binary = bin, .proc = p, .calls = {w.count, most.count}};
			struct callee to = {0};
			struct insn in;

			if ((w.kind != CHORD_INSN_CALL && w.kind != CHORD_INSN_ICALL) || !most.count)
				continue;
			if (w.addr && image_insn(bin->image, w.addr, &in))
				to = callee_of(bin, p, &in, w.addr);
			row.callee = to.n ? callee_name(run->pool, &to, 0)
			                  : w.kind == CHORD_INSN_ICALL ? "(through a pointer)" : "(not known)";
			set_place(&row, &w);
			VEC_PUSH(*list, row);
		}
	}
}

static bool
has_sums(const struct run *run)
{
	for (size_t i = 0; i < run->binary.n; i++)
		for (uint32_t k = 0; k < run->binary.at[i].map.nproc; k++)
			if (run->binary.at[i].map.proc[k].summed)
				return true;
	return false;
}

/* Most events first; then by name and place. */
static int
by_events(const void *a, const void *b)
{
	const struct view_call *x = a, *y = b;
	int c;

	if (x->n[0] != y->n[0])
		return x->n[0] > y->n[0] ? -1 : 1;
	if (!x->nevent && !y->nevent && x->calls.least != y->calls.least)
		return x->calls.least > y->calls.least ? -1 : 1;
	if ((c = strcmp(x->proc->name, y->proc->name)) || (c = strcmp(x->callee, y->callee)))
		return c;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->calls.least < y->calls.least) - (x->calls.least > y->calls.least);
}

void
view_calls(struct view_calls *list, struct run *run, const struct view_choice *choice)
{
	size_t n = 0;
	bool sums = has_sums(run);

	for (size_t i = 0; i < run->binary.n; i++) {
		struct binary *bin = &run->binary.at[i];

		for (uint32_t k = 0; k < bin->map.nproc; k++) {
			const struct proc *p = &bin->map.proc[k];

			if (bin->counts[k].why || !view_is_named(p, choice->function))
				continue;
			if (p->refused)
				continue;
			if (sums)
				find_calls_of(list, run, bin, k, choice);
			else
				find_call_insns(list, run, bin, k);
		}
	}
	for (size_t i = 0; i < list->n; i++)
		if (view_is_file(list->at[i].file, choice->file))
			list->at[n++] = list->at[i];
	list->n = n;
	if (n)
		qsort(list->at, n, sizeof *list->at, by_events);
}

/* ---- the call at an instruction ---- */

const struct call *
view_call_at(const struct view_insn *in)
{
	const struct block *b = &in->proc->block[in->block];

	for (uint32_t i = b->call; i < b->call + b->ncall; i++)
		if (in->proc->call[i].insn == in->number)
			return &in->proc->call[i];
	return NULL;
}

static uint32_t
number_of_event(const struct proc *p, const char *name)
{
	for (uint32_t e = 0; e < p->nevent && e < CHORD_SUMS; e++)
		if (!strcmp(p->event[e].name, name))
			return e;
	return UINT32_MAX;
}

bool
view_call_sum(const struct run *run, const struct view_insn *in, const struct call *call, const char *event, uint64_t *n)
{
	uint32_t e = number_of_event(in->proc, event);
	const struct binary *bin = in->binary;

	return call->sum && e != UINT32_MAX && in->count &&
	       call_sum(&bin->map, in->proc, &bin->counts[in->proc_number], profile_module(run->sum, image_build_id(bin->image)),
	                (uint32_t)(call - in->proc->call), e, n);
}
