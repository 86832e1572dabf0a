/* SPDX-License-Identifier: MIT */
/* The counts of a function in the run with which this one is compared. */
#include "html/html.h"

/* The counts are in the order of the listing: by block, in the order of the code. */
static void
put_insns(struct buf *out, const struct proc_before *b)
{
	struct walk w;

	script_key(out, "insns");
	buf_char(out, '[');
	for (uint32_t i = 0; i < b->proc->nblock; i++)
		for (walk_start(&w, b->proc, b->counts, i); walk_next(&w);) {
			script_next(out);
			script_known(out, w.count, view_is_exact(b->counts));
		}
	buf_char(out, ']');
}

static void
put_blocks(struct buf *out, const struct proc_before *b)
{
	script_key(out, "blocks");
	buf_char(out, '[');
	for (uint32_t i = 0; i < b->proc->nblock; i++) {
		struct view_block row = view_block_of(b->proc, b->counts, i);

		script_next(out);
		script_bounds(out, &row.count, row.known);
	}
	buf_char(out, ']');
}

static void
put_edges(struct buf *out, const struct proc_before *b)
{
	script_key(out, "edges");
	buf_char(out, '[');
	for (uint32_t i = 0; i < b->proc->narc; i++) {
		struct view_edge row = view_edge_of(b->proc, b->counts, i);

		script_next(out);
		script_bounds(out, &row.count, row.known);
	}
	buf_char(out, ']');
}

void
pages_before(struct pages *p, struct buf *out, const struct view_function *f)
{
	struct proc_before b = compare_proc(p->procs, f->binary, f->number);

	script_key(out, "before");
	buf_char(out, '{');
	if (b.why) {
		script_key(out, "why");
		script_name(out, image_readable_text(b.why));
	} else {
		put_insns(out, &b);
		put_blocks(out, &b);
		put_edges(out, &b);
	}
	buf_char(out, '}');
}
