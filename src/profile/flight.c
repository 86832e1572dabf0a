/* SPDX-License-Identifier: MIT */
/* The counts of a procedure in a process that did not record its activations. Each block is a chain of spots; nothing changes
 * within a spot. From one spot to the next leads a counter, or a call, where an activation may stay for long. So the positions of
 * counters in the woven code decide which instructions each counter applies to. */
#include "profile/flight.h"

#include "measure/measure.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The place of a counter, cut or call in a block: before instruction `insn`, in the order of addresses. */
enum mark_kind { MARK_COUNTER, MARK_CUT, MARK_CALL };
struct mark {
	uint32_t insn;
	uint64_t addr;
	enum mark_kind kind;
	uint32_t counter;
	uint32_t call;
	const struct cut *cut;
	bool own;                /* it counts the block, not an edge */
};

struct chain {
	uint32_t in, out;        /* spots where edges come in and go out */
	uint32_t enter, leave;   /* the ways from `in` to the first spot and from the last spot to `out` */
	uint32_t *at;            /* by instruction: its spot */
	bool *last;              /* by instruction: it ends its spot, so nobody can stand after it in that spot */
	uint32_t counter;        /* the way of the block's counter, or UINT32_MAX */
};

struct arrival {
	uint32_t into, out_of;   /* by spot within a chain: its only way in, and its only way out */
};

struct flight {
	struct pool *pool, *keep; /* pool: until the end; keep: of the result */
	const struct proc *proc;
	const struct module *module;
	const struct woven_code *woven;
	const struct counts *c;
	struct standing s;       /* what may stand in it, and at calls that may enter it again */
	bool recursive;              /* treat each call as one of the procedure itself */
	struct flow flow;
	struct chain *chain;
	uint32_t *arc;           /* by arc: the way that leaves its source */
	bool *inside;            /* by arc: its counter is in one of the blocks */
	uint32_t *nin, *nout;    /* by vertex: arcs */
	uint32_t *arc_at, *arcs; /* arcs that begin or end at vertex v: arcs[arc_at[v] .. arc_at[v + 1]) */
	VEC(struct arrival) of;  /* by spot */
	bool vague;              /* in some block it is not known where counters are */
	bool lacks;              /* some counter may lack what was counted in a register */
};

static void
end_of(struct flight *x, uint32_t way)
{
	while (x->of.n < x->flow.spot.n)
		VEC_PUSH(x->of, (struct arrival){UINT32_MAX, UINT32_MAX});
	x->of.at[x->flow.way.at[way].from].out_of = way;
	x->of.at[x->flow.way.at[way].to].into = way;
}

static uint32_t
step_to(struct flight *x, uint32_t from, uint32_t to)
{
	uint32_t way = flow_way(&x->flow, from, to);

	end_of(x, way);
	return way;
}

/* A way with a counter, or with a register that may have counted more. */
static uint32_t
counted_way(struct flight *x, uint32_t from, uint32_t to, uint32_t counter)
{
	uint64_t n, least;
	uint32_t way;

	if (!proc_lacks(x->module, x->proc, x->c, counter, &least)) {
		proc_counter(x->module, x->proc, counter, &n);
		return flow_counted(&x->flow, from, to, n);
	}
	way = flow_way(&x->flow, from, to);
	x->flow.way.at[way].floor = least;
	x->lacks = true;
	return way;
}

/* ---- what is in a block ---- */

static int
marks_by_place(const void *a, const void *b)
{
	const struct mark *m = a, *n = b;

	if (m->insn != n->insn)
		return m->insn < n->insn ? -1 : 1;
	/* A call ends the instruction before it. */
	if ((m->kind == MARK_CALL) != (n->kind == MARK_CALL))
		return m->kind == MARK_CALL ? -1 : 1;
	if (m->addr != n->addr)
		return m->addr < n->addr ? -1 : 1;
	return (m->kind == MARK_COUNTER) - (n->kind == MARK_COUNTER); /* a cut at a counter has not passed the counter */
}

