/* SPDX-License-Identifier: MIT */
/* How many activations may be in flight, and bounds for procedures of which records tell everything else: paths and traces. */
#include "profile/flight.h"

#include "profile/measure.h"

struct standing
standing_of(const struct profile *p)
{
	uint64_t threads = p->standing < UINT32_MAX ? p->standing : UINT32_MAX, stack;

	if (!p->stack || __builtin_mul_overflow(threads, p->stack, &stack))
		stack = COUNT_NO_BOUND;
	return (struct standing){threads, stack};
}

/* How many activations may stand at a call that may lead back to the procedure. Each of them takes at least 16 bytes of stack: a
 * return address, and calls keep the stack pointer aligned. */
__int128
flight_standing(struct standing s, const struct call *call)
{
	enum { LEAST = 16 };

	if (s.stack == COUNT_NO_BOUND)
		return FLIGHT_MANY;
	return (__int128)(s.stack / (call->frame > LEAST ? call->frame : LEAST)) + s.threads;
}

/* UINT64_MAX stands for a count without a bound. */
uint64_t
flight_count(__int128 n)
{
	return n <= 0 ? 0 : n >= UINT64_MAX ? UINT64_MAX : (uint64_t)n;
}

struct counts *
flight_room(struct pool *pool, const struct proc *p, struct counts *c)
{
	c->block = pool_array(pool, p->nblock, sizeof *c->block);
	c->insn = pool_array(pool, p->nblock, sizeof *c->insn);
	c->arc = pool_array(pool, p->narc, sizeof *c->arc);
	c->arc_known = pool_array(pool, p->narc, sizeof *c->arc_known);
	return c;
}

/* ---- around what is recorded ---- */

/* Activations under way are not counted yet, or a part of them has been counted already. */
static void
around(uint64_t *least, uint64_t *most, uint64_t less, uint64_t more)
{
	*most = *least > UINT64_MAX - more ? COUNT_NO_BOUND : *least + more;
	*least -= less < *least ? less : *least;
}

static uint64_t
times(uint64_t n, uint64_t each)
{
	uint64_t all;

	return __builtin_mul_overflow(n, each, &all) ? COUNT_NO_BOUND : all;
}

/* What an activation under way may have executed that is not recorded yet. */
struct unrecorded {
	uint64_t insns, blocks, call_insns;
};

static uint64_t
longest(const struct profile_measure *x, const struct proc *p, const uint64_t *cost)
{
	uint64_t all = 0;

	if (x && x->longest)
		return x->longest(p, cost);
	for (uint32_t v = 0; v < p->nblock; v++)
		all += cost[v];
	return all;
}

static struct unrecorded
longest_unrecorded(struct pool *pool, const struct profile_measure *x, const struct proc *p)
{
	uint64_t *insns = pool_array(pool, p->nblock, sizeof *insns), *blocks = pool_array(pool, p->nblock, sizeof *blocks);
	uint64_t *calls = pool_array(pool, p->nblock, sizeof *calls);

	for (uint32_t v = 0; v < p->nblock; v++) {
		insns[v] = p->block[v].ninsn;
		blocks[v] = 1;
		calls[v] = p->block[v].ncall;
	}
	return (struct unrecorded){longest(x, p, insns), longest(x, p, blocks), longest(x, p, calls)};
}

/* What of a block is recorded before control gets there: its path may be written down before a call. */
struct early {
	uint64_t standing;       /* so many activations may stand at calls of the block that may lead back to the procedure */
	uint32_t insn;           /* from this instruction on, behind the first of these calls */
	uint64_t ninsn, ncall;   /* how many come from there on */
};

