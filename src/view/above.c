/* SPDX-License-Identifier: MIT */
/* Which functions called which others, and which functions have a single caller. */
#include "view/stacks.h"

#include <stdlib.h>
#include <string.h>

struct finder {
	struct run *run;
	const struct view_functions *all;
	uint32_t *first;         /* by binary: its first function */
	struct strmap name;      /* functions by name; UINT32_MAX for a name that several have */
	struct view_call_graph *graph;
	bool *leaving;           /* the result of leaving() for one function */
	uint32_t leaving_of;
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
	struct view_call_edge e = {number_of(f, in->binary, in->proc), to, calls, 0, true, false};

	f->graph->outside[e.from] |= to == VIEW_NO_CALLER;
	if (to == VIEW_NO_CALLER)
		return;
	e.insns_known = c && view_call_sum(f->run, in, c, "instructions", &e.insns);
	VEC_PUSH(f->graph->edge, e);
}

/* A call through a pointer whose callees were counted. If there are several, it is not known what each executed. */
static void
add_callees(struct finder *f, const struct view_insn *in, const struct call *c)
{
	struct view_call row = {.calls = {in->count, in->count}};
	uint64_t measured = 0;

	view_callees(f->run, profile_module(f->run->sum, image_build_id(in->binary->image)), in->proc,
	             (uint32_t)(c - in->proc->call), &row);
	for (size_t i = 0; i < row.nto; i++) {
		const struct proc *p = row.to[i].proc;

		for (size_t k = 0; k < f->run->binary.n && p; k++) {
			const struct binary *bin = &f->run->binary.at[k];

			if (p >= bin->map.proc && p < bin->map.proc + bin->map.nproc)
				add_edge(f, in, number_of(f, bin, p), row.to[i].calls, row.nto == 1 ? c : NULL);
		}
		measured += p ? row.to[i].calls : 0;
	}
	f->graph->outside[number_of(f, in->binary, in->proc)] |= measured != in->count;
}

/* By vertex of a function: did control leave the procedure after it, or may it have? */
static const bool *
leaving(struct finder *f, uint32_t function)
{
	const struct proc *p = f->all->at[function].proc;
	const struct counts *c = f->all->at[function].counts;

	if (f->leaving && f->leaving_of == function)
		return f->leaving;
	free(f->leaving);
	f->leaving = xcalloc(p->nvert + 1, sizeof *f->leaving);
	f->leaving_of = function;
	for (uint32_t e = 0; e < p->narc; e++)
		f->leaving[p->arc[e].from] |= p->arc[e].to == PROC_EXIT(p) && (!c->arc_known[e] || c->arc[e]);
	return f->leaving;
}

/* Adds the sum of a call: everything that ran until it returned. */
static void
add_sum(struct finder *f, const struct view_insn *in, const struct call *c, bool jump)
{
	uint32_t from = number_of(f, in->binary, in->proc);
	struct view_call_graph *g = f->graph;
	uint64_t n = 0;

	g->jumps[from] |= jump;
	g->sums_known[from] &= !jump && c && view_call_sum(f->run, in, c, "instructions", &n) && checked_add(&g->sums[from], n);
}

static void
add_insn(struct finder *f, const struct view_insn *in)
{
	struct callee to = view_insn_callee(in);
	const struct call *c = view_call_at(in);
	uint32_t callee = VIEW_NO_CALLER, from = number_of(f, in->binary, in->proc);
	bool jump = in->kind == CHORD_INSN_JUMP;

	if (jump && !to.n && !leaving(f, from)[in->block])
		return;
	add_sum(f, in, c, jump);
	if (to.n)
		callee = to.one ? number_named(f, to.one) : number_at(f, in->binary, to.symbol->addr);
	if (in->kind == CHORD_INSN_ICALL && c && c->flags & CHORD_CALL_POINTER)
		add_callees(f, in, c);
	else
		add_edge(f, in, callee, in->count, c);
	f->graph->calls[from] = true;
}

/* Control may also leave by something that is neither a call nor a jump to one place: a table of tail calls, a branch, or the end
 * of the code. */