/* The number of instructions of the block before an address. Code at the block's end stands before padding. */
static uint32_t
insns_before(const struct proc *p, uint32_t block, uint64_t addr)
{
	uint32_t behind = 0;
	struct walk w;

	for (walk_start(&w, p, NULL, block); walk_next(&w);) {
		if (w.kind == CHORD_INSN_PAD)
			continue;
		if (w.addr > addr)
			return w.i;
		behind = w.i + 1;
	}
	return behind;
}

struct marks {
	VEC(struct mark) list;
};

/* False: the counter is not in the block, or that is not known. */
static bool
mark_counter(struct flight *x, struct marks *m, uint32_t block, uint32_t counter)
{
	uint64_t at = counter && x->woven ? cut_counter(x->proc, block, counter, x->woven) : 0;

	if (!at)
		return false;
	VEC_PUSH(m->list, (struct mark){.insn = insns_before(x->proc, block, at), .addr = at, .kind = MARK_COUNTER,
	                                .counter = counter, .own = counter == x->proc->block[block].counter});
	return true;
}

/* Marks counters of edges that are in one of the edge's blocks, where that block has no other edge on this side. */
static void
mark_arcs(struct flight *x, struct marks *m, uint32_t block)
{
	for (uint32_t k = x->arc_at[block]; k < x->arc_at[block + 1]; k++) {
		const struct arc *a = &x->proc->arc[x->arcs[k]];
		bool own = (a->from == block && x->nout[block] == 1) || (a->to == block && x->nin[block] == 1);

		if (a->counter && own && !x->inside[x->arcs[k]])
			x->inside[x->arcs[k]] = mark_counter(x, m, block, a->counter);
	}
}

/* Was the activation cut on an edge: before a counter that only one of several edges into the block passes? Where a register counts
 * for the edge, there is no such place. */
static bool
is_on_arc(const struct flight *x, const struct cut *k, uint32_t arc)
{
	const struct arc *a = &x->proc->arc[arc];

	return !k->insn && a->to == k->block && a->counter && x->nin[a->to] > 1 && x->woven &&
	       !proc_promoted(x->proc, a->counter) &&
	       cut_counter(x->proc, k->block, a->counter, x->woven) >= k->addr;
}

static bool
is_in_block(const struct flight *x, const struct cut *k)
{
	for (uint32_t i = x->arc_at[k->block]; i < x->arc_at[k->block + 1]; i++)
		if (is_on_arc(x, k, x->arcs[i]))
			return false;
	return true;
}

static void
mark_block(struct flight *x, struct marks *m, uint32_t block)
{
	const struct proc *p = x->proc;
	const struct block *b = &p->block[block];

	if (b->counter && !mark_counter(x, m, block, b->counter))
		VEC_PUSH(m->list, (struct mark){.kind = MARK_COUNTER, .counter = b->counter, .own = true});
	mark_arcs(x, m, block);
	for (uint32_t k = b->call; k < b->call + b->ncall; k++)
		VEC_PUSH(m->list, (struct mark){.insn = p->call[k].insn + 1, .kind = MARK_CALL, .call = k});
	for (const struct cut *k = x->c->cut; k; k = k->next)
		if (k->block == block && is_in_block(x, k))
			VEC_PUSH(m->list, (struct mark){.insn = k->insn, .addr = k->addr, .kind = MARK_CUT, .cut = k});
	if (m->list.n)
		qsort(m->list.at, m->list.n, sizeof *m->list.at, marks_by_place);
}

/* ---- the chain ---- */

static void
source(struct flight *x, uint32_t spot, uint64_t left, uint64_t back)
{
	x->flow.spot.at[spot].start |= back > 0;
	x->flow.spot.at[spot].ended |= left > 0;
	x->flow.spot.at[spot].source += (__int128)back - left;
	x->flow.spot.at[x->flow.exit].source += (__int128)left - back;
}

