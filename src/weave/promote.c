/* SPDX-License-Identifier: MIT */
/* Counter promotion: registers count in loops (-fchord-loops=registers).
 *
 * In some loops no counter in memory is cheap: where each round stores, any second store costs as much as the round. So a register
 * that is dead in the loop is set to 0 on the edges into it, counts in it, and is added to the counter on the edges out of it.
 *
 * Often the program counts already. If each way around the loop adds to some register of the program's a fixed multiple of what it
 * adds to the counter, nothing is done in the loop: it is enough to keep the register's value on the way in, and to divide by the
 * multiple on the way out (Ball & Larus 1994, section 6.3, where the loop has one cycle). Multiples are small powers of two. Only
 * additions to all 64 bits are understood, so no count is lost by wrapping. Where no register is dead, the value on the way in may
 * be kept below the stack pointer.
 *
 * The counter then lacks what executions that are under way have counted. A second word has the number of these executions.
 * Whatever ends an execution that never comes to an edge out of the loop (SIGKILL, longjmp by a signal's handler, exit by another
 * thread) leaves that number above 0, and readers say that the counter is only a lower bound.
 *
 * For each counter a cheapest cut decides in which blocks this is done: code on the edges into them and out of them against
 * additions to memory. Calls and landing pads are never among them. */
#include "weave/base.h"

#include "measure/measure.h"

#include <stdlib.h>
#include <string.h>

/* Prices in instructions: what an addition in memory takes more than in a register, in a short loop (where it would go to the next
 * cell) and in others; the addition in a register; the code on an edge into the blocks and out of them, if the flags are dead
 * there; how much less that is if another register begins or ends there, too, because executions are counted once; and what is
 * more to do on an edge out if a register of the program counts. */
static const double SAVES_SHORT = 1.5, SAVES = 0.7, COUNTS = 1, BEGINS = 4, ENDS = 5, SHARED = 3, STEPS_END = 2;
/* The largest sum of what instructions add, and how many loops around an addition are tried. */
enum { MOVED_MOST = 1 << 30, LEVELS = 4 };
/* The largest stride. The difference has 64 bits and a sign, so it wraps after 2^63 / STRIDE_MOST rounds of one execution: about a
 * year of them. */
enum { STRIDE_MOST = 64 };
/* When the search in a procedure has taken so many steps in all, the other additions stay in memory: they are those that run least.
 * A step is the visit to an arc, a vertex or an instruction. The search takes longer than a compiler's work on the procedure if
 * nothing limits it, because a network may be visited as often as it has nodes. */
enum { STEPS_MOST = 1 << 28 };

/* An addition in a loop. */
struct addend {
	struct site *site;
	uint32_t number;         /* in the order of edges and blocks */
	uint32_t edge;           /* GRAPH_NONE: the site is in a block */
	uint32_t from, to;       /* these have to be among the blocks */
	double weight;
	bool is_short;           /* in a short loop */
};

/* What has happened since the blocks were entered, on one way to a vertex: what was added to a register, and how often the addend
 * was passed. */
struct passed {
	bool known;
	int64_t moved, times;
};

struct promoting {
	struct bases *b;
	uint32_t flow;           /* the measure that counters are for, as a set */
	VEC(struct addend) addends;
	uint8_t *words;          /* by vertex: words below the stack pointer that are in use there, as bits */
	uint8_t nword;           /* so many may be used */
	uint32_t *put;           /* by edge: the element of woven.loads that has its code, plus 1; 0: none, or the edge's own */
	/* For one of them and one register: */
	uint8_t reg;             /* plus 1; 0: a word below the stack pointer */
	uint8_t word;
	uint32_t loop;           /* the blocks are in this loop */
	uint32_t of;             /* member[] has the vertices of that loop, outside which nothing is set in the arrays below */
	uint32_t *member, nmember;
	struct cut_arc *cut;     /* room for the network's arcs */
	uint64_t steps;          /* that are left */
	uint32_t *stack;         /* and for all vertices */
	uint32_t *node;          /* by vertex: its node in the network; GRAPH_NONE: it cannot be among the blocks */
	uint32_t nnode;
	bool *in;                /* by vertex: it is among the blocks */
	/* For one register of the program: */
	struct passed *at;       /* by vertex: before its first instruction */
	int64_t stride;
};

