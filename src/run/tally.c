/* SPDX-License-Identifier: MIT */
/* Totals of events. Events that are counted come from their counters. Others follow from how often instructions, blocks and edges
 * were executed. Instructions are read from the linked program: if a linker replaced some (a load from the GOT by lea), those that
 * ran are counted. */
#include "run/run.h"

#include <string.h>

#define TOO_LARGE "its count does not fit 64 bits"

/* The procedure under consideration. */
struct scan {
	struct tally *t;
	struct binary *bin;
	const struct proc *p;
	const struct counts *c;  /* NULL: everything counts once */
	uint32_t *jump_at;       /* by block: offset of its last instruction */
	uint32_t *first_arc;     /* by block: the first edge that leaves it, or narc */
	uint32_t *last_jump;     /* by vertex: for a hub, the block with the last of the jumps that lead into it */
	uint32_t *lands;         /* by vertex: for a block, itself; for a gate, the block entered through it; else nblock */
	bool leaves;             /* the current block ends in a jump out of the procedure */
	bool *counted;           /* by event: the procedure has a counter for it */
	bool most;               /* upper bounds are being computed */
	uint64_t *sum;           /* by event: of this procedure */
};

static void
add(struct scan *s, uint32_t event, uint64_t value, uint64_t count)
{
	uint64_t more;

	if (!value || !count || s->counted[event])
		return;
	if (!__builtin_mul_overflow(value, count, &more) && checked_add(&s->sum[event], more))
		return;
	if (s->most)
		s->sum[event] = COUNT_NO_BOUND;
	else
		s->t->at[event].why = TOO_LARGE;
}

static void
not_known(struct scan *s, uint32_t event, const char *why)
{
	if (!s->t->at[event].why && !s->counted[event])
		s->t->at[event].why = pool_printf(s->t->pool, "%s %s", why, s->p->name);
}

/* ---- instructions ---- */

static bool
asks_for_callees(const struct event_list *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->at[i].kind == EVENT_CALL_OF)
			return true;
	return false;
}

static bool
needs_facts(const struct event *e)
{
	switch (e->kind) {
	case EVENT_LOADS: case EVENT_STORES: case EVENT_BYTES_LOADED: case EVENT_BYTES_STORED: case EVENT_ATOMICS: case EVENT_FP:
	case EVENT_VECTOR: case EVENT_DIVIDES: case EVENT_INSN: case EVENT_COST:
		return true;
	default:
		return false;
	}
}

static bool
is_call(const struct insn *in)
{
	return in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL;
}

static bool
is_jump(uint32_t kind)
{
	return kind == CHORD_INSN_BRANCH || kind == CHORD_INSN_JUMP || kind == CHORD_INSN_IJUMP;
}

/* The events of an instruction whose callee may have several names. */
static uint64_t
value_of(const struct scan *s, const struct event *e, const struct insn *in, const struct facts *f, const struct callee *c)
{
	uint64_t most = c->n ? 0 : event_of_insn(e, in, f, NULL);

	for (size_t i = 0; i < c->n && !most; i++)
		most = event_of_insn(e, in, f, callee_name(s->t->pool, c, i));
	return most;
}

static void
add_insn(struct scan *s, const struct insn *in, const struct facts *f, uint64_t addr, uint64_t count)
{
	const struct event_list *l = s->t->events;
	struct callee c = {0};

	if (asks_for_callees(l) && (is_call(in) || (s->leaves && in->cls != CHORD_INSN_BRANCH && is_jump(in->cls)))) {
		c = callee_of(s->bin, s->p, in, addr);
		if (!c.n && in->cls == CHORD_INSN_ICALL && !s->most)
			s->t->through_pointers += count;
		else if (!c.n && is_call(in) && !s->most)
			s->t->unnamed += count;
	}
	for (uint32_t i = 0; i < l->n; i++)
		add(s, i, value_of(s, &l->at[i], in, f, &c), count);
}

/* Adds an instruction whose bytes cannot be read, as far as the map describes it. */
static void
add_unread(struct scan *s, const struct walk *w, uint64_t count)
{
	const struct insn in = {.cls = (uint8_t)w->kind, .attr = w->kind == CHORD_INSN_PAD ? INSN_NOP : 0};
	const struct facts f = {.mnemonic = "nop"};

	for (uint32_t i = 0; i < s->t->events->n; i++) {
		const struct event *e = &s->t->events->at[i];

		if (needs_facts(e) && w->kind != CHORD_INSN_PAD)
			not_known(s, i, "instructions cannot be read:");
		else
			add(s, i, event_of_insn(e, &in, &f, NULL), count);
	}
}

/* Is it a jump over data? The map has it, with the data, as one instruction that goes on to the next one. */
static bool
is_over_data(const struct walk *w, const struct insn *in)
{
	return w->kind == CHORD_INSN_OTHER && in->cls == CHORD_INSN_JUMP;
}

/* Reads the linked instructions in the place of one, which is mostly the same instruction. If a linker replaced two by others of
 * the same total length, those that begin in its bytes are read. next: the end of what was read last. */