static uint32_t
pass_mark(struct flight *x, uint32_t from, const struct mark *m)
{
	uint32_t to = flow_spot(&x->flow, x->s.threads);

	if (m->kind == MARK_COUNTER) {
		end_of(x, counted_way(x, from, to, m->counter));
		return to;
	}
	step_to(x, from, to);
	if (m->kind == MARK_CUT)
		source(x, to, m->cut->left, m->cut->back);
	else if (x->c->left)
		source(x, to, x->c->left[m->call], x->c->back[m->call]);
	if (m->kind == MARK_CALL && (x->recursive || x->proc->call[m->call].recursive))
		x->flow.spot.at[to].cap = flight_standing(x->s, &x->proc->call[m->call]);
	return to;
}

static void
build_chain(struct flight *x, uint32_t block)
{
	struct chain *c = &x->chain[block];
	const struct block *b = &x->proc->block[block];
	uint32_t at = flow_spot(&x->flow, x->s.threads), i = 0;
	struct marks marks = {0};

	x->vague |= x->woven && !cut_is_known(x->proc, block);
	mark_block(x, &marks, block);
	c->counter = UINT32_MAX;
	c->enter = step_to(x, c->in, at);
	c->at = pool_array(x->pool, b->ninsn, sizeof *c->at);
	c->last = pool_array(x->pool, b->ninsn, sizeof *c->last);
	for (size_t k = 0; k < marks.list.n; k++) {
		const struct mark *m = &marks.list.at[k];

		while (i < m->insn)
			c->at[i++] = at;
		if (m->kind == MARK_CALL)
			c->last[m->insn - 1] = true;
		at = pass_mark(x, at, m);
		if (m->kind == MARK_COUNTER && m->own && x->flow.way.at[x->of.at[at].into].known)
			c->counter = x->of.at[at].into;
	}
	while (i < b->ninsn)
		c->at[i++] = at;
	if (b->ninsn && c->at[b->ninsn - 1] == at)
		c->last[b->ninsn - 1] = true;
	c->leave = step_to(x, at, c->out);
	free(marks.list.at);
}

/* ---- the graph ---- */

/* If the counter of an edge is in neither of its blocks, the edge has it in code of its own. */
static void
build_arc(struct flight *x, uint32_t i)
{
	const struct arc *a = &x->proc->arc[i];
	uint32_t nblock = x->proc->nblock, from, to, before, behind;

	from = a->from < nblock ? x->chain[a->from].out : x->chain[a->from].in;
	to = x->chain[a->to].in;
	if (!a->counter || x->inside[i]) {
		x->arc[i] = flow_way(&x->flow, from, to);
		return;
	}
	before = flow_spot(&x->flow, x->s.threads);
	behind = flow_spot(&x->flow, x->s.threads);
	x->arc[i] = flow_way(&x->flow, from, before);
	counted_way(x, before, behind, a->counter);
	flow_way(&x->flow, behind, to);
	for (const struct cut *k = x->c->cut; k; k = k->next)
		if (is_on_arc(x, k, i))
			source(x, before, k->left, k->back);
}

static void
index_arcs(struct flight *x)
{
	const struct proc *p = x->proc;

	x->nin = pool_array(x->pool, p->nvert, sizeof *x->nin);
	x->nout = pool_array(x->pool, p->nvert, sizeof *x->nout);
	x->arc_at = pool_array(x->pool, p->nvert + 2ull, sizeof *x->arc_at);
	x->arcs = pool_array(x->pool, 2ull * p->narc, sizeof *x->arcs);
	for (uint32_t i = 0; i < p->narc; i++) {
		x->nout[p->arc[i].from]++;
		x->nin[p->arc[i].to]++;
	}
	for (uint32_t v = 0; v < p->nvert; v++)
		x->arc_at[v + 2] = x->arc_at[v + 1] + x->nin[v] + x->nout[v];
	for (uint32_t i = 0; i < p->narc; i++) {
		x->arcs[x->arc_at[p->arc[i].from + 1]++] = i;
		x->arcs[x->arc_at[p->arc[i].to + 1]++] = i;
	}
}

