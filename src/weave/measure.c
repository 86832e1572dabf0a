/* SPDX-License-Identifier: MIT */
/* Each step of weaving, for all measures that were asked for. */
#include "weave/measure.h"

#define ROW(id, lower, ...) [CHORD_##id] = &weave_##lower,
static const struct weave_measure *const list[CHORD_MEASURES] = {CHORD_MEASURE_LIST(ROW)};

/* Calls a function of all measures in a set that have it. */
#define EACH(set, function, ...) \
	for (uint32_t m_ = 0; m_ < CHORD_MEASURES; m_++) \
		if (measures_have(set, m_) && list[m_]->function) \
			list[m_]->function(__VA_ARGS__)

void
measures_plan(struct plan *l, struct woven *w)
{
	EACH(l->o->measures, plan, l, w);
}

void
measures_plan_text(struct plan *l)
{
	EACH(l->o->measures, plan_text, l);
}

void
measures_at_call(struct emitter *m, uint32_t number, uint32_t stmt)
{
	EACH(m->o->measures, at_call, m, number, stmt);
}

void
measures_probe(struct emitter *m, struct buf *b, const struct site *s)
{
	EACH(s->probes, probe, m, b, s);
}

void
measures_map(struct buf *blob, const struct unit *u, const struct woven *w, const struct weave_options *o)
{
	for (uint32_t m = 0; m < CHORD_MEASURES; m++) {
		struct buf b = {0};

		if (!measures_have(o->measures, m))
			continue;
		if (list[m]->map)
			list[m]->map(&b, u, w, o);
		map_section(blob, measure_list[m].name, &b);
		buf_free(&b);
	}
}

void
measures_beside(struct buf *out, const struct woven *w, const struct weave_options *o, const char *group)
{
	EACH(o->measures, beside, out, w, group);
}

void
measures_tail(struct buf *b, const struct unit *u, const struct weave_options *o)
{
	EACH(o->measures, tail, b, u, o);
}