/* ---- additions ---- */

/* The innermost loop that contains both; GRAPH_NONE: there is none. */
static uint32_t
loop_of(const struct bases *b, uint32_t v, uint32_t to)
{
	uint32_t loop = b->loops->inner[v];

	while (loop != GRAPH_NONE && !loops_contain(b->loops, loop, to))
		loop = b->loops->parent[loop];
	return loop;
}

static void
add_addend(struct promoting *p, struct site *s, uint32_t edge, double weight)
{
	struct bases *b = p->b;
	bool on_edge = edge != GRAPH_NONE && s->where != SITE_BLOCK;
	uint32_t from = on_edge ? b->g->edge[edge].from : s->block, to = on_edge ? b->g->edge[edge].to : s->block;
	uint32_t nblock = (uint32_t)b->w->proc->blocks.n;

	if (!base_counter(s) || s->where == SITE_NONE || from >= nblock || to >= nblock || loop_of(b, from, to) == GRAPH_NONE)
		return;
	VEC_PUSH(p->addends, (struct addend){.site = s, .edge = on_edge ? edge : GRAPH_NONE, .from = from, .to = to,
	                                     .weight = weight, .is_short = base_waits_still(b, from, to)});
}

static int
by_weight(const void *a, const void *b)
{
	const struct addend *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

static void
find_addends(struct promoting *p)
{
	struct bases *b = p->b;
	struct woven *w = b->w;

	for (uint32_t e = 0; e < w->proc->arcs.n; e++)
		add_addend(p, &w->edge[e], e, w->weight[e]);
	for (uint32_t v = 0; v < w->proc->blocks.n; v++)
		add_addend(p, &w->block[v], GRAPH_NONE, b->runs[v]);
	for (uint32_t i = 0; i < p->addends.n; i++)
		p->addends.at[i].number = i;
	if (p->addends.n)
		qsort(p->addends.at, p->addends.n, sizeof *p->addends.at, by_weight);
}

static double
saves(const struct addend *a)
{
	return a->weight * (a->is_short ? SAVES_SHORT : SAVES);
}

static void
take_steps(struct promoting *p, uint64_t steps)
{
	p->steps -= steps < p->steps ? steps : p->steps;
}

/* ---- which blocks ---- */

/* Collects the vertices of p->loop, of which `from` is one. */
static void
find_members(struct promoting *p, uint32_t from)
{
	const struct graph *g = p->b->g;

	if (p->of == p->loop)
		return;
	for (uint32_t k = 0; k < p->nmember; k++) {
		p->node[p->member[k]] = GRAPH_NONE;
		p->in[p->member[k]] = false;
	}
	p->of = p->loop;
	p->nmember = 0;
	p->member[p->nmember++] = from;
	p->in[from] = true;
	for (uint32_t k = 0; k < p->nmember; k++)
		for (uint32_t i = g->out_at[p->member[k]]; i < g->out_at[p->member[k] + 1]; i++) {
			uint32_t to = g->edge[g->out[i]].to;

			if (!p->in[to] && loops_contain(p->b->loops, p->loop, to)) {
				p->in[to] = true;
				p->member[p->nmember++] = to;
			}
		}
}

static bool
can_be_in(const struct promoting *p, uint32_t v)
{
	const struct bases *b = p->b;

	if (!p->reg)
		return b->still[v] && !(p->words[v] >> p->word & 1);
	return b->avail[v] >> (p->reg - 1) & 1 && !(b->counting[v] >> (p->reg - 1) & 1);
}

static void
find_nodes(struct promoting *p)
{
	p->nnode = 0;
	take_steps(p, p->nmember);
	for (uint32_t k = 0; k < p->nmember; k++) {
		bool can = p->member[k] < p->b->w->proc->blocks.n && can_be_in(p, p->member[k]);

		p->node[p->member[k]] = can ? p->nnode++ : GRAPH_NONE;
	}
}

/* The site that has the code of promotions on the edge, if there is any. */
static struct site *
find_put(const struct promoting *p, uint32_t e)
{
	return p->put[e] ? &p->b->w->loads.at[p->put[e] - 1].site : &p->b->w->edge[e];
}

/* Where flags are live, an addition to memory is dearer. */
static double
price_on(const struct promoting *p, uint32_t e, bool begins)
{
	const struct bases *b = p->b;
	struct site s = base_load_site(b, e, p->reg);
	const struct site *other = find_put(p, e);
	double price = s.where == SITE_NONE ? -1 : b->u->machine->price(s.live), insns = begins ? BEGINS : ENDS;

	insns -= (begins ? other->begins : other->ends) ? SHARED : 0;
	return price < 0 ? GRAPH_NEVER : base_price_at(b, e, &s, insns * (price < 1 ? 1 : price));
}

/* Appends the network's arcs for an edge of the graph. */
static void
add_arcs(struct promoting *p, uint32_t e, uint32_t sink, uint32_t *narc)
{
	const struct edge *d = &p->b->g->edge[e];
	uint32_t from = p->node[d->from], to = p->node[d->to];

	if (e >= p->b->w->proc->arcs.n || from == to)
		return;
	if (to != GRAPH_NONE)
		p->cut[(*narc)++] = (struct cut_arc){to, from == GRAPH_NONE ? sink : from, price_on(p, e, true)};
	if (from != GRAPH_NONE)
		p->cut[(*narc)++] = (struct cut_arc){from, to == GRAPH_NONE ? sink : to, price_on(p, e, false)};
}

/* Finds the cheapest blocks with both ends of the addend. Returns the price of the code on edges into them and out of them; `most`
 * or more: there are none for less, or the search would take too long. */
static double
find_blocks(struct promoting *p, const struct addend *a, double most)
{
	struct cut_limit limit = {most, 0};
	const struct graph *g = p->b->g;
	struct pool *pool;
	uint32_t source, sink, narc = 0;
	double price = GRAPH_NEVER;
	bool *in;

	find_members(p, a->from);
	find_nodes(p);
	source = p->nnode, sink = p->nnode + 1;
	if (p->node[a->from] == GRAPH_NONE || p->node[a->to] == GRAPH_NONE)
		return GRAPH_NEVER;
	pool = pool_new();
	p->cut[narc++] = (struct cut_arc){source, p->node[a->from], GRAPH_NEVER};
	p->cut[narc++] = (struct cut_arc){source, p->node[a->to], GRAPH_NEVER};
	for (uint32_t k = 0; k < p->nmember; k++) {
		uint32_t v = p->member[k];
		bool is = p->node[v] != GRAPH_NONE;

		for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1] && is; i++)
			add_arcs(p, g->out[i], sink, &narc);
		for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1] && is; i++)
			if (p->node[g->edge[g->in[i]].from] == GRAPH_NONE)
				add_arcs(p, g->in[i], sink, &narc);
	}
	take_steps(p, narc);
	limit.steps = p->steps;
	in = graph_cut(pool, p->nnode + 2, p->cut, narc, source, sink, &limit, &price);
	p->steps = limit.steps;
	for (uint32_t k = 0; k < p->nmember; k++)
		p->in[p->member[k]] = p->node[p->member[k]] != GRAPH_NONE && in[p->node[p->member[k]]];
	pool_free(pool);
	return p->steps ? price : GRAPH_NEVER;
}

