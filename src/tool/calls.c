/* SPDX-License-Identifier: MIT */
/* Calls: what happened between each call and its return. */
#include "tool/report.h"

#include <stdlib.h>
#include <string.h>

/* The name of what a call leads to, as the weaver saw it. */
static const char *
name_of_callee(const struct call *c, enum chord_insn kind)
{
	if (c->callee && *c->callee)
		return c->callee;
	return kind == CHORD_INSN_ICALL ? "(through a pointer)" : "(not known)";
}

static void
add_call(struct report *r, struct unit *u, const struct walk *w, uint64_t most, uint32_t proc, uint32_t call)
{
	const struct proc *p = w->proc;
	const struct module *m = profile_module(r->run->sum, image_build_id(u->image));
	struct row_call row = {.unit = u, .proc = p, .callee = name_of_callee(&p->call[call], w->kind), .calls = w->count,
	                       .calls_most = most};
	struct image_place place;

	row.nevent = p->nevent < CHORD_SUMS ? p->nevent : CHORD_SUMS;
	for (uint32_t e = 0; e < row.nevent; e++)
		row.known[e] = call_sum(&u->map, p, &u->counts[proc], m, call, e, &row.n[e]);
	row.file = p->file;
	if (w->addr && image_place(u->image, w->addr, &place)) {
		row.file = place.file;
		row.line = place.line;
	}
	if (p->call[call].flags & CHORD_CALL_POINTER)
		find_callees(r, m, p, call, &row);
	VEC_PUSH(r->call, row);
}

static void
find_calls_of(struct report *r, struct unit *u, uint32_t proc)
{
	const struct proc *p = &u->map.proc[proc];
	const struct counts *c = &u->counts[proc];

	for (uint32_t b = 0; b < p->nblock; b++) {
		uint32_t call = p->block[b].call, end = call + p->block[b].ncall;
		struct walk w, most;

		walk_start(&most, p, c->most ? c->most : c, b);
		for (walk_start(&w, p, c, b); walk_next(&w) && walk_next(&most);) {
			while (call < end && p->call[call].insn < w.i)
				call++;
			if (call < end && p->call[call].insn == w.i && p->call[call].sum && most.count)
				add_call(r, u, &w, most.count, proc, call);
		}
	}
}

/* The most first; then by name and place. */
static int
by_events(const void *a, const void *b)
{
	const struct row_call *x = a, *y = b;
	int c;

	if (x->n[0] != y->n[0])
		return x->n[0] > y->n[0] ? -1 : 1;
	if ((c = strcmp(x->proc->name, y->proc->name)) || (c = strcmp(x->callee, y->callee)))
		return c;
	return x->line != y->line ? (x->line < y->line ? -1 : 1) : (x->calls < y->calls) - (x->calls > y->calls);
}

void
report_find_calls(struct report *r)
{
	for (size_t i = 0; i < r->run->unit.n; i++) {
		struct unit *u = &r->run->unit.at[i];

		for (uint32_t k = 0; k < u->map.nproc; k++)
			if (u->map.proc[k].calls && !u->counts[k].why)
				find_calls_of(r, u, k);
	}
	if (r->call.n)
		qsort(r->call.at, r->call.n, sizeof *r->call.at, by_events);
}
