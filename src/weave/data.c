/* SPDX-License-Identifier: MIT */
/* Which registers are written down, so that the address of each load and store can be computed (Ball & Larus 1994, section 6.2).
 * After a record of a register its value is known. Values that are computed from it by additions and the like (struct machine,
 * compute) are known too, until their register is overwritten by an unknown value. Where paths meet, a register is known if it is
 * known on all of them. If an access needs a register that is not known, a record of it comes just before the access. */
#include "format/trace.h"
#include "weave/internal.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t ALL = (1u << REG_VALUES) - 1;
/* The procedure's stack pointer may be written down at one of its first so many instructions. */
enum { BEGINNING = 16 };

struct finder {
	const struct unit *u;
	struct woven *w;
	uint32_t *in;            /* by vertex: registers that are known */
	bool places;             /* add records of what is missing */
};

static const uint8_t *
bytes_of(const struct finder *f, uint32_t block, const struct insn *in)
{
	const struct code *c = f->w->proc->parts.at[f->w->proc->block_text.at[block].part].code;

	return f->u->object->sections[c->section].data + in->off;
}

static void
compute(const struct finder *f, uint32_t block, uint32_t i, struct reg_values *r)
{
	const struct insn *in = woven_insn(f->w, block, i);

	f->u->machine->compute(NULL, bytes_of(f, block, in), in->len, in->off, r);
}

/* ---- places ---- */

/* Does the register have the same value before both instructions of the block? */
static bool
stays(const struct finder *f, uint32_t block, uint32_t from, uint32_t to, uint32_t reg)
{
	struct reg_values r = {.known = 1u << reg};

	r.v[reg] = 1ull << (REG_VALUE_BITS - 2);
	for (uint32_t i = from; i < to; i++)
		compute(f, block, i, &r);
	return r.known >> reg & 1 && r.v[reg] == 1ull << (REG_VALUE_BITS - 2);
}

/* Registers in which measures keep something are not free anywhere. */
static struct site
site_at(const struct finder *f, uint32_t block, uint32_t i)
{
	const struct woven *w = f->w;
	struct site s = place_between(f->u, w, block, i, i);

	s.live.regs_live |= w->held | w->bases[BASE_COUNTERS] | w->bases[BASE_NUMBERS] | w->bases[BASE_CELLS];
	return s;
}

static void
add_record(struct finder *f, struct site s, uint8_t what, struct data_op op)
{
	struct data_record r = {.site = s, .block = s.block, .insn = s.insn, .what = what, .op = op};

	r.place = (struct path_place){.live = s.live, .reserved = f->u->reserved, .reg = f->u->machine->sp,
		.below = f->w->paths->below};
	VEC_PUSH(f->w->data, r);
}

/* Adds a record of a register, as near before the instruction as can be. False: there is no place. */
static bool
record_reg(struct finder *f, uint32_t block, uint32_t i, uint32_t reg)
{
	uint32_t first = f->w->proc->block_text.at[block].first;
	struct site s = {0};

	for (uint32_t at = i + 1; at-- > first;) {
		if (at < i && !stays(f, block, at, i, reg))
			return false;
		s = site_at(f, block, at);
		if (s.where != SITE_NONE)
			break;
	}
	if (s.where == SITE_NONE)
		return false;
	if (f->places)
		add_record(f, s, (uint8_t)reg, (struct data_op){.base = (int8_t)reg, .index = -1, .scale = 1});
	return true;
}

/* ---- what is needed ---- */

static uint32_t
bit(int reg)
{
	return reg < 0 ? 0 : 1u << reg;
}

/* If an access needs two registers and neither is known, the sum that is accessed is written down. False: there is no place. */
static bool
record_sum(struct finder *f, uint32_t block, uint32_t i, const struct access *a, uint32_t which)
{
	struct site s = site_at(f, block, i);

	if (s.where == SITE_NONE)
		return false;
	if (f->places)
		add_record(f, s, (uint8_t)(CHORD_DATA_SUM + which),
		           (struct data_op){.base = a->base, .index = a->index, .scale = a->scale, .narrow = a->narrow});
	return true;
}

static void
need(struct finder *f, uint32_t block, uint32_t i, const struct access *a, uint32_t which, struct reg_values *r)
{
	uint32_t missing = bit(a->base) | bit(a->index) | bit(a->count) |
	                   (a->segment == ACCESS_FS ? 1u << REG_THREAD : 0);

	if (a->unknown)
		return;
	missing &= ~r->known;
	if (a->base >= 0 && a->index >= 0 && a->base != a->index && missing == (bit(a->base) | bit(a->index)) && !a->segment &&
	    record_sum(f, block, i, a, which))
		return;
	for (; missing; missing &= missing - 1) {
		uint32_t reg = (uint32_t)__builtin_ctz(missing);

		if (record_reg(f, block, i, reg))
			r->known |= 1u << reg;
	}
}

/* ---- what is known ---- */