/* ---- registers of the program that count ---- */

/* Two values that differ in each bit. Of the instructions without memory only additions change both by the same number. (Those of
 * strings move by a number, too, but in a direction that may change.) */
static const uint64_t probes[2] = {0x0123456789abcdef, ~UINT64_C(0x0123456789abcdef)};

/* May the instruction write the register? */
static bool
writes(const struct unit *u, const struct code *c, const struct insn *in, uint8_t reg)
{
	struct registers r;

	return !u->machine->registers(u->object->sections[c->section].data + in->off, in->len, &r) ||
	       (r.written | r.lost) >> reg & 1;
}

bool
promote_moves(const struct unit *u, const struct woven *w, uint32_t block, uint32_t i, uint8_t reg, int64_t *n)
{
	const struct block_text *k = &w->proc->block_text.at[block];
	const struct code *c = w->proc->parts.at[k->part].code;
	const struct insn *in = &c->insns.at[i];
	const uint8_t *bytes = u->object->sections[c->section].data + in->off;
	const unsigned above = 64 - REG_VALUE_BITS;
	struct access access[ACCESSES_MOST];
	int64_t by[2];

	*n = 0;
	if (!((in->regs_read | in->regs_kill) >> reg & 1) || !writes(u, c, in, reg))
		return true;
	if (u->machine->accesses(NULL, bytes, in->len, access))
		return false;
	for (unsigned p = 0; p < 2; p++) {
		struct reg_values r = {.known = 1u << reg};

		r.v[reg] = probes[p];
		u->machine->compute(NULL, bytes, in->len, in->off, &r);
		if (!(r.known >> reg & 1))
			return false;
		by[p] = (int64_t)((r.v[reg] - probes[p]) << above) >> above;
	}
	*n = by[0];
	return by[0] == by[1] && *n >= -MOVED_MOST && *n <= MOVED_MOST;
}

