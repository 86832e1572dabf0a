/* SPDX-License-Identifier: MIT */
/* Checks that each base register has its address on every path through the procedure, and was dead where it is loaded, or is lent
 * there and comes back before the program needs it; and that each register that counts was dead where it began, counts for one
 * counter only, and is added to that counter once, before it is used otherwise and before control leaves. The check uses only the
 * code that will be emitted and what instructions do, and nothing that base.c and promote.c have found. */
#include "weave/base.h"

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

/* Places that promotions use: registers by number, then words below the stack pointer. */
enum { REGS = 16, SLOTS = REGS + LENT_MOST };

/* What a register counts, or keeps for one of the program's that counts. */
struct counting {
	uint32_t promotion;      /* its number, plus 1; 0: none */
	int64_t ahead;           /* the program's register less its value at the beginning, less what it has counted times its
	                          * stride */
};

/* In struct counting: control has not come to the place yet; what is counted depends on the way. */
enum { COUNTS_ANY = UINT16_MAX * 2, COUNTS_DIFFER };

/* What is known of registers at a place. */
struct regs {
	uint64_t right;          /* those with the right address, 16 bits for each enum base_of; then those that are lent */
	uint16_t lent;           /* those that may be lent, and that the program still needs */
	struct counting counts[SLOTS];
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
	if (s->where == SITE_BLOCK && (site_used(s) || s->promoted)) {
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

static const struct promotion *
promotion_of(const struct check *c, uint32_t number)
{
	return &c->w->promotions.at[number - 1];
}

static struct counting *
counting_of(const struct check *c, uint32_t number, struct regs *r)
{
	const struct promotion *p = promotion_of(c, number);

	return &r->counts[p->reg ? p->reg - 1u : REGS + (PATH_ROOM - p->below) / 8u];
}

/* Is something counted in a register of the set, or perhaps? */
static bool
any_counts(const struct regs *r, uint16_t set)
{
	bool any = false;

	for (unsigned reg = 0; reg < REGS; reg++)
		any |= set >> reg & 1 && r->counts[reg].promotion && r->counts[reg].promotion != COUNTS_ANY;
	return any;
}

/* In a register or below the stack pointer. */
static bool
all_end(const struct regs *r)
{
	bool any = false;

	for (unsigned k = REGS; k < SLOTS; k++)
		any |= r->counts[k].promotion && r->counts[k].promotion != COUNTS_ANY;
	return !any && !any_counts(r, UINT16_MAX);
}

/* The first of the promotions that share the number of executions under way. */
static uint32_t
group_of(const struct check *c, uint32_t number)
{
	uint32_t twin = promotion_of(c, number)->open;

	return twin ? twin : number;
}

/* Executions are counted once for all promotions that share the number, so all of them have to be in the list. */
static void
check_group(struct check *c, const struct count_code *list, uint32_t group)
{
	uint32_t all = 0, here = 0;

	for (uint32_t k = 1; k <= c->w->promotions.n; k++)
		all += group_of(c, k) == group;
	for (; list; list = list->next)
		here += group_of(c, list->promotion) == group;
	c->fault |= all != here;
}

static void
check_groups(struct check *c, const struct count_code *list)
{
	for (const struct count_code *k = list; k && c->final; k = k->next)
		check_group(c, list, group_of(c, k->promotion));
}

/* Is something kept so many bytes below the stack pointer? */
static bool
is_word_used(const struct check *c, uint8_t below, const struct regs *r)
{
	uint32_t promotion = r->counts[REGS + (PATH_ROOM - below) / 8u].promotion;
	bool used = promotion && promotion != COUNTS_ANY;

	for (unsigned reg = 0; reg < REGS; reg++)
		used |= r->lent >> reg & 1 && c->w->lent[reg] == below;
	return used;
}

/* Could the code for paths overwrite the word of a register that is lent, or one that is kept for a promotion? */
static bool
overwrites(const struct check *c, const struct path_code *code, const struct regs *r)
{
	uint8_t sp = c->u->machine->sp;

	for (uint8_t k = 0; k < LENT_MOST; k++)
		if (is_word_used(c, (uint8_t)(PATH_ROOM - 8 * k), r) &&
		    (code->overwrites || (!k && (code->op.from == sp || code->op.to == sp))))
			return true;
	return false;
}

/* Is this promotion counted here, and does its register of the program stand where the code takes it to be? */
static void
pass_end(struct check *c, const struct site *s, const struct count_code *code, struct regs *r)
{
	const struct promotion *p = promotion_of(c, code->promotion);
	struct counting *k = counting_of(c, code->promotion, r);
	uint16_t temp = (uint16_t)(code->temp ? 1u << (code->temp - 1) : 0);

	if (c->final && k->promotion != COUNTS_ANY)
		c->fault |= k->promotion != code->promotion || (p->var && (k->ahead != code->more || s->live.flags_live));
	c->fault |= c->final && (any_counts(r, temp) || r->lent & temp || (s->live.regs_live & temp && !code->scratch) ||
	                         (!p->reg && !temp) || (code->scratch && is_word_used(c, code->scratch, r)));
	r->right &= ~bits_of_all(temp);
	*k = (struct counting){0};
}

static void
pass_ends(struct check *c, const struct site *s, struct regs *r)
{
	check_groups(c, s->ends);
	for (const struct count_code *code = s->ends; code; code = code->next)
		pass_end(c, s, code, r);
}

static void
pass_begins(struct check *c, const struct site *s, struct regs *r)
{
	check_groups(c, s->begins);
	for (const struct count_code *code = s->begins; code; code = code->next) {
		const struct promotion *p = promotion_of(c, code->promotion);
		struct counting *k = counting_of(c, code->promotion, r);
		uint16_t bit = (uint16_t)(p->reg ? 1u << (p->reg - 1) : 0);

		c->fault |= c->final && k->promotion && k->promotion != COUNTS_ANY;
		c->fault |= c->final && ((s->live.regs_live | r->lent) & bit || (!p->reg && (s->live.no_stack || code->more)));
		*k = (struct counting){code->promotion, -code->more};
		r->right &= ~bits_of_all(bit);
	}
}

/* The site counts for a promotion. */
static void
pass_promoted(struct check *c, const struct site *s, struct regs *r)
{
	struct counting *k = counting_of(c, s->promoted, r);

	c->fault |= c->final && k->promotion != s->promoted && k->promotion != COUNTS_ANY;
	k->ahead -= promotion_of(c, s->promoted)->var ? promotion_of(c, s->promoted)->stride : 0;
}

/* What an instruction does to the program's registers that count. */
static void
pass_moves(struct check *c, uint32_t v, uint32_t i, struct regs *r)
{
	for (unsigned k = 0; k < SLOTS; k++) {
		const struct promotion *p;
		int64_t n;

		if (!r->counts[k].promotion || r->counts[k].promotion >= COUNTS_ANY)
			continue;
		p = promotion_of(c, r->counts[k].promotion);
		if (p->var) {
			c->fault |= !promote_moves(c->u, c->w, v, i, (uint8_t)(p->var - 1), &n);
			r->counts[k].ahead += n;
		}
		c->fault |= !p->reg && woven_insn(c->w, v, i)->regs_kill >> c->u->machine->sp & 1;
	}
}

/* What a site's code does. */
static void
pass_site(struct check *c, const struct site *s, struct regs *r)
{
	pass_ends(c, s, r);
	if (s->promoted)
		pass_promoted(c, s, r);
	for (unsigned what = 0; what < BASES_OF; what++) {
		if (!s->base[what])
			continue;
		if (s->load >> what & 1)
			pass_load(c, s, what, r);
		c->fault |= c->final && !(r->right & bit_of(s->base[what], what));
		c->fault |= c->final && any_counts(r, (uint16_t)(1u << (s->base[what] - 1)));
		c->fault |= what == BASE_CELLS && s->of_cells && s->live.flags_live;
		c->fault |= what == BASE_NUMBERS && s->turns && s->live.flags_live;
	}
	c->fault |= c->final && s->path && overwrites(c, s->path, r);
	if (s->gets_back)
		pass_return(c, s, r);
	pass_begins(c, s, r);
}

static void
pass_insn(struct check *c, const struct insn *in, struct regs *r)
{
	bool leaves = insn_is_call(in) || in->cls == CHORD_INSN_SYSCALL;

	c->fault |= c->final && r->lent & (in->regs_kill | in->regs_read);
	c->fault |= c->final && r->lent && (leaves || in->regs_kill >> c->u->machine->sp & 1);
	c->fault |= c->final && (leaves ? !all_end(r) : any_counts(r, (uint16_t)(in->regs_kill | in->regs_read)));
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
		pass_moves(c, v, i, &r);
		pass_insn(c, woven_insn(c->w, v, i), &r);
	}
	c->fault |= next != c->first[v + 1];
	return r;
}

static void
pass_edge(struct check *c, uint32_t e, struct regs *r)
{
	const struct site *s = &c->w->edge[e];

	if (s->where != SITE_BLOCK && s->where != SITE_NONE && (site_used(s) || s->promoted))
		pass_site(c, s, r);
	for (size_t i = 0; i < c->w->loads.n; i++)
		if (c->w->loads.at[i].edge == e && c->w->loads.at[i].site.where != SITE_BLOCK)
			pass_site(c, &c->w->loads.at[i].site, r);
	c->fault |= c->final && (r->lent || !all_end(r)) && c->g->edge[e].to >= c->w->proc->blocks.n;
}

static void
join(struct regs *to, const struct regs *r)
{
	to->right &= r->right;
	to->lent |= r->lent;
	for (unsigned k = 0; k < SLOTS; k++) {
		struct counting *a = &to->counts[k];
		const struct counting *b = &r->counts[k];

		if (b->promotion == COUNTS_ANY)
			continue;
		if (a->promotion == COUNTS_ANY)
			*a = *b;
		else if (b->promotion != a->promotion || (b->promotion && b->ahead != a->ahead))
			*a = (struct counting){COUNTS_DIFFER, 0};
	}
}

static bool
is_same(const struct regs *a, const struct regs *b)
{
	bool same = a->right == b->right && a->lent == b->lent;

	for (unsigned k = 0; k < SLOTS; k++)
		same &= a->counts[k].promotion == b->counts[k].promotion && a->counts[k].ahead == b->counts[k].ahead;
	return same;
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
			join(to, &r);
			changed |= !is_same(to, &was);
		}
	}
	return changed;
}

bool
bases_hold(const struct unit *u, const struct woven *w)
{
	struct check c = {.u = u, .w = w, .g = w->proc->graph};

	if (!w->bases[BASE_COUNTERS] && !w->bases[BASE_NUMBERS] && !w->bases[BASE_CELLS] && !w->promotions.n)
		return true;
	find_placed(&c);
	c.in = pool_array(u->pool, c.g->nvert, sizeof *c.in);
	for (uint32_t v = 0; v < c.g->nvert; v++)
		if (v != w->proc->entry && v != w->proc->hub) {
			c.in[v].right = UINT64_MAX;
			for (unsigned k = 0; k < SLOTS; k++)
				c.in[v].counts[k].promotion = COUNTS_ANY;
		}
	while (pass_all(&c))
		;
	c.final = true;
	pass_all(&c);
	return !c.fault;
}
