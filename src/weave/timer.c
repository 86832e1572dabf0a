/* SPDX-License-Identifier: MIT */
/* Timers (include/chord.h): records by which the runtime tells, at any instruction of a procedure, how many events there have
 * been, and the routines by which programs set timers and woven code asks whether they are due. Layout of the records:
 * format/format.h. */
#include "weave/internal.h"

#include <inttypes.h>
#include <stdlib.h>

#define L LABEL_PREFIX

static bool
any_timed(const struct event_list *list)
{
	bool any = false;

	for (uint32_t e = 0; e < list->n; e++)
		any |= list->at[e].timed;
	return any;
}

/* ---- what a procedure adds, and what its counters lack ---- */

/* The sites that add something, to find what those of a block add up to an instruction. */
struct added {
	const struct site **site; /* sorted by block */
	uint32_t n;
};

static int
by_block(const void *a, const void *b)
{
	const struct site *x = *(const struct site *const *)a, *y = *(const struct site *const *)b;

	return x->block < y->block ? -1 : x->block > y->block;
}

static void
take_site(struct added *a, const struct site *s)
{
	if (s->where == SITE_BLOCK && s->add)
		a->site[a->n++] = s;
}

static void
find_added(struct pool *pool, const struct woven *w, struct added *a)
{
	const struct proc_text *p = w->proc;

	a->n = 0;
	a->site = pool_array(pool, p->arcs.n + p->blocks.n + w->call_free.n, sizeof *a->site);
	for (uint32_t i = 0; i < p->arcs.n; i++)
		take_site(a, &w->edge[i]);
	for (uint32_t b = 0; b < p->blocks.n; b++)
		take_site(a, &w->block[b]);
	for (size_t i = 0; i < w->call_free.n; i++)
		take_site(a, &w->call_free.at[i].site);
	if (a->n)
		qsort(a->site, a->n, sizeof *a->site, by_block);
}

static int64_t
added_before(const struct added *a, uint32_t block, uint32_t insn, uint32_t e, const struct event_list *list)
{
	uint32_t lo = 0, hi = a->n;
	int64_t sum = 0;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (a->site[mid]->block < block)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < a->n && a->site[lo]->block == block; lo++)
		sum += site_added(a->site[lo], block, insn, list, e);
	return sum;
}

struct record {
	const struct unit *u;
	const struct woven *w;
	const struct event_list *list;
	struct added added;
	uint32_t *first;          /* by block: number of its first instruction in w->events */
	int64_t *most;            /* by event: the most that its counter lacks, or has too many */
};

static uint64_t
event_at(const struct record *r, uint32_t block, uint32_t insn, uint32_t e)
{
	return r->w->events[(size_t)(r->first[block] + insn - r->w->proc->block_text.at[block].first) * r->list->n + e];
}

/* What the counter lacks before an instruction, after all code woven in before it. */
static int64_t
lack_before(const struct record *r, uint32_t block, uint32_t insn, uint32_t e)
{
	int64_t sum = r->w->query[(size_t)block * r->list->n + e] + (int64_t)event_of_block(&r->list->at[e]);

	for (uint32_t i = r->w->proc->block_text.at[block].first; i < insn; i++)
		sum += (int64_t)event_at(r, block, i, e);
	return sum - added_before(&r->added, block, insn, e, r->list);
}

static void
raise_to(int64_t *most, int64_t n)
{
	n = n < 0 ? -n : n;
	*most = n > *most ? n : *most;
}

static void
most_at_site(const struct record *r, const struct site *s)
{
	for (uint32_t e = 0; s->lag && e < r->list->n; e++) {
		raise_to(&r->most[e], s->lag[e]);
		raise_to(&r->most[e], s->lag[e] + s->add[e]);
	}
}

static void
find_most(const struct record *r)
{
	const struct woven *w = r->w;

	for (uint32_t i = 0; i < w->proc->arcs.n; i++)
		most_at_site(r, &w->edge[i]);
	for (uint32_t b = 0; b < w->proc->blocks.n; b++)
		most_at_site(r, &w->block[b]);
	for (size_t i = 0; i < w->call_free.n; i++)
		most_at_site(r, &w->call_free.at[i].site);
}

/* ---- segments ---- */

static void
put_signed(struct buf *b, int64_t n)
{
	buf_uleb(b, (uint64_t)n << 1 ^ (uint64_t)(n >> 63));
}

/* Padding has another length in woven code, so a segment ends there: it cannot locate instructions after padding. */
static void
segment_bytes(const struct record *r, const struct seg *s, uint32_t end, struct buf *b)
{
	int64_t *lack = pool_array(r->u->pool, r->list->n, sizeof *lack);
	uint32_t first = r->w->proc->block_text.at[s->block].first + s->insn;

	for (uint32_t e = 0; e < r->list->n; e++) {
		lack[e] = lack_before(r, s->block, first, e);
		if (r->list->at[e].timed)
			put_signed(b, lack[e]);
	}
	for (uint32_t i = first; i < end; i++) {
		const struct insn *in = woven_insn(r->w, s->block, i);
		bool known = in->cls != CHORD_INSN_PAD;

		if (known)
			buf_char(b, (char)in->len);
		for (uint32_t e = 0; e < r->list->n; e++) {
			raise_to(&r->most[e], lack[e]);
			lack[e] += (int64_t)event_at(r, s->block, i, e);
			raise_to(&r->most[e], lack[e]);
			if (known && r->list->at[e].timed)
				buf_uleb(b, event_at(r, s->block, i, e));
		}
		if (!known)
			end = i;
	}
}