/* What has happened at the end of a block. False: the block changes the register otherwise. */
static bool
pass_block(struct promoting *p, const struct addend *a, uint32_t v, uint8_t var, struct passed *at)
{
	const struct block_text *k = &p->b->w->proc->block_text.at[v];
	int64_t n;

	take_steps(p, k->last - k->first);
	for (uint32_t i = k->first; i < k->last; i++) {
		if (!promote_moves(p->b->u, p->b->w, v, i, var, &n))
			return false;
		at->moved += n;
	}
	at->times += a->edge == GRAPH_NONE && a->from == v;
	return at->moved >= -MOVED_MOST && at->moved <= MOVED_MOST;
}

/* Two ways lead to a vertex. Their difference is what one way around adds. */
static bool
compare(struct promoting *p, const struct passed *x, const struct passed *y)
{
	int64_t moved = x->moved - y->moved, times = x->times - y->times;

	if (times && !p->stride && moved % times == 0)
		p->stride = moved / times;
	return moved == p->stride * times && (!times || moved);
}

/* Follows the edges among the blocks from v on. */
static bool
follow(struct promoting *p, const struct addend *a, uint32_t v, uint8_t var, uint32_t *n)
{
	const struct graph *g = p->b->g;
	struct passed out = p->at[v];

	if (!pass_block(p, a, v, var, &out))
		return false;
	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++) {
		uint32_t e = g->out[i], to = g->edge[e].to;
		struct passed there = out;

		if (e >= p->b->w->proc->arcs.n || !p->in[to])
			continue;
		there.times += a->edge == e;
		if (!p->at[to].known) {
			p->at[to] = there;
			p->stack[(*n)++] = to;
		} else if (!compare(p, &there, &p->at[to])) {
			return false;
		}
	}
	return true;
}

static bool
is_entered(const struct promoting *p, uint32_t v)
{
	const struct graph *g = p->b->g;
	bool is = false;

	for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1] && p->in[v]; i++)
		is |= g->in[i] < p->b->w->proc->arcs.n && !p->in[g->edge[g->in[i]].from];
	return is;
}

static bool
is_power(int64_t n)
{
	uint64_t size = n < 0 ? -(uint64_t)n : (uint64_t)n;

	return size && !(size & (size - 1)) && size <= STRIDE_MOST;
}

