/* SPDX-License-Identifier: MIT */
/* Measure paths: how often each acyclic path ran (paths.c), or each of those that were selected (selection.c). */
#include "weave/measure.h"

bool
may_have_paths(struct plan *l, struct woven *w)
{
	if (!l->no_paths)
		l->no_paths = paths_shadow_taken(l->u->object);
	if (*l->no_paths)
		w->proc->reason = l->no_paths;
	return !*l->no_paths;
}

static void
plan(struct plan *l, struct woven *w)
{
	l->wrong |= may_have_paths(l, w) && !place_paths(l->u, w, l->o->interest, CHORD_PATHS, WEAVE_PATHS);
}

static void
add_cold(struct emitter *m, struct buf *b, const struct site *s, const struct buf *stub)
{
	const char *over;

	if (emit_far(m, s->block, s->path->stmt, stub))
		return;
	over = emit_name(m, 'v', s->path->number);
	m->u->machine->jump(b, over);
	buf_add(b, stub->at, stub->n);
	buf_printf(b, "%s:\n", over);
}

/* A register counts the path that begins and ends here. */
static void
count_marked(const struct emitter *m, const struct site *s, struct path_place *place, struct counted_steps *steps)
{
	const struct promotion *p = &m->w->promotions.at[s->promoted - 1];

	*steps = emit_steps(p);
	if (p->var)
		place->steps = steps;
	else
		place->counts = p->reg;
}

void
path_probe(struct emitter *m, struct buf *b, const struct site *s)
{
	const struct woven_paths *x = m->w->paths;
	struct path_counters table = {.label = m->counters, .kind = x->kind, .bits = (uint8_t)x->size};
	struct path_place place = s->path->place;
	struct path_op op = s->path->op;
	struct counted_steps steps;
	struct buf stub = {0};
	char desc[32];

	snprintf(desc, sizeof desc, LABEL_PREFIX "Y%u", m->w->number);
	table.desc = desc;
	if (s->path->stmt != UINT32_MAX)
		cfi_need(m->u->cfi, s->path->stmt, &place.live);
	place.guard = emit_name(m, 'G', s->path->number);
	place.guarded = emit_name(m, 'H', s->path->number);
	place.miss = emit_name(m, 'I', s->path->number);
	place.counted = emit_name(m, 'D', s->path->number);
	place.struck = emit_name(m, 'j', s->path->number);
	place.begun = emit_name(m, 'k', s->path->number);
	place.base = s->base[BASE_COUNTERS];
	if (s->path->cells) {
		place.cells = s->base[BASE_CELLS];
		place.cell = 8 * (uint64_t)(s->path->cells - 1);
	}
	if (s->promoted && op.mark) {
		count_marked(m, s, &place, &steps);
	} else if (s->promoted) {
		op.record = PATH_NO_RECORD;
		count_promoted(m, b, s);
	}
	m->u->machine->path(b, &stub, &op, &table, &place);
	if (stub.n)
		add_cold(m, b, s, &stub);
	buf_free(&stub);
}

/* Phantoms are not in the map. */
static void
write_values(struct buf *blob, const struct woven *w)
{
	const struct woven_paths *x = w->paths;
	const struct dag *d = x->paths->dag;
	uint32_t n = (uint32_t)w->proc->arcs.n;

	for (uint32_t v = 0; v < d->g->nvert; v++)
		n += d->begin[v] != GRAPH_NONE;

	for (uint32_t e = 0; e < w->proc->arcs.n; e++)
		buf_uleb(blob, !d->cut[e] ? CHORD_NOT_CUT : x->outcomes && x->outcomes->soft[e] ? CHORD_CUT_SOFTLY : CHORD_CUT);
	buf_uleb(blob, n);
	for (uint32_t e = 0; e < w->proc->arcs.n; e++)
		buf_zigzag(blob, x->paths->val[e]);
	for (uint32_t v = 0; v < d->g->nvert; v++)
		if (d->begin[v] != GRAPH_NONE)
			buf_zigzag(blob, x->paths->val[d->begin[v]]);
}

void
path_map(struct buf *blob, const struct unit *u, const struct woven *w, const struct weave_options *o)
{
	const struct woven_paths *x = w->paths;
	const struct probes *r = x->paths->probes;

	(void)u;
	(void)o;
	buf_uleb(blob, x->kind);
	buf_uleb(blob, 0);
	buf_uleb(blob, x->size);
	write_values(blob, w);
	for (uint32_t v = 0; v < w->proc->graph->nvert; v++) {
		buf_uleb(blob, !r->known[v]);
		buf_zigzag(blob, r->query[v] + (r->known[v] ? r->value[v] : 0));
		buf_zigzag(blob, r->start[v]);
	}
	buf_uleb(blob, x->ninterest);
	for (uint32_t i = 0; i < x->ninterest; i++)
		buf_uleb(blob, x->interest[i]);
}

/* Tells the runtime where the hash table is. */
static void
beside(struct buf *out, const struct woven *w, const char *group)
{
	if (w->paths->kind != CHORD_PATH_HASHED)
		return;
	if (group)
		buf_printf(out, "\t.pushsection %s,\"aG\",@progbits,\"%s.%s\",comdat\n", CHORD_SECTION_PATH, CHORD_SECTION_CNT,
		           group);
	else
		buf_printf(out, "\t.pushsection %s,\"a\",@progbits\n", CHORD_SECTION_PATH);
	buf_printf(out, "\t.balign 4\n" LABEL_PREFIX "Y%u:\t.long\t" LABEL_PREFIX "C%u-.,%u\n\t.popsection\n", w->number,
	           w->number, w->paths->size);
}

/* Tells the runtime that a module has paths, once for each kind: all of them counted, or some. */
static void
tail(struct buf *b, const struct unit *u, const struct weave_options *o)
{
	(void)u;
	bool selected = o->interest != NULL;
	const char *name = selected ? "__chord_some_paths" : "__chord_paths";

	buf_printf(b, "\t.section %s,\"awG\",@nobits,%s,comdat\n\t.balign 8\n", CHORD_SECTION_CNT, name);
	buf_printf(b, "\t.globl\t%s\n\t.hidden\t%s\n%s:\t.zero\t8\n", name, name, name);
	buf_printf(b, "\t.section %s,\"aoG\",@progbits,%s,%s,comdat\n\t.balign 4\n\t.long\t0,%d\n", CHORD_SECTION_PATH, name,
	           name, selected);
}

const struct weave_measure weave_paths = {.plan = plan, .probe = path_probe, .map = path_map, .beside = beside, .tail = tail};
