/* SPDX-License-Identifier: MIT */
/* Measure events: additions on the chords of a spanning tree of their own (events.c) to numbers that a module shares (packed.c).
 * Queries and timers (query.c, timer.c) use these counters; they are not measures. */
#include "weave/measure.h"

static uint32_t
count_refused(const struct plan *l)
{
	uint32_t n = 0;

	for (size_t i = 0; i < l->u->procs.n; i++)
		n += l->u->procs.at[i].reason != NULL;
	return n;
}

static bool
counts_clock(const struct plan *l)
{
	for (uint32_t e = 0; e < l->o->events.n; e++)
		if (l->o->events.at[e].kind == EVENT_CLOCK)
			return true;
	return false;
}

static void
place_all_events(struct plan *l)
{
	const uint32_t *order = local_order(l->u, l->woven);

	if (counts_clock(l))
		clock_prepare(l->u, l->woven);
	for (uint32_t i = 0; i < l->u->procs.n; i++)
		if (!l->woven[order[i]].proc->reason)
			place_events(l->u, &l->woven[order[i]], l->woven, &l->o->events, &l->way);
}

/* Must the counters be right at every call? */
static bool
is_exact(const struct plan *l)
{
	bool exact = at_calls(l->o);

	for (uint32_t e = 0; e < l->o->events.n; e++)
		exact |= l->o->events.at[e].timed;
	return exact;
}

/* If calls or timers need counters that are right at every call, no procedure is local. If a procedure is refused in this step,
 * none is local either: the refused procedure may call others, and does not say what is not counted yet. Nor does it tell its calls
 * apart for the clock. */
static void
plan_text(struct plan *l)
{
	uint32_t refused, way = l->way;

	if (!is_exact(l))
		local_find(l->u, l->woven);
	for (;;) {
		refused = count_refused(l);
		place_all_events(l);
		if (count_refused(l) == refused)
			return;
		for (uint32_t i = 0; i < l->u->procs.n; i++)
			forget_events(&l->woven[i]);
		l->way = way;
	}
}

/* ---- probes ---- */

/* An event with timers. The stub asks whether a timer is due. */
static void
add_timed(struct emitter *m, struct buf *b, const struct site *s, const char *counter, uint32_t event)
{
	uint32_t at = emit_stmt_at(m, s), number = m->nask++;
	struct timed_at t = {.ask = emit_name(m, 'E', number), .on = emit_name(m, 'F', number), .due = m->due[event],
		.lag = s->lag[event]};
	struct buf none = {0}, stub = {0};

	t.in_line = !emit_far(m, s->block, at, &none);
	m->u->machine->add_timed(b, &stub, counter, s->way % CHORD_PAIRS_TIMED * 16u, (int32_t)s->add[event], &t,
	                         m->boxes.at[0].axis[0].event == event ? s->base[BASE_NUMBERS] : 0, s->live);
	if (!t.in_line)
		emit_far(m, s->block, at, &stub);
	buf_free(&stub);
}

static void
add_events(struct emitter *m, struct buf *b, const struct site *s, uint32_t box)
{
	const struct number_box *at = &m->boxes.at[box];
	uint32_t event = at->axis[0].event, way = s->way, n;
	uint8_t base = box ? 0 : s->base[BASE_NUMBERS];
	struct number_add add[NUMBER_AXES];

	if (m->o->events.at[event].timed) {
		if (s->add[event])
			add_timed(m, b, s, m->numbers[box], event);
		return;
	}
	if (base && m->w->turns)
		way -= way % (CHORD_CELLS / at->step);
	n = numbers_add(at, s->add, way, add);
	if (n && base && s->turns)
		m->u->machine->next_cell(b, base, at->step);
	for (uint32_t i = 0; i < n; i++)
		m->u->machine->add(b, m->numbers[box], add[i].number * 8u, add[i].n, base, s->live);
}