static void
read_insn(struct scan *s, const struct walk *w, uint64_t count, uint64_t *next)
{
	uint64_t len = w->block->insn[w->i] & 15, at = w->addr, end = w->addr + len;

	if (*next > at && *next - at < 16)
		at = *next;
	while (at < end) {
		struct insn in;
		struct facts f;

		if (!image_insn(s->bin->image, at, &in) || !image_facts(s->bin->image, at, &f)) {
			add_unread(s, w, count);
			return;
		}
		if (is_over_data(w, &in)) {
			in.cls = CHORD_INSN_OTHER;
			in.len = (uint8_t)(end - at);
		}
		add_insn(s, &in, &f, at, count);
		at += in.len;
		if (is_jump(w->kind))
			break; /* it may have another length here; nothing follows it */
	}
	*next = at;
}

static void
add_block(struct scan *s, uint32_t block)
{
	uint64_t next = 0, entered = s->c ? s->c->block[block] : 1;
	struct walk w;

	for (uint32_t i = 0; i < s->t->events->n; i++)
		add(s, i, event_of_block(&s->t->events->at[i]), entered);
	s->leaves = s->first_arc[block] < s->p->narc && s->p->arc[s->first_arc[block]].kind == CHORD_EDGE_EXIT;
	for (walk_start(&w, s->p, s->c, block); walk_next(&w);) {
		uint64_t count = s->c ? w.count : 1;

		if (!count)
			next = 0;
		else if (w.addr && w.kind != CHORD_INSN_PAD)
			read_insn(s, &w, count, &next);
		else
			add_unread(s, &w, count);
	}
}

uint64_t
tally_insns(struct pool *pool, struct binary *bin, const struct proc *p, const struct counts *c, uint32_t block,
            const struct event_list *one)
{
	struct tally_event at = {0};
	struct tally t = {.pool = pool, .events = one, .at = &at};
	uint64_t sum = 0;
	bool counted = false;
	struct scan s = {.t = &t, .bin = bin, .p = p, .c = c, .counted = &counted, .sum = &sum};
	uint64_t next = 0;
	struct walk w;

	for (walk_start(&w, p, c, block); walk_next(&w);) {
		uint64_t count = c ? w.count : 1;

		if (count && w.addr && w.kind != CHORD_INSN_PAD)
			read_insn(&s, &w, count, &next);
		else if (count)
			add_unread(&s, &w, count);
		else
			next = 0;
	}
	return sum;
}

/* ---- edges ---- */

static bool
is_before(const struct block *a, const struct block *b)
{
	return a->part != b->part ? a->part < b->part : a->offset < b->offset;
}

static void
index_blocks(struct scan *s)
{
	const struct proc *p = s->p;

	s->jump_at = pool_array(s->t->pool, p->nblock, sizeof *s->jump_at);
	s->first_arc = pool_array(s->t->pool, p->nblock, sizeof *s->first_arc);
	for (uint32_t b = 0; b < p->nblock; b++) {
		s->jump_at[b] = p->block[b].offset;
		for (uint32_t i = 0; i + 1 < p->block[b].ninsn; i++)
			s->jump_at[b] += p->block[b].insn[i] & 15;
		s->first_arc[b] = p->narc;
	}
	for (uint32_t a = p->narc; a-- > 0;)
		if (p->arc[a].from < p->nblock)
			s->first_arc[p->arc[a].from] = a;
	s->last_jump = pool_array(s->t->pool, p->nvert, sizeof *s->last_jump);
	s->lands = pool_array(s->t->pool, p->nvert, sizeof *s->lands);
	for (uint32_t v = 0; v < p->nvert; v++)
		s->lands[v] = v < p->nblock ? v : p->nblock;
	for (uint32_t a = 0; a < p->narc; a++) {
		uint32_t from = p->arc[a].from, *last = &s->last_jump[p->arc[a].to];

		if (p->arc[a].kind == CHORD_EDGE_INDIRECT && from < p->nblock && is_before(&p->block[*last], &p->block[from]))
			*last = from;
		if (from >= p->nblock && p->arc[a].kind == CHORD_EDGE_FALL && p->arc[a].to < p->nblock)
			s->lands[from] = p->arc[a].to;
	}
}

static bool
is_backward(const struct scan *s, const struct arc *a)
{
	const struct proc *p = s->p;
	uint32_t from, to = s->lands[a->to];

	if (to >= p->nblock || (a->from >= p->nblock && a->kind != CHORD_EDGE_INDIRECT))
		return false;
	from = a->from < p->nblock ? a->from : s->last_jump[a->from];
	if (p->block[from].part != p->block[to].part)
		return p->block[from].part > p->block[to].part;
	return p->block[to].offset <= s->jump_at[from];
}

static bool
ends_in_branch(const struct scan *s, uint32_t block)
{
	const struct block *b = &s->p->block[block];

	return b->ninsn && b->insn[b->ninsn - 1] >> 4 == CHORD_INSN_BRANCH;
}

