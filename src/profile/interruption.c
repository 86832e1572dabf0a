/* SPDX-License-Identifier: MIT */
/* Activations that ended or were resumed between calls, where a signal interrupted them. The counters are in the woven code of a
 * block: those after the place have not yet counted what has run, and those before it have already counted what is still to run. */
#include "profile/internal.h"

#include <string.h>

/* The address where an instruction ends in the woven code. Padding has a different length there, so the end of what was before it,
 * `before`, is used. Jumps end blocks and may have another length, too; they are left to the scan. */
static uint64_t
end_of(const struct walk *w, uint64_t before)
{
	if (w->kind == CHORD_INSN_PAD || !w->addr)
		return w->addr ? before : 0;
	return w->addr + (w->kind == CHORD_INSN_BRANCH || w->kind == CHORD_INSN_JUMP ? 0 : w->block->insn[w->i] & 15);
}

const struct promoted *
proc_promoted(const struct proc *p, uint32_t c)
{
	uint32_t lo = 0, hi = p->npromoted;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (p->promoted[mid].counter < c)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->npromoted && p->promoted[lo].counter == c ? &p->promoted[lo] : NULL;
}

/* Where the code of [lo, hi) adds to a counter. 0: it does not. If a register counts for it, that is taken to happen where the
 * execution of the loop begins: an activation that stands behind that place lacks counts anyhow (proc_lacks()). That place is on
 * an edge into the loop, so it says nothing about which edge within the loop was taken. */
static uint64_t
counted_at(const struct proc *p, uint32_t counter, uint64_t lo, uint64_t hi, const struct woven_code *woven)
{
	const struct promoted *r = counter ? proc_promoted(p, counter) : NULL;
	uint32_t at = r ? r->open : counter;

	return counter ? woven->counts(woven->ctx, lo, hi, p->counters + 8 * (uint64_t)(at - 1), 1, NULL) : 0;
}

static bool
is_padding(const struct proc *p, uint32_t block)
{
	struct walk w;

	for (walk_start(&w, p, NULL, block); walk_next(&w);)
		if (w.kind != CHORD_INSN_PAD)
			return false;
	return true;
}

/* The address where the woven code before a block's first instruction begins; control runs through it to the block. 0: not
 * known. */
static uint64_t
block_start(const struct proc *p, uint32_t block, const struct woven_code *woven)
{
	uint64_t end = p->part[p->block[block].part].addr;
	uint32_t before = block;
	struct walk w;

	while (before && p->block[before - 1].part == p->block[block].part && is_padding(p, before - 1))
		before--;
	if (before && p->block[before - 1].part == p->block[block].part)
		for (walk_start(&w, p, NULL, before - 1); walk_next(&w); end = end_of(&w, end))
			;
	walk_start(&w, p, NULL, block);
	return end && walk_next(&w) && w.addr >= end ? woven->straight(woven->ctx, end, w.addr) : 0;
}

bool
cut_is_known(const struct proc *p, uint32_t block)
{
	struct walk w;

	for (walk_start(&w, p, NULL, block); walk_next(&w);)
		if (!w.addr)
			return false;
	return true;
}

/* Does the code of [lo, hi) count other blocks, or edges between other blocks? Before padding it may count the block that the
 * padding is in. */
static bool
counts_others(const struct proc *p, uint32_t block, uint64_t lo, uint64_t hi, const struct woven_code *woven)
{
	for (uint32_t b = 0; b < p->nblock; b++)
		if (b != block && !proc_promoted(p, p->block[b].counter) && counted_at(p, p->block[b].counter, lo, hi, woven))
			return true;
	for (uint32_t i = 0; i < p->narc; i++)
		if (p->arc[i].from != block && p->arc[i].to != block && !proc_promoted(p, p->arc[i].counter) &&
		    counted_at(p, p->arc[i].counter, lo, hi, woven))
			return true;
	return false;
}

/* The first instruction of the block at or after a woven address, if control runs from the address to it. */
static bool
place_in_block(const struct proc *p, uint32_t block, uint64_t addr, const struct woven_code *woven, uint32_t *insn)
{
	uint64_t end = cut_is_known(p, block) ? block_start(p, block, woven) : 0;
	bool padded = false;
	struct walk w;

	if (!end)
		return false;
	for (walk_start(&w, p, NULL, block); walk_next(&w); end = end_of(&w, end)) {
		if (w.kind == CHORD_INSN_PAD) {
			padded = true;
			continue;
		}
		if (addr == w.addr || (!padded && addr >= end && addr < w.addr)) {
			*insn = w.i;
			return addr == w.addr || w.i || !counts_others(p, block, addr, w.addr, woven);
		}
		padded = false;
	}
	return false;
}

/* A stub that asks the runtime for something counts nothing, so an address in it is taken for the place where it continues. */
static uint64_t
behind_stub(const struct proc *p, uint64_t addr, const struct woven_code *woven)
{
	uint64_t on = 0;

	for (uint32_t i = 0; i < p->npart && !on; i++)
		if (addr - p->part[i].addr < p->part[i].woven_size)
			on = woven->goes_on(woven->ctx, addr, p->part[i].addr, p->part[i].addr + p->part[i].woven_size);
	return on ? on : addr;
}

