/* SPDX-License-Identifier: MIT */
/* Checks that each base register has its address on every path through the procedure, and was dead where it is loaded. The check
 * uses only the code that will be emitted and what instructions do, and nothing that base.c has found. */
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
	uint64_t *in;            /* by vertex: registers with the right address, 16 bits for each enum base_of */
	bool final, fault;       /* faults are looked for; there is one */
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
bit_of(uint8_t base, unsigned what)
{
	return UINT64_C(1) << (base - 1) << 16 * what;
}

/* The registers of a mask, whatever they have the address of. */
static uint64_t
bits_of_all(uint16_t mask)
{
	return mask * UINT64_C(0x0001000100010001);
}

/* The registers with the right address after a site's code. */
static uint64_t
pass_site(struct check *c, const struct site *s, uint64_t right)
{
	for (unsigned what = 0; what < BASES_OF; what++) {
		if (!s->base[what])
			continue;
		if (s->load >> what & 1) {
			c->fault |= c->final && s->live.regs_live >> (s->base[what] - 1) & 1;
			right &= ~bits_of_all((uint16_t)(1u << (s->base[what] - 1)));
			right |= bit_of(s->base[what], what);
		}
		c->fault |= c->final && !(right & bit_of(s->base[what], what));
		c->fault |= what == BASE_CELLS && s->of_cells && s->live.flags_live;
	}
	return right;
}

static uint64_t
pass_block(struct check *c, uint32_t v)
{
	const struct block_text *k = &c->w->proc->block_text.at[v];
	uint64_t right = c->in[v];
	uint32_t next = c->first[v];

	for (uint32_t i = k->first; i < k->last; i++) {
		const struct insn *in = woven_insn(c->w, v, i);

		for (; next < c->first[v + 1] && c->at[next].site->insn == i; next++)
			right = pass_site(c, c->at[next].site, right);
		right &= ~bits_of_all((uint16_t)(in->regs_kill | in->regs_read));
		if (insn_is_call(in) || in->cls == CHORD_INSN_SYSCALL)
			right = 0;
	}
	c->fault |= next != c->first[v + 1];
	return right;
}

static uint64_t
pass_edge(struct check *c, uint32_t e, uint64_t right)
{
	const struct site *s = &c->w->edge[e];

	if (s->where != SITE_BLOCK && s->where != SITE_NONE && site_used(s))
		right = pass_site(c, s, right);
	for (size_t i = 0; i < c->w->loads.n; i++)
		if (c->w->loads.at[i].edge == e && c->w->loads.at[i].site.where != SITE_BLOCK)
			right = pass_site(c, &c->w->loads.at[i].site, right);
	return right;
}

/* Returns true if something changed. */
static bool
pass_all(struct check *c)
{
	bool changed = false;

	for (uint32_t v = 0; v < c->g->nvert; v++) {
		uint64_t out = v < c->w->proc->blocks.n ? pass_block(c, v) : 0;

		for (uint32_t i = c->g->out_at[v]; i < c->g->out_at[v + 1]; i++) {
			uint32_t e = c->g->out[i], to = c->g->edge[e].to;
			uint64_t was = c->in[to];

			if (e >= c->w->proc->arcs.n)
				continue;
			c->in[to] &= pass_edge(c, e, out);
			changed |= c->in[to] != was;
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
		c.in[v] = v == w->proc->entry || v == w->proc->hub ? 0 : UINT64_MAX;
	while (pass_all(&c))
		;
	c.final = true;
	pass_all(&c);
	return !c.fault;
}
