/* SPDX-License-Identifier: MIT */
/* data/calls.js: which function calls which, and how often, as far as it is known from counts of direct calls, and of calls through
 * pointers where callees were recorded. Also what ran between call and return, if that was summed (-fchord=calls). */
#include "html/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum way { WAY_CALL, WAY_JUMP, WAY_POINTER };

/* Calls from one function to another. */
struct link {
	uint32_t from, to;       /* to: UINT32_MAX: no measured function; then `name` is set */
	const char *name;
	enum way way;
	bool known, summed;      /* known: count is known; summed: insns is known */
	uint64_t count, insns, sites;
};

struct links {
	struct pages *p;
	struct link *at;
	size_t n, cap;
};

static int
by_ends(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->way != y->way)
		return x->way < y->way ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* If one number is not known, or the sum does not fit, the sum is not known. */
static void
join(struct link *sum, const struct link *l)
{
	sum->known &= l->known && checked_add(&sum->count, l->count);
	sum->summed &= l->summed && checked_add(&sum->insns, l->insns);
	sum->sites += l->sites;
}

/* Calls that never ran have sums, too: the sums are 0. */
static bool
sum_of(struct links *all, const struct view_insn *in, const struct call *call, uint64_t *n)
{
	*n = 0;
	if (!call || !call->sum)
		return false;
	return (in->known && !in->count) || view_call_sum(all->p->run, in, call, "instructions", n);
}

static uint32_t
number_of(struct pages *p, const struct proc *proc)
{
	for (size_t k = 0; k < p->run->binary.n; k++) {
		const struct binary *bin = &p->run->binary.at[k];

		if (proc >= bin->map.proc && proc < bin->map.proc + bin->map.nproc)
			return pages_function(p, bin, (uint32_t)(proc - bin->map.proc));
	}
	return UINT32_MAX;
}

/* A call through a pointer. In some builds its callees are counted. What ran meanwhile is only known for all of them together. */
static void
add_pointer(struct links *all, const struct view_insn *in, const struct link *base)
{
	const struct binary *bin = in->binary;
	const struct call *call = view_call_at(in);
	struct view_call row = {.calls = {in->count, in->count}};

	if (!in->known || !call || !(call->flags & CHORD_CALL_POINTER)) {
		VEC_PUSH(*all, *base);
		return;
	}
	view_callees(all->p->run, profile_module(all->p->run->sum, image_build_id(bin->image)), in->proc,
	             (uint32_t)(call - in->proc->call), &row);
	for (size_t i = 0; i < row.nto; i++) {
		struct link l = *base;

		l.name = row.to[i].name;
		l.to = row.to[i].proc ? number_of(all->p, row.to[i].proc) : UINT32_MAX;
		l.count = row.to[i].calls;
		l.summed &= row.nto == 1;
		VEC_PUSH(*all, l);
	}
}

static void
add_insn(struct links *all, const struct view_insn *in)
{
	struct callee c = view_insn_callee(in);
	struct link l = {
		.from = pages_function(all->p, in->binary, in->proc_number), .to = pages_callee(all->p, in->binary, &c),
		.way = in->kind == CHORD_INSN_JUMP ? WAY_JUMP : c.n ? WAY_CALL : WAY_POINTER,
		.known = in->known, .count = in->count, .sites = 1,
	};

	l.name = c.n ? callee_name(all->p->run->pool, &c, 0) : in->kind == CHORD_INSN_ICALL ? "(through a pointer)" : "(not known)";
	l.summed = in->kind != CHORD_INSN_JUMP && sum_of(all, in, view_call_at(in), &l.insns);
	if (in->kind == CHORD_INSN_ICALL && !c.n)
		add_pointer(all, in, &l);
	else
		VEC_PUSH(*all, l);
}

/* Jumps within the procedure are not calls. */
static bool
is_call(const struct view_insn *in)
{
	struct callee c;

	if (in->kind == CHORD_INSN_CALL || in->kind == CHORD_INSN_ICALL)
		return true;
	if (in->kind != CHORD_INSN_JUMP)
		return false;
	c = view_insn_callee(in);
	return c.n;
}

static void
join_equal(struct links *all)
{
	size_t n = 0;

	if (all->n)
		qsort(all->at, all->n, sizeof *all->at, by_ends);
	for (size_t i = 0; i < all->n; i++)
		if (n && !by_ends(&all->at[n - 1], &all->at[i]))
			join(&all->at[n - 1], &all->at[i]);
		else
			all->at[n++] = all->at[i];
	all->n = n;
}

/* [from, to or null, NAME, way, calls, instructions meanwhile, sites] */
static void
put_link(struct buf *out, const struct link *l)
{
	static const char *const way[] = {"call", "jump", "pointer"};

	script_next(out);
	buf_printf(out, "[%" PRIu32 ",", l->from);
	script_known(out, l->to, l->to != UINT32_MAX);
	buf_char(out, ',');
	if (l->to == UINT32_MAX)
		script_symbol(out, l->name);
	else
		buf_str(out, "null");
	buf_printf(out, ",\"%s\",", way[l->way]);
	script_known(out, l->count, l->known);
	buf_char(out, ',');
	script_known(out, l->insns, l->summed);
	buf_printf(out, ",%" PRIu64 "]", l->sites);
}

void
pages_calls(struct pages *p)
{
	struct links all = {.p = p};
	struct buf out = {0};

	for (size_t i = 0; i < p->list.insn.n; i++)
		if (is_call(&p->list.insn.at[i]))
			add_insn(&all, &p->list.insn.at[i]);
	join_equal(&all);
	script_begin(&out, "calls");
	buf_char(&out, '[');
	for (size_t i = 0; i < all.n; i++)
		put_link(&out, &all.at[i]);
	buf_char(&out, ']');
	script_end(&out);
	folder_write(p->to, "data/calls.js", &out);
	buf_free(&out);
	free(all.at);
}