bool
cut_place(const struct proc *p, uint64_t addr, const struct woven_code *woven, struct cut *cut)
{
	addr = behind_stub(p, addr, woven);
	for (uint32_t b = 0; b < p->nblock; b++)
		if (place_in_block(p, b, addr, woven, &cut->insn)) {
			cut->block = b;
			cut->addr = addr;
			return true;
		}
	return false;
}

/* The address of the first instruction behind the block in its part that is no padding. 0: there is none. */
static uint64_t
next_start(const struct proc *p, uint32_t block)
{
	struct walk w;

	for (uint32_t b = block + 1; b < p->nblock && p->block[b].part == p->block[block].part; b++)
		for (walk_start(&w, p, NULL, b); walk_next(&w);)
			if (w.kind != CHORD_INSN_PAD)
				return w.addr;
	return 0;
}

/* Code at the end of a block stands before padding. */
uint64_t
cut_counter(const struct proc *p, uint32_t block, uint32_t counter, const struct woven_code *woven)
{
	uint64_t end = block_start(p, block, woven), at = 0, next;
	bool padded = false;
	struct walk w;

	for (walk_start(&w, p, NULL, block); !at && walk_next(&w); end = end_of(&w, end)) {
		padded = w.kind == CHORD_INSN_PAD;
		if (!padded && w.addr > end)
			at = counted_at(p, counter, end, w.addr, woven);
	}
	next = padded && end ? next_start(p, block) : 0;
	return next > end ? counted_at(p, counter, end, next, woven) : at;
}

enum cut_side
cut_side(const struct proc *p, const struct cut *cut, uint32_t counter, const struct woven_code *woven)
{
	uint64_t at = cut_counter(p, cut->block, counter, woven);

	return !at ? CUT_NOT_THERE : at < cut->addr ? CUT_BEFORE : CUT_BEHIND;
}

static uint32_t
out_degree(const struct proc *p, uint32_t v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->narc; i++)
		n += p->arc[i].from == v;
	return n;
}

/* Corrects the known count of edge e of the system. */
static bool
correct(struct system *s, uint32_t e, uint64_t more, uint64_t less)
{
	return checked_add(&s->count[e], more) && !__builtin_sub_overflow(s->count[e], less, &s->count[e]);
}

/* If a block has one edge out, a counter in the block may be that edge's. Otherwise it belongs to an edge into the block: the one
 * that was taken, if the counter has not counted yet. Where a register counts for an edge, nobody was on the edge or behind it if
 * the counter lacks nothing. */
static bool
correct_arc(struct system *s, uint32_t e, const struct cut *cut, const struct woven_code *woven)
{
	const struct proc *p = s->proc;
	bool out = p->arc[e].from == cut->block && out_degree(p, cut->block) == 1, in = !out && p->arc[e].to == cut->block;
	bool own = p->arc[e].counter && (in || out) && !proc_promoted(p, p->arc[e].counter);
	uint64_t at = own ? cut_counter(p, cut->block, p->arc[e].counter, woven) : 0;

	if (!at || (at < cut->addr) == in)
		return true;
	return correct(s, e, in ? cut->left : cut->back, in ? cut->back : cut->left);
}

bool
cut_settle(struct system *s, const struct cut *cut, const struct woven_code *woven)
{
	const struct proc *p = s->proc;
	uint32_t counter = p->block[cut->block].counter;
	bool ok = true;

	if (counter && cut_counter(p, cut->block, counter, woven) >= cut->addr)
		ok = correct(s, s->inside[cut->block], cut->left, cut->back);
	for (uint32_t e = 0; e < p->narc && ok; e++)
		ok = correct_arc(s, e, cut, woven);
	return ok;
}

/* The number of writes to an event's counter in the woven code of [lo, hi). *sum: what they add. */
static uint32_t
writes(const struct woven_code *woven, uint64_t lo, uint64_t hi, const struct event_counter *counter, uint64_t *sum)
{
	struct woven_add add = {.end = lo};
	uint32_t n = 0;

	*sum = 0;
	while (add.end < hi && woven->adds(woven->ctx, add.end, hi, counter->addr, counter->numbers, &add)) {
		*sum += (uint64_t)(add.n * event_of_number(counter, add.number));
		n++;
	}
	return n;
}

bool
cut_query(const struct proc *p, const struct cut *cut, uint32_t event, const struct woven_code *woven, int64_t *query)
{
	uint64_t n = (uint64_t)event_query(p, cut->block, cut->insn, event), start = block_start(p, cut->block, woven);
	const struct event_counter *counter = &p->event[event];
	uint64_t pending;
	struct walk w;

	*query = 0;
	/* Pending additions are no part of the clock. */
	if (!strcmp(counter->name, CHORD_EVENT_CLOCK))
		return true;
	for (walk_start(&w, p, NULL, cut->block); walk_next(&w) && w.i < cut->insn; start = end_of(&w, start))
		;
	if (!writes(woven, cut->addr, w.addr, counter, &pending)) {
		*query = (int64_t)n;
		return true;
	}
	/* Some of the code woven in before the instruction was still to run: all of it, if control runs straight through it. */
	*query = (int64_t)(n + pending);
	return start && cut->addr >= woven->straight(woven->ctx, start, w.addr);
}
