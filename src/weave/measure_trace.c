/* SPDX-License-Identifier: MIT */
/* Measure trace: the paths of measure paths (paths.c), of which each is written down when it ends. They end at calls, too. Or
 * witnesses in their place (witness.c), or words of outcomes (bits.c). */
#include "weave/measure.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

static void
plan(struct plan *l, struct woven *w)
{
	place_paths(l->u, w, NULL, CHORD_TRACE, l->o->encoding);
}

/* The directive for .eh_frame: the assembler takes no other flags or type than the text has given that section (libffi's text has
 * @unwind). */
static void
frame_section(struct buf *b, const struct object *o)
{
	const struct obj_section *s = NULL;

	for (uint32_t i = 1; i < o->nsection && !s; i++)
		if (!strcmp(o->sections[i].name, ".eh_frame") && !o->sections[i].comdat)
			s = &o->sections[i];
	buf_printf(b, "\t.section .eh_frame,\"%s\",@%" PRIu32 "\n", s && s->write ? "aw" : "a", s ? s->type : SHT_PROGBITS);
}

/* Also tells the runtime that a module has traces, and that its paths may be in the shadow of the stack. */
static void
tail(struct buf *b, const struct unit *u, const struct weave_options *o)
{
	static const char mark[] = "@eh_frame@\n";
	const char *at = o->trace ? memmem(o->trace, o->trace_size, mark, strlen(mark)) : NULL;
	size_t n = at ? (size_t)(at - o->trace) : o->trace_size;

	buf_add(b, o->trace, n);
	if (at) {
		frame_section(b, u->object);
		buf_add(b, at + strlen(mark), o->trace_size - n - strlen(mark));
	}
	if (o->encoding != WEAVE_PATHS)
		buf_str(b, "\t.pushsection " CHORD_SECTION_WITNESS ",\"\",@progbits\n\t.byte\t1\n\t.popsection\n");
}

const struct weave_measure weave_trace = {.plan = plan, .probe = path_probe, .map = path_map, .tail = tail};
