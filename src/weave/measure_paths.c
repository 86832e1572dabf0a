/* SPDX-License-Identifier: MIT */
/* Measure paths: how often each acyclic path ran (paths.c), or each of those that were selected (interest.c). */
#include "weave/measure.h"

static void
plan(struct plan *l, struct woven *w)
{
	l->wrong |= !place_paths(l->u, w, l->o->interest);
}

/* Tells the runtime that a module has paths, once for each kind: all of them counted, or some. */
static void
tail(struct buf *b, const struct weave_options *o)
{
	bool selected = o->interest != NULL;
	const char *name = selected ? "__chord_some_paths" : "__chord_paths";

	buf_printf(b, "\t.section %s,\"awG\",@nobits,%s,comdat\n\t.balign 8\n", CHORD_SECTION_CNT, name);
	buf_printf(b, "\t.globl\t%s\n\t.hidden\t%s\n%s:\t.zero\t8\n", name, name, name);
	buf_printf(b, "\t.section %s,\"aoG\",@progbits,%s,%s,comdat\n\t.balign 4\n\t.long\t0,%d\n", CHORD_SECTION_PATH, name,
	           name, selected);
}

const struct weave_measure weave_paths = {.plan = plan, .tail = tail};