/* Does the register move by a stride for each time that the addend is passed? Fills p->at and p->stride. */
static bool
moves_along(struct promoting *p, const struct addend *a, uint8_t var)
{
	uint32_t n = 0;

	take_steps(p, p->nmember);
	for (uint32_t k = 0; k < p->nmember; k++)
		p->at[p->member[k]] = (struct passed){0};
	p->stride = 0;
	for (uint32_t k = 0; k < p->nmember; k++) {
		uint32_t v = p->member[k];

		if (p->at[v].known || !is_entered(p, v))
			continue;
		p->at[v].known = true;
		p->stack[n++] = v;
		while (n)
			if (!follow(p, a, p->stack[--n], var, &n))
				return false;
	}
	return is_power(p->stride);
}

/* ---- the code ---- */

static bool
fits(int64_t n)
{
	return n >= -MOVED_MOST && n <= MOVED_MOST;
}

/* What the register has moved by at a place, more than what follows from how often the addend was passed. */
static int64_t
ahead(const struct promoting *p, const struct passed *at)
{
	return at->moved - p->stride * at->times;
}

/* By how much the register's value differs, on an edge into the blocks or out of them, from where it began or ends. */
static bool
find_more(struct promoting *p, const struct addend *a, uint32_t e, uint8_t var, int32_t *more)
{
	const struct edge *d = &p->b->g->edge[e];
	struct passed at = p->at[p->in[d->to] ? d->to : d->from];
	int64_t n;

	if (!p->in[d->to])
		pass_block(p, a, d->from, var, &at);
	n = p->in[d->to] ? -ahead(p, &at) : ahead(p, &at);
	*more = fits(n) ? (int32_t)n : 0;
	return fits(n) && (p->reg || !p->in[d->to] || !n);
}

static uint8_t
below_of(const struct promoting *p, uint8_t word)
{
	return (uint8_t)(PATH_ROOM - 8 * (p->b->nlent + word));
}

/* A register to compute in on an edge: a dead one, or another one whose value waits in the first word. False: there is none. */
static bool
find_temp(const struct promoting *p, uint32_t e, const struct site *s, uint8_t var, struct count_code *code)
{
	const struct bases *b = p->b;
	uint16_t counting = (uint16_t)(b->counting[b->g->edge[e].from] | b->counting[b->g->edge[e].to]);
	uint16_t may = (uint16_t)(b->u->machine->base_regs & b->u->machine->clobbered & ~b->never & ~counting & ~(1u << var));
	uint16_t idle = (uint16_t)(may & ~s->live.regs_live);

	if (!may || (!idle && !p->word))
		return false;
	code->temp = (uint8_t)(32 - __builtin_clz(idle ? idle : may));
	code->scratch = idle ? 0 : below_of(p, 0);
	return true;
}

/* The price of what is more to do on that edge into the blocks or out of them if that register counts; GRAPH_NEVER: it cannot. */
static double
price_of_step(struct promoting *p, const struct addend *a, uint32_t e, uint8_t var)
{
	const struct bases *b = p->b;
	bool ends = p->in[b->g->edge[e].from];
	struct count_code code = {0};
	struct site s = base_load_site(b, e, p->reg);
	int32_t more;

	if (!find_more(p, a, e, var, &more) ||
	    (ends && (s.live.flags_live || (!p->reg && !find_temp(p, e, &s, var, &code)))))
		return GRAPH_NEVER;
	return ends ? b->w->weight[e] * (STEPS_END + (code.scratch ? 2 : 0)) : 0;
}

/* The same for all edges. */
static double
price_of_steps(struct promoting *p, const struct addend *a, uint8_t var)
{
	const struct graph *g = p->b->g;
	uint32_t narc = (uint32_t)p->b->w->proc->arcs.n;
	double price = 0;

	for (uint32_t k = 0; k < p->nmember && price < GRAPH_NEVER; k++) {
		uint32_t v = p->member[k];

		for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1] && p->in[v]; i++)
			if (g->out[i] < narc && !p->in[g->edge[g->out[i]].to])
				price += price_of_step(p, a, g->out[i], var);
		for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1] && p->in[v]; i++)
			if (g->in[i] < narc && !p->in[g->edge[g->in[i]].from])
				price += price_of_step(p, a, g->in[i], var);
	}
	return price;
}