static void
build(struct flight *x)
{
	const struct proc *p = x->proc;

	x->chain = pool_array(x->pool, p->nvert, sizeof *x->chain);
	x->arc = pool_array(x->pool, p->narc, sizeof *x->arc);
	x->inside = pool_array(x->pool, p->narc, sizeof *x->inside);
	index_arcs(x);
	for (uint32_t v = 0; v < p->nvert; v++) {
		x->chain[v].in = flow_spot(&x->flow, 0);
		x->chain[v].out = v < p->nblock ? flow_spot(&x->flow, 0) : x->chain[v].in;
	}
	x->flow.exit = x->chain[PROC_EXIT(p)].in;
	x->flow.spot.at[x->chain[PROC_ENTRY(p)].in].start = true;
	for (uint32_t v = 0; v < p->nblock; v++)
		build_chain(x, v);
	for (uint32_t i = 0; i < p->narc; i++)
		build_arc(x, i);
}

/* Within a block, all activations that passed its counter go on, except those that stand or ended there. As many passed the counter
 * as came to it. */
static void
tighten(struct flight *x, uint32_t block)
{
	const struct chain *c = &x->chain[block];
	struct way *from = c->counter == UINT32_MAX ? NULL : &x->flow.way.at[c->counter], *w;
	__int128 n = from ? from->count : 0;

	if (!from || x->flow.standing >= FLIGHT_MANY)
		return;
	for (uint32_t v = from->to; v != c->out; v = w->to) {
		n += x->flow.spot.at[v].source;
		w = &x->flow.way.at[x->of.at[v].out_of];
		w->least = w->least < n - x->flow.standing ? n - x->flow.standing : w->least;
	}
	n = from->count;
	for (uint32_t v = from->from; v != c->in; v = w->from) {
		n -= x->flow.spot.at[v].source;
		w = &x->flow.way.at[x->of.at[v].into];
		w->most = w->most > n + x->flow.standing ? n + x->flow.standing : w->most;
	}
}

/* ---- what follows ---- */

static void
give(const struct flight *x, uint64_t *least, uint64_t *most, __int128 l, __int128 m)
{
	__int128 slack = x->vague ? x->flow.most : 0;

	*least = flight_count(l - slack);
	*most = flight_count(m + slack);
}

static const struct way *
into(const struct flight *x, uint32_t spot)
{
	return &x->flow.way.at[x->of.at[spot].into];
}

static const struct way *
out_of(const struct flight *x, uint32_t spot)
{
	return &x->flow.way.at[x->of.at[spot].out_of];
}

/* An instruction has been executed by all activations that have left its spot, and by some of those that have reached it. */
static void
give_insns(const struct flight *x, uint32_t block, struct counts *least, struct counts *most)
{
	const struct chain *c = &x->chain[block];
	uint32_t n = x->proc->block[block].ninsn;

	least->insn[block] = pool_array(x->keep, n, sizeof *least->insn[block]);
	most->insn[block] = pool_array(x->keep, n, sizeof *most->insn[block]);
	for (uint32_t i = 0; i < n; i++) {
		const struct way *in = into(x, c->at[i]), *out = out_of(x, c->at[i]);
		__int128 m = c->last[i] ? out->most : in->most + x->flow.spot.at[c->at[i]].source;

		give(x, &least->insn[block][i], &most->insn[block][i], out->least, m);
	}
}

/* If counters do not determine an arc's count in any case, bounds would not be about activations in flight. */
static bool
is_determined(const struct flight *x, const struct way *w)
{
	return x->flow.forest || w->most - w->least <= x->flow.most ||
	       (x->lacks && measures_with(x->proc->measures, CHORD_FLOW_EDGES));
}