/* Is it a call that may return twice? At its second return the registers have their values of the first. */
static bool
returns_twice(const struct finder *f, uint32_t block, const struct insn *in)
{
	static const char *const names[] = {"setjmp", "_setjmp", "__setjmp", "sigsetjmp", "__sigsetjmp", "getcontext",
		"vfork", "savectx", "swapcontext"};
	const char *name;

	if (!insn_is_call(in))
		return false;
	name = woven_callee(f->u, f->w->proc->parts.at[f->w->proc->block_text.at[block].part].code, in, f->w->proc);
	for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static uint32_t
through_block(struct finder *f, uint32_t block)
{
	const struct block_text *b = &f->w->proc->block_text.at[block];
	struct reg_values r = {.known = f->in[block]};
	struct access a[ACCESSES_MOST];

	for (uint32_t i = b->first; i < b->last; i++) {
		const struct insn *in = woven_insn(f->w, block, i);
		unsigned n = f->u->machine->accesses(NULL, bytes_of(f, block, in), in->len, a);

		for (unsigned k = 0; k < n; k++)
			need(f, block, i, &a[k], k, &r);
		compute(f, block, i, &r);
		if (in->attr & INSN_SKIPS || returns_twice(f, block, in))
			r.known = 0;
	}
	return calls_within(f->w, block) ? 0 : r.known;
}

static uint32_t
along(const struct finder *f, uint32_t e, uint32_t out)
{
	const struct edge *d = &f->w->proc->graph->edge[e];

	switch (f->w->proc->arcs.at[e].kind) {
	case CHORD_EDGE_ENTRY: return f->w->begins && !d->to && !e ? 1u << f->u->machine->sp : 0;
	case CHORD_EDGE_FALL: case CHORD_EDGE_TAKEN: case CHORD_EDGE_JUMP: case CHORD_EDGE_INDIRECT: return out;
	default: return 0;
	}
}

/* Passes on what is known behind a vertex; marks the targets where less is known than before. */
static bool
pass_on(struct finder *f, uint32_t v, bool *again)
{
	const struct graph *g = f->w->proc->graph;
	uint32_t out = v < f->w->proc->blocks.n ? through_block(f, v) : f->in[v];
	bool any = false;

	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++) {
		uint32_t e = g->out[i], to = g->edge[e].to, known;

		if (e >= f->w->proc->arcs.n)
			continue;
		known = f->in[to] & along(f, e, out);
		if (known != f->in[to])
			any = again[to] = true;
		f->in[to] = known;
	}
	return any;
}

/* Only the vertices before which less is known than at their last visit are visited again. */
static void
find_known(struct finder *f)
{
	uint32_t n = f->w->proc->graph->nvert;
	bool *again = pool_array(f->u->pool, n, sizeof *again), any = true;

	for (uint32_t v = 0; v < n; v++) {
		f->in[v] = ALL;
		again[v] = true;
	}
	while (any) {
		any = false;
		for (uint32_t v = 0; v < n; v++)
			if (again[v]) {
				again[v] = false;
				any |= pass_on(f, v, again);
			}
	}
}

/* ---- the beginning ---- */

static uint32_t
ways_in(const struct proc_text *p)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < p->arcs.n; e++)
		n += proc_lands(p, p->graph->edge[e].to) == 0;
	return n;
}

/* The site at the procedure's beginning where the stack pointer is written down. */
static struct site
find_start(struct finder *f)
{
	const struct block_text *b = &f->w->proc->block_text.at[0];
	struct reg_values r = {.known = 1u << f->u->machine->sp};
	struct site s = {0};

	if (ways_in(f->w->proc) != 1 || f->w->proc->graph->edge[0].to)
		return s;
	for (uint32_t i = b->first; i < b->last && i < b->first + BEGINNING; i++) {
		s = site_at(f, 0, i);
		f->w->begins_at = (int64_t)(r.v[f->u->machine->sp] << (64 - REG_VALUE_BITS)) >> (64 - REG_VALUE_BITS);
		if (s.where != SITE_NONE || insn_is_call(woven_insn(f->w, 0, i)))
			break;
		compute(f, 0, i, &r);
	}
	if (!(r.known >> f->u->machine->sp & 1))
		s.where = SITE_NONE;
	return s;
}

static int
by_place(const void *a, const void *b)
{
	const struct data_record *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	if (x->insn != y->insn)
		return x->insn < y->insn ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void
number_records(struct woven *w)
{
	for (uint32_t i = 0; i < w->data.n; i++)
		w->data.at[i].number = i;
	if (w->data.n)
		qsort(w->data.at, w->data.n, sizeof *w->data.at, by_place);
	for (uint32_t i = 0; i < w->data.n; i++) {
		struct data_record *r = &w->data.at[i];

		r->number = i;
		r->op.check = w->begins && !i ? CHORD_DATA_BEGINS : i % CHORD_DATA_BEGINS;
		r->site.probes = CHORD_SET(DATA);
		r->site.data = r;
	}
}

void
place_data(const struct unit *u, struct woven *w)
{
	struct finder f = {.u = u, .w = w, .in = pool_array(u->pool, w->proc->graph->nvert, sizeof *f.in)};
	struct site start = find_start(&f);

	w->begins = start.where != SITE_NONE;
	if (w->begins)
		add_record(&f, start, u->machine->sp, (struct data_op){.base = (int8_t)u->machine->sp, .index = -1, .scale = 1});
	find_known(&f);
	f.places = true;
	for (uint32_t b = 0; b < w->proc->blocks.n; b++)
		through_block(&f, b);
	number_records(w);
}