/* The program's register that counts, plus 1; 0: there is none. *price: as above. */
static uint8_t
choose_var(struct promoting *p, const struct addend *a, double *price)
{
	const struct machine *m = p->b->u->machine;

	for (uint8_t var = 0; var < 16; var++) {
		if (!(m->all_regs >> var & 1) || var == m->sp || var + 1 == p->reg || !moves_along(p, a, var))
			continue;
		*price = price_of_steps(p, a, var);
		if (*price < GRAPH_NEVER)
			return (uint8_t)(var + 1);
	}
	*price = GRAPH_NEVER;
	return 0;
}

/* ---- what is chosen ---- */

/* How an addend is counted. */
struct choice {
	uint32_t loop;
	uint8_t reg, word, var;  /* as in struct promoting and struct promotion */
	double price;
};

/* Compares the register or word that *p names, in the loop that it names, with what has been found so far. */
static void
try_choice(struct promoting *p, const struct addend *a, struct choice *best)
{
	double price = find_blocks(p, a, best->price), up = p->reg ? COUNTS * a->weight : GRAPH_NEVER, steps;
	struct choice c = {p->loop, p->reg, p->word, 0, 0};

	if (price >= best->price)
		return;
	c.var = choose_var(p, a, &steps);
	if (steps >= up)
		c.var = 0;
	c.price = price + (c.var ? steps : up);
	if (c.price < best->price * 0.999)
		*best = c;
}

/* Registers that can count at as many vertices of a loop are taken to be alike. */
static void
try_loop(struct promoting *p, const struct addend *a, struct choice *best)
{
	static const uint8_t order[] = {11, 10, 9, 8, 7, 6, 1, 2, 3, 14, 15, 12, 13};
	uint32_t tried[sizeof order], ntried = 0;

	for (size_t i = 0; i < sizeof order; i++) {
		uint32_t k = 0;

		p->reg = (uint8_t)(order[i] + 1);
		find_members(p, a->from);
		find_nodes(p);
		if (p->node[a->from] == GRAPH_NONE || p->node[a->to] == GRAPH_NONE)
			continue;
		while (k < ntried && tried[k] != p->nnode)
			k++;
		if (k < ntried)
			continue;
		tried[ntried++] = p->nnode;
		try_choice(p, a, best);
	}
	p->reg = 0;
	/* With more than one word, the first is for registers to compute in. */
	for (p->word = p->nword > 1; p->word < p->nword && !ntried; p->word++)
		try_choice(p, a, best);
}

/* The first promotion in the same blocks, of which `one` is one, plus 1; 0: there is none. Executions of these are counted once. */
static uint32_t
find_twin(const struct bases *b, const bool *in, uint32_t one)
{
	for (uint32_t i = 0; i < b->w->promotions.n; i++)
		if (b->w->promotions.at[i].in[one] && !memcmp(b->w->promotions.at[i].in, in, b->g->nvert * sizeof *in))
			return i + 1;
	return 0;
}

/* Codes of one place are in the order of their promotions. */
static void
put_code(const struct promoting *p, uint32_t e, struct count_code code, bool begins)
{
	struct bases *b = p->b;
	struct site s = base_load_site(b, e, p->reg), *at = find_put(p, e);
	struct count_code **last;

	if (!p->put[e]) {
		at = base_put(b, e, &s, s.where != SITE_BLOCK || s.block == b->g->edge[e].from);
		p->put[e] = at == &b->w->edge[e] ? 0 : (uint32_t)b->w->loads.n;
	}
	for (last = begins ? &at->begins : &at->ends; *last; last = &(*last)->next)
		;
	*last = pool_alloc(b->u->pool, sizeof **last);
	**last = code;
}

