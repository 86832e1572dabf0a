/* SPDX-License-Identifier: MIT */
/* Measure data: the registers from which the addresses of loads and stores can be computed, written to the trace (data.c). */
#include "weave/measure.h"

/* Runs after paths have been placed, because it must know where these hold registers. */
static void
plan_text(struct plan *l)
{
	for (uint32_t i = 0; i < l->u->procs.n; i++)
		if (!l->woven[i].proc->reason)
			place_data(l->u, &l->woven[i]);
}

static void
probe(struct emitter *m, struct buf *b, const struct site *s)
{
	const struct data_record *r = s->data;
	uint32_t stmt = woven_insn(m->w, s->block, s->insn)->stmt;
	struct path_place place = r->place;
	struct buf stub = {0};

	if (stmt != UINT32_MAX)
		cfi_need(m->u->cfi, stmt, &place.live);
	place.miss = emit_name(m, 'L', r->number);
	place.counted = emit_name(m, 'W', r->number);
	m->u->machine->data(b, &stub, &r->op, &place);
	if (!emit_far(m, s->block, stmt, &stub)) {
		m->u->machine->jump(b, pool_printf(m->u->pool, "%s_4", place.counted));
		buf_add(b, stub.at, stub.n);
		buf_printf(b, "%s_4:\n", place.counted);
	}
	buf_free(&stub);
}

static void
map(struct buf *blob, const struct unit *u, const struct woven *w, const struct weave_options *o)
{
	(void)u;
	(void)o;
	buf_uleb(blob, w->begins);
	buf_zigzag(blob, w->begins_at);
	buf_uleb(blob, w->data.n);
	for (size_t i = 0; i < w->data.n; i++) {
		const struct data_record *r = &w->data.at[i];

		buf_uleb(blob, r->block);
		buf_uleb(blob, r->insn - w->proc->block_text.at[r->block].first);
		buf_uleb(blob, r->what);
	}
}

const struct weave_measure weave_data = {.plan_text = plan_text, .probe = probe, .map = map};
