/* SPDX-License-Identifier: MIT */
/* Which function is the only one that calls another. */
#include "view/stacks.h"

#include <stdlib.h>
#include <string.h>

/* Calls of one function by another. */
struct call_edge {
	uint32_t from, to;
	uint64_t times, insns;
	bool times_known, insns_known;
};

struct finder {
	struct run *run;
	const struct view_functions *all;
	uint32_t *first;         /* by binary: its first function */
	struct strmap name;      /* functions by name; those of one name have number UINT32_MAX */
	bool *caller;            /* by function: it may call another */
	VEC(struct call_edge) edge;
};

static void
number_functions(struct finder *f)
{
	for (uint32_t i = (uint32_t)f->all->n; i--;) {
		const struct view_function *v = &f->all->at[i];
		uint64_t other;

		f->first[v->binary - f->run->binary.at] = i;
		strmap_put(&f->name, str_of(v->proc->name), strmap_get(&f->name, str_of(v->proc->name), &other) ? UINT32_MAX : i);
	}
}

static uint32_t
number_of(const struct finder *f, const struct binary *bin, const struct proc *p)
{
	return f->first[bin - f->run->binary.at] + (uint32_t)(p - bin->map.proc);
}

static uint32_t
number_at(const struct finder *f, const struct binary *bin, uint64_t addr)
{
	const struct part_at *part = parts_find(&bin->parts, addr);

	return part && part->proc->part[0].addr == addr ? number_of(f, bin, part->proc) : VIEW_NO_CALLER;
}

static uint32_t
number_named(const struct finder *f, const char *name)
{
	uint64_t i;

	return strmap_get(&f->name, str_of(name), &i) ? (uint32_t)i : VIEW_NO_CALLER;
}

static void
add_edge(struct finder *f, const struct view_insn *in, uint32_t to, uint64_t calls, const struct call *c)
{
	struct call_edge e = {number_of(f, in->binary, in->proc), to, calls, 0, true, false};

	if (to == VIEW_NO_CALLER)
		return;
	e.insns_known = c && view_call_sum(f->run, in, c, "instructions", &e.insns);
	VEC_PUSH(f->edge, e);
}

/* A call through a pointer whose callees were counted; of one with several it is not known what each executed. */
static void
add_callees(struct finder *f, const struct view_insn *in, const struct call *c)
{
	struct view_call row = {.calls = {in->count, in->count}};

	view_callees(f->run, profile_module(f->run->sum, image_build_id(in->binary->image)), in->proc,
	             (uint32_t)(c - in->proc->call), &row);
	for (size_t i = 0; i < row.nto; i++) {
		const struct proc *p = row.to[i].proc;

		for (size_t k = 0; k < f->run->binary.n && p; k++) {
			const struct binary *bin = &f->run->binary.at[k];

			if (p >= bin->map.proc && p < bin->map.proc + bin->map.nproc)
				add_edge(f, in, number_of(f, bin, p), row.to[i].calls, row.nto == 1 ? c : NULL);
		}
	}
}

static void
add_insn(struct finder *f, const struct view_insn *in)
{
	struct callee to = view_insn_callee(in);
	const struct call *c = view_call_at(in);
	uint32_t callee = VIEW_NO_CALLER;

	if (to.n)
		callee = to.one ? number_named(f, to.one) : number_at(f, in->binary, to.symbol->addr);
	if (in->kind == CHORD_INSN_ICALL && c && c->flags & CHORD_CALL_POINTER)
		add_callees(f, in, c);
	else
		add_edge(f, in, callee, in->count, c);
	f->caller[number_of(f, in->binary, in->proc)] |= in->kind != CHORD_INSN_JUMP || to.n;
}

static void
find_edges(struct finder *f, const struct view_listing *l)
{
	for (size_t i = 0; i < l->insn.n; i++) {
		const struct view_insn *in = &l->insn.at[i];

		if (!in->known || !in->count)
			continue;
		if (in->kind == CHORD_INSN_CALL || in->kind == CHORD_INSN_ICALL || in->kind == CHORD_INSN_JUMP)
			add_insn(f, in);
		else if (in->kind == CHORD_INSN_IJUMP)
			f->caller[number_of(f, in->binary, in->proc)] = true;
	}
}

/* Those of one pair become one. */
static int
by_callee(const void *a, const void *b)
{
	const struct call_edge *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static void
sum_edges(struct finder *f)
{
	size_t n = 0;

	if (f->edge.n)
		qsort(f->edge.at, f->edge.n, sizeof *f->edge.at, by_callee);
	for (size_t i = 0; i < f->edge.n; i++) {
		struct call_edge *e = n ? &f->edge.at[n - 1] : NULL;

		if (e && !by_callee(e, &f->edge.at[i])) {
			e->times_known &= checked_add(&e->times, f->edge.at[i].times);
			e->insns_known &= f->edge.at[i].insns_known && checked_add(&e->insns, f->edge.at[i].insns);
		} else {
			f->edge.at[n++] = f->edge.at[i];
		}
	}
	f->edge.n = n;
}

/* Shares, if they are known of all callers and make up the whole. */
static void
share(struct finder *f, struct pool *pool, uint32_t function, const struct call_edge *e, size_t n, struct view_above *up)
{
	struct view_share *s = pool_array(pool, n + 1, sizeof *s);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (!e[i].insns_known || e[i].from == function || !checked_add(&sum, e[i].insns))
			return;
		s[i] = (struct view_share){e[i].from, e[i].insns};
	}
	if (f->caller[function] || sum != f->all->at[function].counts->insns)
		return;
	up->share = s;
	up->nshare = n;
}

static void
judge(struct finder *f, struct pool *pool, uint32_t function, const struct call_edge *e, size_t n, struct view_above *up)
{
	const struct counts *c = f->all->at[function].counts;
	uint32_t others = 0;
	uint64_t calls = 0;
	bool known = c->activations_known;

	*up = (struct view_above){.caller = VIEW_NO_CALLER};
	for (size_t i = 0; i < n; i++) {
		known &= e[i].times_known && checked_add(&calls, e[i].times);
		if (e[i].from == function)
			continue;
		others++;
		up->caller = e[i].from;
	}
	known &= calls == c->activations;
	up->several = n && (others != 1 || !known);
	if (!up->several)
		return;
	up->caller = VIEW_NO_CALLER;
	if (known)
		share(f, pool, function, e, n, up);
}

struct view_above *
view_above(struct pool *pool, struct run *run, const struct view_functions *all, const struct view_listing *l)
{
	struct view_above *up = pool_array(pool, all->n + 1, sizeof *up);
	struct finder f = {.run = run, .all = all, .first = xcalloc(run->binary.n + 1, sizeof *f.first),
	                   .caller = xcalloc(all->n + 1, sizeof *f.caller)};
	size_t at = 0;

	number_functions(&f);
	find_edges(&f, l);
	sum_edges(&f);
	for (uint32_t i = 0; i < all->n; i++) {
		size_t n = 0;

		while (at + n < f.edge.n && f.edge.at[at + n].to == i)
			n++;
		judge(&f, pool, i, f.edge.at + at, n, &up[i]);
		at += n;
	}
	free(f.first);
	free(f.caller);
	free(f.edge.at);
	strmap_free(&f.name);
	return up;
}