static void
give_counts(const struct flight *x, struct counts *least, struct counts *most)
{
	const struct proc *p = x->proc;

	for (uint32_t v = 0; v < p->nblock; v++) {
		const struct way *w = &x->flow.way.at[x->chain[v].enter];

		give(x, &least->block[v], &most->block[v], w->least, w->most);
		give_insns(x, v, least, most);
	}
	for (uint32_t i = 0; i < p->narc; i++) {
		const struct way *w = &x->flow.way.at[x->arc[i]];

		give(x, &least->arc[i], &most->arc[i], w->least, w->most);
		least->arc_known[i] = most->arc_known[i] = is_determined(x, w);
	}
}

/* ---- totals ---- */

typedef bool chosen_fn(uint8_t insn);

static bool
is_any(uint8_t insn)
{
	(void)insn;
	return true;
}

/* Adds a block of which only its counter is known: the number of instructions in each execution, and how much that is wrong by for
 * activations that stand in the block. */
static void
sum_by_counter(const struct flight *x, uint32_t block, struct flow_sum *sum, chosen_fn *is_chosen)
{
	const struct block *b = &x->proc->block[block];
	const struct chain *c = &x->chain[block];
	uint32_t spot = x->flow.way.at[c->enter].to, i = 0;
	uint64_t before = 0, all = 0;
	bool behind = false;

	for (uint32_t k = 0; k < b->ninsn; k++)
		all += is_chosen(b->insn[k]);
	sum->value[c->counter] += (int64_t)all;
	for (; spot != c->out; spot = out_of(x, spot)->to) {
		behind |= x->of.at[spot].into == c->counter;
		sum->constant += x->flow.spot.at[spot].source * (behind ? (__int128)(all - before) : -(__int128)before);
		sum->less[spot] = behind ? all - before : 0;
		for (; i < b->ninsn && c->at[i] == spot; i++)
			before += is_chosen(b->insn[i]);
		sum->more[spot] = behind ? 0 : before;
	}
}

/* Activations that have left a spot have executed the spot's instructions. Those that stand in it have executed some of them. */
static void
sum_by_place(const struct flight *x, uint32_t block, struct flow_sum *sum, chosen_fn *is_chosen)
{
	const struct block *b = &x->proc->block[block];
	const struct chain *c = &x->chain[block];

	for (uint32_t i = 0; i < b->ninsn; i++) {
		if (!is_chosen(b->insn[i]))
			continue;
		sum->value[x->of.at[c->at[i]].out_of]++;
		sum->more[c->at[i]] += !c->last[i];
	}
}

static struct flow_sum
sum_new(const struct flight *x)
{
	return (struct flow_sum){
		.value = pool_array(x->pool, x->flow.way.n, sizeof(int64_t)),
		.more = pool_array(x->pool, x->flow.spot.n, sizeof(uint64_t)),
		.less = pool_array(x->pool, x->flow.spot.n, sizeof(uint64_t)),
	};
}

static void
give_sum(const struct flight *x, struct flow_sum *sum, uint64_t *least, uint64_t *most)
{
	flow_sum_bounds(&x->flow, sum);
	give(x, least, most, sum->least, sum->most);
}

static void
sum_insns(const struct flight *x, chosen_fn *is_chosen, bool by_place, uint64_t *least, uint64_t *most)
{
	struct flow_sum sum = sum_new(x);

	for (uint32_t v = 0; v < x->proc->nblock; v++)
		if (by_place || x->chain[v].counter == UINT32_MAX)
			sum_by_place(x, v, &sum, is_chosen);
		else
			sum_by_counter(x, v, &sum, is_chosen);
	give_sum(x, &sum, least, most);
}

