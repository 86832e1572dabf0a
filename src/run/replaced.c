/* SPDX-License-Identifier: MIT */
/* Event counters count instructions as assembled, but a linker may replace instructions: a load from the GOT by lea, a call of
 * __tls_get_addr by a load. The linked program is compared with what the map says was counted. The totals are corrected if it is
 * known how often blocks ran; otherwise they become bounds. */
#include "run/run.h"

#include <inttypes.h>
#include <string.h>

/* An event of a binary. */
struct replaced {
	const char *name;
	uint64_t more, less;     /* known: events that were not counted, and events counted that did not happen */
	uint32_t blocks;         /* blocks with replaced instructions that ran an unknown number of times */
	/* For these blocks: by how much the true number may be smaller (over) or larger (under), for each over_per or under_per
	 * counted events. 0: no bound. */
	uint64_t over, over_per, under, under_per;
};

/* The number of events that the map gives for a block's instructions, each multiplied by its count. */
static uint64_t
counted_in(const struct proc *p, const struct counts *c, uint32_t block, uint32_t e)
{
	uint64_t sum = 0, count = 0;
	int64_t behind, before = 0;
	struct walk w;

	if (!c)
		return (uint64_t)event_added(p, block, p->block[block].ninsn, e);
	/* The count changes only after calls at which activations ended. */
	for (walk_start(&w, p, c, block); walk_next(&w); count = w.count)
		if (w.count != count) {
			behind = event_added(p, block, w.i, e);
			sum += (uint64_t)(behind - before) * count;
			before = behind;
		}
	return sum + (uint64_t)(event_added(p, block, p->block[block].ninsn, e) - before) * count;
}

/* The larger of two ratios. */
static void
widen(uint64_t *n, uint64_t *per, uint32_t blocks, uint64_t more, uint64_t of)
{
	if (blocks > 1 && (!*per || (of && (unsigned __int128)more * *per <= (unsigned __int128)*n * of)))
		return;
	*n = more;
	*per = of;
}

static void
compare_block(struct replaced *x, struct pool *pool, struct binary *bin, const struct proc *p, const struct counts *c,
              uint32_t block, uint32_t e, const struct event_list *one)
{
	uint64_t is = tally_insns(pool, bin, p, c, block, one), was = counted_in(p, c, block, e);
	uint64_t enter = p->event_block[(size_t)block * p->nevent + e].enter;

	if (is == was)
		return;
	if (c) {
		x->more += is > was ? is - was : 0;
		x->less += was > is ? was - is : 0;
		return;
	}
	x->blocks++;
	widen(&x->over, &x->over_per, x->blocks, was > is ? was - is : 0, was + enter);
	widen(&x->under, &x->under_per, x->blocks, is > was ? is - was : 0, was + enter);
}

/* Does the linked instruction alone determine the event? A callee may have another name before linking, and tables are not used
 * here. */
static bool
can_compare(struct pool *pool, const char *name, struct event_list *one)
{
	const char *why;

	return !str_starts(str_of(name), "cost:") && event_list_read(pool, name, one, &why) && one->n == 1 &&
	       one->at[0].kind != EVENT_CALL_OF;
}

static uint64_t
scaled(uint64_t n, uint64_t by, uint64_t per)
{
	unsigned __int128 v = (unsigned __int128)n * by / (per ? per : 1);

	return v > UINT64_MAX ? UINT64_MAX : (uint64_t)v;
}

/* Makes the total a pair of bounds, and notes why. */
static void
bound(struct run *r, const struct binary *bin, const struct replaced *x, struct event_total *t)
{
	bool endless = x->under && !x->under_per, any = x->over && !x->over_per;

	t->n = any ? 0 : t->n - scaled(t->n, x->over, x->over_per);
	t->most = endless ? COUNT_NO_BOUND : saturating_add(t->most, scaled(t->most, x->under, x->under_per));
	VEC_PUSH(r->replaced, pool_printf(r->pool, "%s: in %" PRIu32 " %s of %s the linker replaced instructions that it counts; "
	                                  "how often these ran was not counted (-fchord=events,edges)", x->name, x->blocks,
	                                  x->blocks == 1 ? "block" : "blocks", base_name(bin->path)));
}

/* Compares all blocks. Without bin->counts no block has a known count. */
static struct replaced
compare(struct pool *pool, struct binary *bin, const char *event)
{
	struct replaced x = {.name = event};
	struct event_list one;

	if (!can_compare(pool, event, &one))
		return x;
	for (uint32_t i = 0; i < bin->map.nproc; i++) {
		const struct proc *p = &bin->map.proc[i];
		const struct counts *c = bin->counts ? &bin->counts[i] : NULL;

		if (c && (c->why || c->most))
			c = NULL;
		for (uint32_t e = 0; e < p->nevent && !p->refused; e++)
			for (uint32_t b = 0; b < p->nblock && !strcmp(p->event[e].name, event); b++)
				compare_block(&x, pool, bin, p, c, b, e, &one);
	}
	return x;
}

static void
correct(struct run *r, struct binary *bin, struct event_total *t)
{
	struct replaced x = compare(r->pool, bin, t->name);

	t->n = t->n + x.more - x.less;
	if (t->most != COUNT_NO_BOUND)
		t->most = t->most + x.more - x.less;
	if (x.blocks && t->most)
		bound(r, bin, &x, t);
}

void
replaced_correct(struct run *r, struct binary *bin)
{
	for (uint32_t i = 0; i < bin->events.n && !bin->events.why; i++)
		correct(r, bin, &bin->events.at[i]);
}

uint32_t
replaced_blocks(struct pool *pool, struct binary *bin, const char *event)
{
	return compare(pool, bin, event).blocks;
}
