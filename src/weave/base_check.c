/* SPDX-License-Identifier: MIT */
/* Checks that each base register has its address on every path through the procedure, and was dead where it is loaded, or is lent
 * there and comes back before the program needs it. The check uses only the code that will be emitted and what instructions do, and
 * nothing that base.c has found. */
#include "weave/internal.h"

#include <stdlib.h>

/* A site in a block, in the order in which code is emitted. */
struct placed {
	const struct site *site;
	uint32_t seq;
};

struct check {
	const struct unit *u;
	const struct woven *w;
	const struct graph *g;
	struct placed *at;       /* sorted by block, instruction, seq */
	uint32_t n;
	uint32_t *first;         /* by block: in at[] */
	struct regs *in;         /* by vertex */
	bool final, fault;       /* faults are looked for; there is one */
};

/* What is known of registers at a place. */
struct regs {
	uint64_t right;          /* those with the right address, 16 bits for each enum base_of; then those that are lent */
	uint16_t lent;           /* those that may be lent, and that the program still needs */
};

static int
sites_by_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->site->block != y->site->block)
		return x->site->block < y->site->block ? -1 : 1;
	if (x->site->insn != y->site->insn)
		return x->site->insn < y->site->insn ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static void
add_placed(struct check *c, const struct site *s)
{
	if (s->where == SITE_BLOCK && site_used(s)) {
		c->at[c->n] = (struct placed){s, c->n};
		c->n++;
	}
}

static void
add_loads(struct check *c, bool last)
{
	for (size_t i = 0; i < c->w->loads.n; i++)
		if (c->w->loads.at[i].last == last)
			add_placed(c, &c->w->loads.at[i].site);
}

static void
add_edges(struct check *c, bool in)
{
	for (uint32_t e = 0; e < c->w->proc->arcs.n; e++)
		if ((c->g->edge[e].from != c->w->edge[e].block) == in)
			add_placed(c, &c->w->edge[e]);
}

/* Adds all sites in the order of emit_sites(). */
static void
find_placed(struct check *c)
{
	const struct woven *w = c->w;
	uint32_t nblock = (uint32_t)w->proc->blocks.n;

	c->at = pool_array(c->u->pool, 2 * w->proc->arcs.n + nblock + w->call_free.n + w->loads.n, sizeof *c->at);
	c->first = pool_array(c->u->pool, nblock + 1, sizeof *c->first);
	add_loads(c, false);
	add_edges(c, true);
	add_edges(c, false);
	for (uint32_t e = 0; e < w->proc->arcs.n && w->early; e++)
		add_placed(c, &w->early[e]);
	for (uint32_t v = 0; v < nblock; v++)
		add_placed(c, &w->block[v]);
	for (size_t i = 0; i < w->call_free.n; i++)
		add_placed(c, &w->call_free.at[i].site);
	add_loads(c, true);
	if (c->n)
		qsort(c->at, c->n, sizeof *c->at, sites_by_place);
	for (uint32_t i = 0; i < c->n; i++)
		c->first[c->at[i].site->block + 1] = i + 1;
	for (uint32_t v = 0; v < nblock; v++)
		if (c->first[v + 1] < c->first[v])
			c->first[v + 1] = c->first[v];
}

static uint64_t
bit_of(uint8_t reg, unsigned what)
{
	return UINT64_C(1) << (reg - 1) << 16 * what;
}

/* The registers of a mask, whatever they have the address of. */
static uint64_t
bits_of_all(uint16_t mask)
{
	return mask * UINT64_C(0x0001000100010001);
}

/* In a set of registers with right addresses: the register's own value is in its word below the stack pointer. */
enum { IS_LENT = BASES_OF };
_Static_assert(BASES_OF < 4, "16 bits are left");

static void
pass_load(struct check *c, const struct site *s, unsigned what, struct regs *r)
{
	uint16_t bit = (uint16_t)(1u << (s->base[what] - 1));
	bool lends = s->lends >> what & 1;

	c->fault |= c->final && !lends && s->live.regs_live & bit;
	c->fault |= c->final && lends && (r->lent & bit || !c->w->lent[s->base[what] - 1]);
	r->right &= ~bits_of_all(bit);
	r->right |= bit_of(s->base[what], what) | (lends ? bit_of(s->base[what], IS_LENT) : 0);
	r->lent = (uint16_t)(lends ? r->lent | bit : r->lent & ~bit);
}