static void
total_insns(const struct flight *x, chosen_fn *is_chosen, uint64_t *least, uint64_t *most)
{
	uint64_t l, m;

	sum_insns(x, is_chosen, true, least, most);
	if (!x->flow.forest) {
		sum_insns(x, is_chosen, false, &l, &m);
		*least = l > *least ? l : *least;
		*most = m < *most ? m : *most;
	}
	if (x->vague) {
		*least = flight_count((__int128)*least - x->flow.most * x->proc->nblock);
		*most = flight_count((__int128)*most + x->flow.most * x->proc->nblock);
	}
}

static void
total_arcs(const struct flight *x, bool entries, uint64_t *least, uint64_t *most, bool *known)
{
	const struct proc *p = x->proc;
	struct flow_sum sum = sum_new(x);

	*known = true;
	for (uint32_t i = 0; i < p->narc; i++) {
		const struct arc *a = &p->arc[i];
		bool entry = a->kind == CHORD_EDGE_ENTRY;

		if (entries ? !entry : entry || a->from >= p->nblock || a->to == PROC_EXIT(p))
			continue;
		sum.value[x->arc[i]] = 1;
		*known &= is_determined(x, &x->flow.way.at[x->arc[i]]);
	}
	give_sum(x, &sum, least, most);
}

static void
give_totals(const struct flight *x, struct counts *least, struct counts *most)
{
	struct flow_sum sum = sum_new(x);

	total_insns(x, is_any, &least->insns, &most->insns);
	total_insns(x, insn_is_call, &least->call_insns, &most->call_insns);
	total_arcs(x, true, &least->activations, &most->activations, &least->activations_known);
	total_arcs(x, false, &least->jumps, &most->jumps, &least->jumps_known);
	most->activations_known = least->activations_known;
	most->jumps_known = least->jumps_known;
	for (uint32_t v = 0; v < x->proc->nblock; v++)
		sum.value[x->chain[v].enter] = 1;
	give_sum(x, &sum, &least->blocks, &most->blocks);
}

/* ---- all of it ---- */

static void
flight_free(struct flight *x)
{
	flow_free(&x->flow);
	free(x->of.at);
	pool_free(x->pool);
}

static bool
find_bounds(struct flight *x, struct pool *keep, const struct proc *p, const struct module *m, const struct woven_code *woven,
            const struct counts *c, struct standing s, bool recursive)
{
	*x = (struct flight){.pool = pool_new(), .keep = keep, .proc = p, .module = m, .woven = woven, .c = c,
	                      .recursive = recursive};
	x->s = s;
	x->flow.standing = recursive ? flight_standing(s, &(struct call){0}) : s.threads;
	for (uint32_t k = 0; k < p->ncall; k++)
		if (p->call[k].recursive && flight_standing(s, &p->call[k]) > x->flow.standing)
			x->flow.standing = flight_standing(s, &p->call[k]);
	x->flow.pool = x->pool;
	build(x);
	if (!flow_bounds(&x->flow) || (flow_reach(&x->flow) && !flow_bounds(&x->flow)))
		return false;
	for (uint32_t v = 0; v < p->nblock && !x->flow.forest; v++)
		tighten(x, v);
	return true;
}

const char *
flight_solve(struct pool *pool, const struct proc *p, const struct module *m, const struct woven_code *woven, struct standing s,
             struct counts *c)
{
	struct flight x;
	bool ok = find_bounds(&x, pool, p, m, woven, c, s, false);

	if (!ok && s.threads) {
		/* It may have called itself in a way that nobody sees. */
		flight_free(&x);
		s.stack = COUNT_NO_BOUND;
		ok = find_bounds(&x, pool, p, m, woven, c, s, true);
	}
	if (ok) {
		c->most = flight_room(pool, p, pool_alloc(pool, sizeof *c->most));
		give_counts(&x, flight_room(pool, p, c), c->most);
		give_totals(&x, c, c->most);
		c->active = flight_count(x.flow.least);
		c->unplaced = x.flow.standing > 0;
		c->lacks = x.lacks;
	}
	flight_free(&x);
	return ok ? NULL : "its counters contradict one another";
}
