/* SPDX-License-Identifier: MIT */
/* Measure trace: the paths of measure paths (paths.c), each written down when it ends. They end at calls, too. Other encodings
 * write witnesses (witness.c) or words of outcomes (bits.c) in place of paths. */
#include "weave/measure.h"

static void
plan(struct plan *l, struct woven *w)
{
	if (may_have_paths(l, w))
		place_paths(l->u, w, NULL, CHORD_TRACE, l->o->encoding);
}

/* Also tells the runtime that a module has traces, and that its paths may be in the shadow of the stack. */
static void
tail(struct buf *b, const struct unit *u, const struct weave_options *o)
{
	emit_own(b, u->object, o->trace, o->trace_size);
	if (o->encoding != WEAVE_PATHS)
		buf_str(b, "\t.pushsection " CHORD_SECTION_WITNESS ",\"\",@progbits\n\t.byte\t1\n\t.popsection\n");
}

const struct weave_measure weave_trace = {.plan = plan, .probe = path_probe, .map = path_map, .tail = tail};
