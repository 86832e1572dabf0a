/* SPDX-License-Identifier: MIT */
/* By how much event counters are behind when control is at some address (Ball 1994, section 3.3). At an instruction of the original
 * program the map determines it. From woven-in code, the next such instruction is looked for. */
#include "run/run.h"

#include "machine/machine.h"

#include <inttypes.h>
#include <stdlib.h>

enum { FAR = 1000 }; /* more instructions than are woven in at any one place */

/* Instructions of a procedure by their address in the woven program. */
struct insn_at {
	uint64_t addr;
	uint32_t block, insn;
	uint8_t len;
	bool jump;               /* linkers and assemblers choose its length */
};

struct places {
	struct insn_at *at;
	size_t n;
	bool all;                /* the places of all instructions are known */
};

static int
insns_by_addr(const void *a, const void *b)
{
	const struct insn_at *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static bool
is_jump(enum chord_insn kind)
{
	return kind == CHORD_INSN_BRANCH || kind == CHORD_INSN_JUMP;
}

/* Padding may have another place and length than before weaving. */
static struct places *
places_of(struct pool *pool, const struct proc *p)
{
	struct places *places = pool_alloc(pool, sizeof *places);
	struct walk w;
	size_t n = 0;

	for (uint32_t b = 0; b < p->nblock; b++)
		n += p->block[b].ninsn;
	places->at = pool_array(pool, n, sizeof *places->at);
	places->all = true;
	for (uint32_t b = 0; b < p->nblock; b++)
		for (walk_start(&w, p, NULL, b); walk_next(&w);) {
			places->all &= w.addr != 0;
			if (w.addr && w.kind != CHORD_INSN_PAD)
				places->at[places->n++] = (struct insn_at){w.addr, b, w.i, (uint8_t)(w.next_offset - w.offset),
				                                         is_jump(w.kind)};
		}
	if (places->n)
		qsort(places->at, places->n, sizeof *places->at, insns_by_addr);
	return places;
}

/* The instruction at an address, or around it: linkers replace two instructions that find a thread-local variable by two of other
 * lengths. */
static const struct insn_at *
place_at(const struct places *places, uint64_t addr)
{
	size_t lo = 0, hi = places->n;
	const struct insn_at *p;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (places->at[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	p = &places->at[lo - 1];
	return addr == p->addr || (!p->jump && addr - p->addr < p->len) ? p : NULL;
}

void
where_open(struct where_index *x, struct pool *pool, struct binary *bin)
{
	*x = (struct where_index){.pool = pool, .binary = bin, .places = pool_array(pool, bin->map.nproc, sizeof *x->places)};
}

static const struct places *
places_in(struct where_index *x, const struct proc *p)
{
	struct places **at = &x->places[p - x->binary->map.proc];

	if (!*at)
		*at = places_of(x->pool, p);
	return *at;
}

/* Does the instruction end an execution of a loop in which a register counts? The register's value is not known, so it stays under
 * way. */
static bool
ends_count(const struct proc *p, const struct woven_insn *in)
{
	for (uint32_t i = 0; i < p->npromoted && in->add < 0; i++)
		if (in->counter == p->counters + 8 * (uint64_t)(p->promoted[i].open - 1))
			return true;
	return false;
}

/* Steps over an instruction of woven-in code. */
static bool
pass(struct where_index *x, struct where *w)
{
	struct str bytes = image_bytes(x->binary->image, w->addr);
	const struct machine *m = image_machine(x->binary->image);
	struct woven_insn in;

	if (!(x->traces ? m->traces((const uint8_t *)bytes.at, bytes.n, w->addr, &in) :
	      m->woven((const uint8_t *)bytes.at, bytes.n, w->addr, w->proc->base, &in)))
		return false;
	w->reserves |= in.reserves;
	w->asks |= in.asks;
	for (uint32_t e = 0; e < w->proc->nevent; e++) {
		const struct event_counter *c = &w->proc->event[e];

		if (in.counter - c->addr < 8 * (uint64_t)c->numbers)
			w->pending[e] += in.add * event_of_number(c, (in.counter - c->addr) / 8);
	}
	if (in.counter && in.add && x->counts && !ends_count(w->proc, &in))
		x->counts(x->ctx, in.counter, in.add);
	w->sp += in.sp;
	w->addr = in.jumps ? in.target : w->addr + in.len;
	return true;
}

/* Follows woven-in code to the next instruction of the original program, or out of the procedure. */
static void
follow(struct where_index *x, struct pool *pool, struct where *w)
{
	const struct places *places = places_in(x, w->proc);
	const struct insn_at *place = NULL;

	for (int n = 0; n < FAR; n++) {
		const struct part_at *part = parts_find(&x->binary->parts, w->addr);

		place = part && part->proc == w->proc ? place_at(places, w->addr) : NULL;
		w->left = !part || part->proc != w->proc;
		if (place || w->left)
			break;
		if (!places->all || !pass(x, w)) {
			w->why = pool_printf(pool, "+0x%" PRIx64 " in %s is neither code of its own nor woven in",
			                     w->addr - w->proc->part[0].addr, w->proc->name);
			return;
		}
	}
	if (place) {
		w->block = place->block;
		w->insn = place->insn;
	} else if (!w->left) {
		w->why = pool_printf(pool, "woven-in code of %s does not end", w->proc->name);
	}
}

bool
where_find(struct where_index *x, struct pool *pool, uint64_t addr, struct where *w)
{
	const struct part_at *part = parts_find(&x->binary->parts, addr);

	*w = (struct where){.addr = addr};
	if (!part || part->proc->refused)
		return false;
	w->proc = part->proc;
	w->pending = pool_array(pool, w->proc->nevent, sizeof *w->pending);
	follow(x, pool, w);
	return true;
}

int64_t
where_behind(const struct where *w, uint32_t e)
{
	return w->pending[e] + (w->left ? 0 : event_query(w->proc, w->block, w->insn, e));
}