static void
put_codes(struct promoting *p, const struct addend *a, const struct promotion *made)
{
	struct bases *b = p->b;

	for (uint32_t e = 0; e < b->w->proc->arcs.n; e++) {
		const struct edge *d = &b->g->edge[e];
		struct count_code code = {.promotion = (uint32_t)b->w->promotions.n};
		struct site s;

		if (p->in[d->from] == p->in[d->to])
			continue;
		s = base_load_site(b, e, p->reg);
		if (made->var)
			find_more(p, a, e, (uint8_t)(made->var - 1), &code.more);
		if (!made->reg && p->in[d->from])
			find_temp(p, e, &s, (uint8_t)(made->var - 1), &code);
		b->used |= (uint16_t)(code.temp ? 1u << (code.temp - 1) : 0);
		put_code(p, e, code, p->in[d->to]);
	}
}

/* If other code of the edge has gone, jumps need not pass by it any longer. */
static void
settle_split(struct woven *w, const struct site *s)
{
	bool any = false;

	for (uint32_t e = 0; e < w->proc->arcs.n && s->where == SITE_SPLIT; e++)
		any |= w->edge[e].where == SITE_SPLIT && w->edge[e].block == s->block && site_used(&w->edge[e]);
	if (s->where == SITE_SPLIT)
		w->split[s->block] = any;
}

/* Does the site's code do more than count? */
static bool
does_more(const struct site *s)
{
	return !s->counter && (s->path->op.guard || s->path->op.next || s->path->op.strikes || s->path->op.mark);
}

static void
promote(struct promoting *p, const struct addend *a, uint8_t var)
{
	struct bases *b = p->b;
	uint32_t nvert = b->g->nvert;
	bool *in = pool_array(b->u->pool, nvert, sizeof *in);
	struct promotion made = {.in = in, .site = a->site, .probes = a->site->probes, .counter = base_counter(a->site),
	                         .reg = p->reg, .var = var};

	memcpy(in, p->in, nvert * sizeof *in);
	made.below = p->reg ? 0 : below_of(p, p->word);
	made.stride = var ? p->stride : 1;
	made.open = find_twin(b, in, a->from);
	VEC_PUSH(b->w->promotions, made);
	put_codes(p, a, &made);
	for (uint32_t v = 0; v < nvert; v++) {
		b->counting[v] |= (uint16_t)(in[v] && p->reg ? 1u << (p->reg - 1) : 0);
		p->words[v] |= (uint8_t)(in[v] && !p->reg ? 1u << p->word : 0);
	}
	b->used |= (uint16_t)((p->reg ? 1u << (p->reg - 1) : 0) | (var ? 1u << (var - 1) : 0));
	b->words = !p->reg && p->word >= b->words ? (uint8_t)(p->word + 1) : b->words;
	a->site->promoted = (uint32_t)b->w->promotions.n;
	if (var && !does_more(a->site)) {
		a->site->probes &= ~p->flow;
		settle_split(b->w, a->site);
	}
}

static void
try_addend(struct promoting *p, const struct addend *a)
{
	const struct loops *loops = p->b->loops;
	struct choice best = {.price = saves(a) + COUNTS * a->weight};
	double price = best.price;
	uint64_t steps;

	p->loop = loop_of(p->b, a->from, a->to);
	for (int level = 0; p->loop != GRAPH_NONE && level < LEVELS; level++) {
		try_loop(p, a, &best);
		p->loop = loops->parent[p->loop];
	}
	if (best.price >= price)
		return;
	p->loop = best.loop;
	p->reg = best.reg;
	p->word = best.word;
	steps = p->steps;
	p->steps = UINT64_MAX; /* enough to find again what was found */
	if (find_blocks(p, a, GRAPH_NEVER) >= GRAPH_NEVER || (best.var && !moves_along(p, a, (uint8_t)(best.var - 1))))
		bug("blocks of a promotion are gone");
	promote(p, a, best.var);
	p->steps = steps;
	take_steps(p, p->b->w->proc->arcs.n + p->b->g->nvert);
}