static void
find_other_ways(struct finder *f)
{
	for (uint32_t i = 0; i < f->all->n; i++) {
		const struct proc *p = f->all->at[i].proc;

		for (uint32_t v = 0; v < p->nvert && !f->all->at[i].why; v++) {
			const struct block *b = v < p->nblock ? &p->block[v] : NULL;
			enum chord_insn last = b && b->ninsn ? (enum chord_insn)(b->insn[b->ninsn - 1] >> 4) : CHORD_INSN_OTHER;
			bool plain = last == CHORD_INSN_CALL || last == CHORD_INSN_ICALL || last == CHORD_INSN_JUMP ||
				last == CHORD_INSN_RET || last == CHORD_INSN_TRAP || last == CHORD_INSN_SYSCALL;

			if (v == PROC_ENTRY(p) || v == PROC_EXIT(p) || plain || !leaving(f, i)[v])
				continue;
			f->graph->calls[i] = f->graph->outside[i] = f->graph->jumps[i] = true;
			f->graph->sums_known[i] = false;
		}
	}
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
			f->graph->calls[number_of(f, in->binary, in->proc)] = true;
	}
}

/* Edges of the same pair are added up. */
static int
by_callee(const void *a, const void *b)
{
	const struct view_call_edge *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static void
sum_edges(struct finder *f)
{
	size_t n = 0;

	if (f->graph->edge.n)
		qsort(f->graph->edge.at, f->graph->edge.n, sizeof *f->graph->edge.at, by_callee);
	for (size_t i = 0; i < f->graph->edge.n; i++) {
		struct view_call_edge *e = n ? &f->graph->edge.at[n - 1] : NULL;

		if (e && !by_callee(e, &f->graph->edge.at[i])) {
			e->times_known &= checked_add(&e->times, f->graph->edge.at[i].times);
			e->insns_known &= f->graph->edge.at[i].insns_known && checked_add(&e->insns, f->graph->edge.at[i].insns);
		} else {
			f->graph->edge.at[n++] = f->graph->edge.at[i];
		}
	}
	f->graph->edge.n = n;
}

/* Finds the callers' shares, if all of them are known and they add up to the whole. */
static void
share(const struct view_call_graph *g, const struct view_functions *all, struct pool *pool, uint32_t function,
      const struct view_call_edge *e, size_t n, struct view_above *up)
{
	struct view_share *s = pool_array(pool, n + 1, sizeof *s);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (!e[i].insns_known || e[i].from == function || !checked_add(&sum, e[i].insns))
			return;
		s[i] = (struct view_share){e[i].from, e[i].insns};
	}
	if (g->calls[function] || sum != all->at[function].counts->insns)
		return;
	up->share = s;
	up->nshare = n;
}

static void
judge(const struct view_call_graph *g, const struct view_functions *all, struct pool *pool, uint32_t function,
      const struct view_call_edge *e, size_t n, struct view_above *up)
{
	const struct counts *c = all->at[function].counts;
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
		share(g, all, pool, function, e, n, up);
}

void
view_call_graph(struct view_call_graph *g, struct run *run, const struct view_functions *all, const struct view_listing *l)
{
	struct finder f = {.run = run, .all = all, .first = xcalloc(run->binary.n + 1, sizeof *f.first), .graph = g};

	*g = (struct view_call_graph){
		.calls = xcalloc(all->n + 1, sizeof *g->calls),
		.outside = xcalloc(all->n + 1, sizeof *g->outside),
		.sums = xcalloc(all->n + 1, sizeof *g->sums),
		.sums_known = xcalloc(all->n + 1, sizeof *g->sums_known),
		.jumps = xcalloc(all->n + 1, sizeof *g->jumps),
	};
	memset(g->sums_known, true, all->n);
	number_functions(&f);
	find_edges(&f, l);
	find_other_ways(&f);
	sum_edges(&f);
	free(f.first);
	free(f.leaving);
	strmap_free(&f.name);
}

void
view_call_graph_free(struct view_call_graph *g)
{
	free(g->edge.at);
	free(g->calls);
	free(g->outside);
	free(g->sums);
	free(g->sums_known);
	free(g->jumps);
}

struct view_above *
view_above(struct pool *pool, struct run *run, const struct view_functions *all, const struct view_listing *l)
{
	struct view_above *up = pool_array(pool, all->n + 1, sizeof *up);
	struct view_call_graph g;
	size_t at = 0;

	view_call_graph(&g, run, all, l);
	for (uint32_t i = 0; i < all->n; i++) {
		size_t n = 0;

		while (at + n < g.edge.n && g.edge.at[at + n].to == i)
			n++;
		judge(&g, all, pool, i, g.edge.at + at, n, &up[i]);
		at += n;
	}
	view_call_graph_free(&g);
	return up;
}
