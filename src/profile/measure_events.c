/* SPDX-License-Identifier: MIT */
/* Measure events: its section of a map. */
#include "profile/measure.h"

#include <stdlib.h>
#include <string.h>

static void
get_event_block(struct in *in, uint32_t ninsn, struct event_block *b)
{
	uint64_t sum = 0;

	b->query = in_signed(in);
	b->enter = in_uleb(in);
	b->nrun = in_number(in, 2);
	b->runs = in->at;
	for (uint32_t i = 0; i < b->nrun && !in->bad; i++) {
		uint64_t n = in_uleb(in);

		sum = n > ninsn ? ninsn + 1ull : sum + n;
		in_uleb(in);
	}
	if (!in->bad && sum != ninsn)
		in_bad(in, "events of another number of instructions than the block has");
}

static struct event_site *
get_event_sites(struct in *in, const struct proc *p, uint32_t *n)
{
	VEC(struct event_site) list = {0};
	struct event_site *sites;

	for (uint64_t block; (block = in_below(in, (uint64_t)p->nblock + 1, "a place in no block")) && !in->bad;) {
		struct event_site s = {.block = (uint32_t)block - 1};

		s.insn = in_below(in, p->block[s.block].ninsn, "a place outside its block");
		s.add = pool_array(in->pool, p->nevent, sizeof *s.add);
		for (uint32_t e = 0; e < p->nevent; e++)
			s.add[e] = in_signed(in);
		VEC_PUSH(list, s);
	}
	*n = (uint32_t)list.n;
	sites = pool_array(in->pool, list.n, sizeof *sites);
	if (list.n)
		memcpy(sites, list.at, list.n * sizeof *sites);
	free(list.at);
	return sites;
}

static int
by_event_site(const void *a, const void *b)
{
	const struct event_site *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return (x->insn > y->insn) - (x->insn < y->insn);
}

static void
get_numbers(struct in *in, struct event_counter *c)
{
	int64_t low;

	c->numbers = in_below(in, CHORD_NUMBERS_MOST + 1, "a counter of too many numbers");
	c->stride = in_below(in, (uint64_t)c->numbers + 1, "a counter of other numbers than it has");
	c->span = in_below(in, (uint64_t)c->numbers + 1, "a counter of other numbers than it has");
	low = in_signed(in);
	if (!in->bad && (!c->stride || !c->span || c->numbers % (c->stride * c->span)))
		in_bad(in, "a counter of other numbers than it has");
	if (!in->bad && (low < INT8_MIN || low > INT8_MAX))
		in_bad(in, "a counter of numbers that stand for too many events");
	c->low = (int32_t)low;
}

static void
map(struct in *in, struct proc *p, const struct record *r)
{
	uint32_t nevent = r->nevent;

	p->nevent = in_below(in, (uint64_t)nevent + 1, "another number of events than of their counters");
	if (!in->bad && p->nevent != nevent)
		in_bad(in, "another number of events than of their counters");
	if (in->bad || !nevent)
		return;
	p->event = pool_array(in->pool, nevent, sizeof *p->event);
	for (uint32_t e = 0; e < nevent; e++) {
		p->event[e].name = in_string(in);
		get_numbers(in, &p->event[e]);
		memcpy(&p->event[e].addr, r->event + 8 * (size_t)e, 8);
	}
	if (!in->bad && p->nblock > in_left(in) / (3 * (size_t)nevent))
		in_bad(in, "it announces more than it holds");
	if (in->bad)
		return;
	p->event_block = pool_array(in->pool, (size_t)p->nblock * nevent, sizeof *p->event_block);
	for (uint32_t b = 0; b < p->nblock; b++)
		for (uint32_t e = 0; e < nevent; e++)
			get_event_block(in, p->block[b].ninsn, &p->event_block[(size_t)b * nevent + e]);
	p->event_site = get_event_sites(in, p, &p->nevent_site);
	p->event_call = get_event_sites(in, p, &p->nevent_call);
	if (p->nevent_site)
		qsort(p->event_site, p->nevent_site, sizeof *p->event_site, by_event_site);
}

const struct profile_measure profile_measure_events = {.map = map};