/* ---- all of it ---- */

static struct promoting
begin(struct bases *b, const struct weave_options *o)
{
	uint32_t nvert = b->g->nvert, narc = (uint32_t)b->w->proc->arcs.n;
	struct promoting p = {.b = b, .flow = measures_with(o->measures, CHORD_FLOW), .of = GRAPH_NONE,
	                      .steps = STEPS_MOST};
	bool nothing;
	uint8_t most = below_room(b->u, b->w, &nothing) ? (nothing ? LENT_MOST : 1) : 0;

	p.nword = most > b->nlent ? (uint8_t)(most - b->nlent) : 0;
	p.put = pool_array(b->pool, narc + 1, sizeof *p.put);
	p.cut = pool_array(b->pool, 2 * (size_t)narc + 2, sizeof *p.cut);
	p.node = pool_array(b->pool, nvert, sizeof *p.node);
	p.in = pool_array(b->pool, nvert, sizeof *p.in);
	p.at = pool_array(b->pool, nvert, sizeof *p.at);
	p.words = pool_array(b->pool, nvert, sizeof *p.words);
	p.member = pool_array(b->pool, nvert, sizeof *p.member);
	p.stack = pool_array(b->pool, nvert, sizeof *p.stack);
	for (uint32_t v = 0; v < nvert; v++)
		p.node[v] = GRAPH_NONE;
	return p;
}

void
place_promotions(struct bases *b, const struct weave_options *o)
{
	struct promoting p;

	/* An exception may leave a loop by an edge to a landing pad. */
	if (base_has_landing_pads(b))
		return;
	p = begin(b, o);
	find_addends(&p);
	for (size_t i = 0; i < p.addends.n && p.steps; i++)
		try_addend(&p, &p.addends.at[i]);
	free(p.addends.at);
	b->nlent += b->words;
	base_exclude(b, b->used);
}

static void
mark_site(const struct bases *b, struct site *s, uint32_t edge)
{
	uint16_t bits = 0;

	if (s->where == SITE_NONE)
		return;
	if (s->where == SITE_BLOCK)
		bits |= b->counting[s->block];
	if (edge != GRAPH_NONE)
		bits |= (uint16_t)(b->counting[b->g->edge[edge].from] | b->counting[b->g->edge[edge].to]);
	s->live.regs_live |= bits;
	if (s->path)
		s->path->place.live.regs_live |= bits;
}

void
mark_promotions(const struct bases *b)
{
	struct woven *w = b->w;
	const struct proc_text *p = w->proc;

	for (uint32_t v = 0; v < p->blocks.n; v++) {
		const struct block_text *k = &p->block_text.at[v];

		for (uint32_t i = k->first; i < k->last && b->counting[v]; i++)
			p->live[p->live_base[k->part] + i - p->parts.at[k->part].first].regs_live |= b->counting[v];
		mark_site(b, &w->block[v], GRAPH_NONE);
	}
	for (uint32_t e = 0; e < p->arcs.n; e++)
		mark_site(b, &w->edge[e], e);
	for (size_t i = 0; i < w->call_free.n; i++)
		mark_site(b, &w->call_free.at[i].site, GRAPH_NONE);
	for (size_t i = 0; i < w->loads.n; i++)
		mark_site(b, &w->loads.at[i].site, w->loads.at[i].edge);
}

void
number_promotions(struct woven *w)
{
	for (size_t i = 0; i < w->promotions.n; i++) {
		struct promotion *p = &w->promotions.at[i];

		w->spare += !p->open;
		p->open = p->open ? w->promotions.at[p->open - 1].open : ++w->ncounter;
	}
}

void
forget_promotions(struct woven *w)
{
	for (size_t i = 0; i < w->promotions.n; i++) {
		w->promotions.at[i].site->promoted = 0;
		w->promotions.at[i].site->probes = w->promotions.at[i].probes;
	}
	w->promotions.n = 0;
}