/* Is it a conditional jump out of the procedure? The edge of a block's jump comes before the edge to the next block. */
static bool
is_jump_out(const struct scan *s, uint32_t arc)
{
	const struct arc *a = &s->p->arc[arc];

	return a->kind == CHORD_EDGE_EXIT && a->from < s->p->nblock && s->first_arc[a->from] == arc && ends_in_branch(s, a->from);
}

static uint64_t
value_of_callee(struct scan *s, const struct event *e, uint32_t block)
{
	struct walk w;
	struct insn in;
	struct callee c;

	if (e->kind != EVENT_CALL_OF)
		return 0;
	for (walk_start(&w, s->p, NULL, block); w.i + 1 != s->p->block[block].ninsn && walk_next(&w);)
		;
	if (!w.addr || !image_insn(s->bin->image, w.addr, &in))
		return 0;
	c = callee_of(s->bin, s->p, &in, w.addr);
	for (size_t i = 0; i < c.n; i++)
		if (event_of_jump_out(e, callee_name(s->t->pool, &c, i)))
			return 1;
	return 0;
}

static void
add_arc(struct scan *s, uint32_t arc)
{
	const struct arc *a = &s->p->arc[arc];
	bool out = is_jump_out(s, arc), backward = is_backward(s, a);

	if (s->c && s->c->arc_known[arc] && !s->c->arc[arc])
		return;
	for (uint32_t i = 0; i < s->t->events->n; i++) {
		const struct event *e = &s->t->events->at[i];
		uint64_t value = event_of_edge(e, out ? CHORD_EDGE_TAKEN : a->kind, backward);

		value += out ? value_of_callee(s, e, a->from) : 0;
		if (value && s->c && !s->c->arc_known[arc])
			not_known(s, i, "not all edges are known of");
		else
			add(s, i, value, s->c ? s->c->arc[arc] : 1);
	}
}

static bool
asks_for_edges(const struct event_list *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (event_of_edge(&l->at[i], CHORD_EDGE_TAKEN, true) || l->at[i].kind == EVENT_CALL_OF)
			return true;
	return false;
}

/* ---- counters of events ---- */

/* False: there is a counter for every requested event. */
static bool
find_counted(struct scan *s)
{
	const struct event_list *l = s->t->events;
	uint32_t n = 0;

	s->counted = pool_array(s->t->pool, l->n, sizeof *s->counted);
	for (uint32_t i = 0; i < l->n && !s->t->once; i++)
		for (uint32_t e = 0; e < s->p->nevent && !s->counted[i]; e++)
			n += s->counted[i] = !strcmp(l->at[i].name, s->p->event[e].name);
	return n < l->n;
}

static void
add_counters(struct tally *t, const struct binary *bin)
{
	for (uint32_t i = 0; i < t->events->n; i++)
		for (uint32_t e = 0; e < bin->events.n; e++) {
			if (strcmp(t->events->at[i].name, bin->events.at[e].name))
				continue;
			if (bin->events.why)
				t->at[i].why = bin->events.why;
			else if (!checked_add(&t->at[i].n, bin->events.at[e].n))
				t->at[i].why = TOO_LARGE;
			t->at[i].most = saturating_add(t->at[i].most, bin->events.at[e].most);
		}
}

static void
scan_proc(struct scan *s)
{
	if (s->c && (s->c->why || (!s->c->blocks && !s->c->insns)))
		return;
	index_blocks(s);
	for (uint32_t b = 0; b < s->p->nblock; b++)
		add_block(s, b);
	for (uint32_t a = 0; a < s->p->narc && asks_for_edges(s->t->events); a++)
		add_arc(s, a);
}

static void
add_proc(struct tally *t, struct binary *bin, uint32_t i)
{
	struct scan s = {.t = t, .bin = bin, .p = &bin->map.proc[i], .c = t->once ? NULL : &bin->counts[i]};
	uint64_t *least;

	if (s.p->refused || !find_counted(&s))
		return;
	for (uint32_t e = 0; e < t->events->n; e++)
		if (s.c && (counts_by_design(s.c) || t->events->at[e].kind == EVENT_CLOCK))
			not_known(&s, e, "not counted in");
	least = s.sum = pool_array(t->pool, t->events->n, sizeof *s.sum);
	scan_proc(&s);
	if (s.c && s.c->most) {
		s.sum = pool_array(t->pool, t->events->n, sizeof *s.sum);
		s.c = s.c->most;
		s.most = true;
		scan_proc(&s);
	}
	for (uint32_t e = 0; e < t->events->n; e++) {
		if (!checked_add(&t->at[e].n, least[e]))
			t->at[e].why = TOO_LARGE;
		t->at[e].most = saturating_add(t->at[e].most, s.sum[e]);
	}
}

void
tally_run(struct tally *t, struct pool *pool, struct run *r, const struct event_list *events, bool once)
{
	*t = (struct tally){.pool = pool, .events = events, .once = once};
	t->at = pool_array(pool, events->n, sizeof *t->at);
	for (size_t k = 0; k < r->binary.n; k++) {
		if (!once)
			add_counters(t, &r->binary.at[k]);
		for (uint32_t i = 0; i < r->binary.at[k].map.nproc; i++)
			add_proc(t, &r->binary.at[k], i);
	}
}