static void
part_segments(const struct record *r, uint32_t part, struct buf *out)
{
	const struct woven *w = r->w;
	struct buf b = {0};
	uint32_t base = 0;

	for (uint32_t i = 0; i < w->segments.n; i++) {
		const struct seg *s = &w->segments.at[i];
		const struct block_text *k = &w->proc->block_text.at[s->block];
		bool next = i + 1 < w->segments.n && s[1].block == s->block;
		struct buf none = {0}, *to = k->part == part ? out : &none;

		map_segment(to, w, i, &base);
		if (to == out) {
			b.n = 0;
			segment_bytes(r, s, next ? k->first + s[1].insn : k->last, &b);
			map_bytes(out, &b);
		}
		buf_free(&none);
	}
	buf_free(&b);
}

static void
part_record(const struct record *r, uint32_t part, struct buf *out)
{
	uint32_t n = r->w->number, ntimed = 0;
	struct buf segments = {0}, name = {0};

	part_segments(r, part, &segments);
	for (uint32_t e = 0; e < r->list->n; e++)
		ntimed += r->list->at[e].timed;
	buf_printf(out, "\t.balign 4\n" L "s%u_%u:\t.long\t" L "A%u_%u-.," L "Z%u_%u-" L "A%u_%u," L "u%u_%u-" L "s%u_%u,%u\n", n,
	           part, n, part, n, part, n, part, n, part, n, part, ntimed);
	for (uint32_t e = 0; e < r->list->n; e++) {
		if (!r->list->at[e].timed)
			continue;
		name.n = 0;
		event_symbol_of(&name, "timed", &r->list->at[e]);
		buf_printf(out, "\t.long\t%.*s-.,%" PRId64 "\n", (int)name.n, name.at, r->most[e]);
	}
	buf_add(out, segments.at, segments.n);
	buf_printf(out, "\t.balign 4\n" L "u%u_%u:\n", n, part);
	buf_free(&segments);
	buf_free(&name);
}

void
timer_record(const struct unit *u, const struct woven *w, const struct weave_options *o, struct buf *out)
{
	const struct proc_text *p = w->proc;
	struct record r = {.u = u, .w = w, .list = &o->events};
	uint32_t n = 0;

	if (!any_timed(&o->events))
		return;
	find_added(u->pool, w, &r.added);
	r.first = pool_array(u->pool, p->blocks.n, sizeof *r.first);
	r.most = pool_array(u->pool, o->events.n, sizeof *r.most);
	for (uint32_t b = 0; b < p->blocks.n; b++) {
		r.first[b] = n;
		n += p->block_text.at[b].last - p->block_text.at[b].first;
	}
	find_most(&r);
	buf_printf(out, "\t.pushsection %s,\"ao?\",@progbits," L "A%u_0\n", CHORD_SECTION_TIMED, w->anchor);
	for (uint32_t t = 0; t < p->parts.n; t++)
		part_record(&r, t, out);
	buf_str(out, "\t.popsection\n");
}

/* ---- names ---- */

/* The routines have a group of their own, because objects without timers have the counter's group, too. */
static void
emit_event(const struct machine *m, struct buf *tail, const struct event *event)
{
	struct buf x = {0}, due = {0}, set = {0};

	event_symbol_of(&x, "timed", event);
	buf_char(&x, 0);
	event_symbol_of(&due, "due", event);
	buf_char(&due, 0);
	event_symbol_of(&set, "timer", event);
	buf_char(&set, 0);
	buf_printf(tail, "\t.section .text.chord_timer,\"axG\",@progbits,%s,comdat\n", set.at);
	buf_printf(tail, "\t.globl\t%s\n\t.hidden\t%s\n\t.type\t%s,@function\n%s:\n", set.at, set.at, set.at, set.at);
	m->query->set_timer(tail, x.at, due.at);
	buf_str(tail, "\t.balign 4\n\t.long\t__chord_timers-.\n");
	buf_printf(tail, "\t.globl\t%s\n\t.hidden\t%s\n\t.type\t%s,@function\n%s:\n", due.at, due.at, due.at, due.at);
	m->query->ask_due(tail, x.at);
	buf_free(&x);
	buf_free(&due);
	buf_free(&set);
}

void
emit_timers(struct buf *tail, const struct weave_options *o)
{
	for (uint32_t e = 0; e < o->events.n; e++)
		if (o->events.at[e].timed)
			emit_event(o->machine, tail, &o->events.at[e]);
	if (any_timed(&o->events))
		buf_add(tail, o->timers, o->timers_size);
}