static void
pass_return(struct check *c, const struct site *s, struct regs *r)
{
	uint16_t bit = (uint16_t)(1u << (s->gets_back - 1));

	c->fault |= c->final && !(r->right & bit_of(s->gets_back, IS_LENT));
	r->right &= ~bits_of_all(bit);
	r->lent &= (uint16_t)~bit;
}

/* Could the code for paths overwrite the word of a register that is lent? */
static bool
overwrites(const struct check *c, const struct path_code *code, uint16_t lent)
{
	uint8_t sp = c->u->machine->sp;
	bool room = false;

	for (unsigned reg = 0; reg < 16; reg++)
		room |= lent >> reg & 1 && c->w->lent[reg] == PATH_ROOM;
	return lent && (code->overwrites || (room && (code->op.from == sp || code->op.to == sp)));
}

/* What a site's code does. */
static void
pass_site(struct check *c, const struct site *s, struct regs *r)
{
	for (unsigned what = 0; what < BASES_OF; what++) {
		if (!s->base[what])
			continue;
		if (s->load >> what & 1)
			pass_load(c, s, what, r);
		c->fault |= c->final && !(r->right & bit_of(s->base[what], what));
		c->fault |= what == BASE_CELLS && s->of_cells && s->live.flags_live;
		c->fault |= what == BASE_NUMBERS && s->turns && s->live.flags_live;
	}
	c->fault |= c->final && s->path && overwrites(c, s->path, r->lent);
	if (s->gets_back)
		pass_return(c, s, r);
}

static void
pass_insn(struct check *c, const struct insn *in, struct regs *r)
{
	bool leaves = insn_is_call(in) || in->cls == CHORD_INSN_SYSCALL;

	c->fault |= c->final && r->lent & (in->regs_kill | in->regs_read);
	c->fault |= c->final && r->lent && (leaves || in->regs_kill >> c->u->machine->sp & 1);
	r->right &= ~bits_of_all((uint16_t)(in->regs_kill | in->regs_read));
	if (leaves)
		r->right = 0;
}

static struct regs
pass_block(struct check *c, uint32_t v)
{
	const struct block_text *k = &c->w->proc->block_text.at[v];
	struct regs r = c->in[v];
	uint32_t next = c->first[v];

	for (uint32_t i = k->first; i < k->last; i++) {
		r.lent &= live_before(c->w->proc, k->part, i).regs_live;
		for (; next < c->first[v + 1] && c->at[next].site->insn == i; next++)
			pass_site(c, c->at[next].site, &r);
		pass_insn(c, woven_insn(c->w, v, i), &r);
	}
	c->fault |= next != c->first[v + 1];
	return r;
}

static void
pass_edge(struct check *c, uint32_t e, struct regs *r)
{
	const struct site *s = &c->w->edge[e];

	if (s->where != SITE_BLOCK && s->where != SITE_NONE && site_used(s))
		pass_site(c, s, r);
	for (size_t i = 0; i < c->w->loads.n; i++)
		if (c->w->loads.at[i].edge == e && c->w->loads.at[i].site.where != SITE_BLOCK)
			pass_site(c, &c->w->loads.at[i].site, r);
	c->fault |= c->final && r->lent && c->g->edge[e].to >= c->w->proc->blocks.n;
}

/* Returns true if something changed. */
static bool
pass_all(struct check *c)
{
	bool changed = false;

	for (uint32_t v = 0; v < c->g->nvert; v++) {
		struct regs out = v < c->w->proc->blocks.n ? pass_block(c, v) : (struct regs){0};

		for (uint32_t i = c->g->out_at[v]; i < c->g->out_at[v + 1]; i++) {
			uint32_t e = c->g->out[i];
			struct regs *to = &c->in[c->g->edge[e].to], was = *to, r = out;

			if (e >= c->w->proc->arcs.n)
				continue;
			pass_edge(c, e, &r);
			to->right &= r.right;
			to->lent |= r.lent;
			changed |= to->right != was.right || to->lent != was.lent;
		}
	}
	return changed;
}

bool
bases_hold(const struct unit *u, const struct woven *w)
{
	struct check c = {.u = u, .w = w, .g = w->proc->graph};

	if (!w->bases[BASE_COUNTERS] && !w->bases[BASE_NUMBERS] && !w->bases[BASE_CELLS])
		return true;
	find_placed(&c);
	c.in = pool_array(u->pool, c.g->nvert, sizeof *c.in);
	for (uint32_t v = 0; v < c.g->nvert; v++)
		c.in[v].right = v == w->proc->entry || v == w->proc->hub ? 0 : UINT64_MAX;
	while (pass_all(&c))
		;
	c.final = true;
	pass_all(&c);
	return !c.fault;
}