static struct early
recorded_early(const struct proc *p, struct standing s, uint32_t block)
{
	const struct block *b = &p->block[block];
	struct early e = {.insn = b->ninsn};

	for (uint32_t k = b->call; k < b->call + b->ncall; k++) {
		const struct call *call = &p->call[k];
		uint64_t n = call->recursive ? flight_count(flight_standing(s, call)) : 0;

		e.ncall += e.standing > 0;
		if (call->recursive && call->insn < e.insn)
			e.insn = call->insn + 1;
		e.standing = n > e.standing ? n : e.standing;
	}
	e.ninsn = b->ninsn - e.insn;
	return e;
}

static void
raise_to(uint64_t *n, uint64_t other)
{
	*n = other > *n ? other : *n;
}

/* By how much what is recorded of a procedure may be more than what was executed (less), or less than that (more). */
struct doubt {
	uint64_t less, more, less_insns, less_calls, longest;
	uint64_t again;          /* the same as `more`, of code that one activation may execute many times */
};

/* insn: room for the lower bounds of the block's instructions. */
static void
around_block(struct pool *pool, const struct proc *p, struct standing s, struct counts *c, uint32_t v, uint64_t *insn,
             struct doubt *d)
{
	struct early e = recorded_early(p, s, v);
	struct counts *m = c->most;
	struct walk w;

	m->insn[v] = pool_array(pool, p->block[v].ninsn, sizeof *insn);
	for (walk_start(&w, p, c, v); walk_next(&w);) {
		insn[w.i] = w.count;
		around(&insn[w.i], &m->insn[v][w.i], saturating_add(s.threads, w.i >= e.insn ? e.standing : 0), d->again);
	}
	around(&c->block[v], &m->block[v], s.threads, d->again);
	raise_to(&d->less, e.standing);
	raise_to(&d->less_insns, times(e.standing, e.ninsn));
	raise_to(&d->less_calls, times(e.standing, e.ncall));
	raise_to(&d->longest, p->block[v].ninsn);
}

/* Activations share the stack, and each stands at one place: what has been recorded of them too early is at most what it would be
 * if all stood at the worst place. */
void
flight_around(struct pool *pool, const struct proc *p, struct standing s, struct counts *c)
{
	uint64_t threads = s.threads, **least = pool_array(pool, p->nblock, sizeof *least), less;
	const struct profile_measure *x = measure_solving(p);
	struct unrecorded path = longest_unrecorded(pool, x, p), doubted;
	struct counts *m = c->most = flight_room(pool, p, pool_alloc(pool, sizeof *c->most));
	struct doubt d = {.more = threads};

	c->unplaced = true;
	if (x && x->before_calls)
		s.stack = 0; /* activations that stand at calls have nothing unrecorded, and nothing recorded too early */
	for (uint32_t k = 0; k < p->ncall; k++)
		if (p->call[k].recursive)
			raise_to(&d.more, flight_count(flight_standing(s, &p->call[k])));
	d.again = path.insns == COUNT_NO_BOUND ? COUNT_NO_BOUND : d.more;
	for (uint32_t v = 0; v < p->nblock; v++) {
		least[v] = pool_array(pool, p->block[v].ninsn, sizeof **least);
		around_block(pool, p, s, c, v, least[v], &d);
	}
	c->insn = least;
	less = saturating_add(threads, d.less);
	doubted = (struct unrecorded){saturating_add(times(threads, d.longest), d.less_insns), threads,
	                              saturating_add(threads, d.less_calls)};
	for (uint32_t i = 0; i < p->narc; i++) {
		around(&c->arc[i], &m->arc[i], less, d.again);
		m->arc_known[i] = c->arc_known[i];
	}
	m->activations_known = c->activations_known;
	m->jumps_known = c->jumps_known;
	around(&c->activations, &m->activations, threads, d.more);
	around(&c->blocks, &m->blocks, doubted.blocks, times(d.more, path.blocks));
	around(&c->jumps, &m->jumps, saturating_add(less, doubted.blocks), times(d.more, path.blocks));
	around(&c->insns, &m->insns, doubted.insns, times(d.more, path.insns));
	around(&c->call_insns, &m->call_insns, doubted.call_insns, times(d.more, path.call_insns));
}