static void
probe(struct emitter *m, struct buf *b, const struct site *s)
{
	for (uint32_t i = 0; i < m->boxes.n; i++)
		add_events(m, b, s, i);
}

/* ---- the map ---- */

/* What instructions of a block add, as runs of equal numbers. `at`: the number of the first instruction. */
static void
blob_runs(struct buf *blob, const uint64_t *at, uint32_t ninsn, uint32_t nevent)
{
	uint32_t nrun = 0;

	for (uint32_t i = 0; i < ninsn; i++)
		nrun += !i || at[(size_t)i * nevent] != at[(size_t)(i - 1) * nevent];
	buf_uleb(blob, nrun);
	for (uint32_t i = 0, k; i < ninsn; i = k) {
		for (k = i + 1; k < ninsn && at[(size_t)k * nevent] == at[(size_t)i * nevent];)
			k++;
		buf_uleb(blob, k - i);
		buf_uleb(blob, at[(size_t)i * nevent]);
	}
}

static void
blob_site(struct buf *blob, const struct woven *w, const struct site *s, const struct event_list *list)
{
	if (s->where != SITE_BLOCK || !s->add)
		return;
	buf_uleb(blob, (uint64_t)s->block + 1);
	buf_uleb(blob, s->insn - w->proc->block_text.at[s->block].first);
	for (uint32_t e = 0; e < list->n; e++)
		buf_zigzag(blob, site_ahead(s, list, e));
}

static void
blob_entered(struct buf *blob, const struct woven *w, const struct entered *in, uint32_t nevent)
{
	buf_uleb(blob, in->block + 1);
	buf_uleb(blob, in->insn - w->proc->block_text.at[in->block].first);
	for (uint32_t e = 0; e < nevent; e++)
		buf_zigzag(blob, in->callee->lag[e]);
}

static void
map(struct buf *blob, const struct unit *u, const struct woven *w, const struct weave_options *o)
{
	const struct event_list *list = &o->events;
	const struct proc_text *p = w->proc;
	struct number_boxes boxes = number_boxes(u->pool, list, at_calls(o));
	size_t at = 0;

	buf_uleb(blob, list->n);
	for (uint32_t e = 0; e < list->n; e++) {
		const struct number_axis *axis;
		const struct number_box *box = number_box_of(&boxes, e, &axis);

		map_text(blob, list->at[e].name);
		buf_uleb(blob, box->size);
		buf_uleb(blob, axis->stride);
		buf_uleb(blob, axis->span);
		buf_zigzag(blob, axis->low);
	}
	for (uint32_t b = 0; b < p->blocks.n; b++) {
		uint32_t ninsn = p->block_text.at[b].last - p->block_text.at[b].first;

		for (uint32_t e = 0; e < list->n; e++) {
			buf_zigzag(blob, w->query[(size_t)b * list->n + e]);
			buf_uleb(blob, event_of_block(&list->at[e]));
			blob_runs(blob, &w->events[at + e], ninsn, list->n);
		}
		at += (size_t)ninsn * list->n;
	}
	for (uint32_t i = 0; i < p->arcs.n; i++)
		blob_site(blob, w, &w->edge[i], list);
	for (uint32_t b = 0; b < p->blocks.n; b++)
		blob_site(blob, w, &w->block[b], list);
	for (size_t i = 0; i < w->call_free.n; i++)
		blob_site(blob, w, &w->call_free.at[i].site, list);
	buf_uleb(blob, 0);
	for (size_t i = 0; i < w->entered.n; i++)
		blob_entered(blob, w, &w->entered.at[i], list->n);
	buf_uleb(blob, 0);
}

static void
tail(struct buf *b, const struct unit *u, const struct weave_options *o)
{
	(void)u;
	emit_numbers(b, &o->events, at_calls(o));
	emit_timers(b, o);
}

const struct weave_measure weave_events = {.plan_text = plan_text, .probe = probe, .map = map, .tail = tail};
