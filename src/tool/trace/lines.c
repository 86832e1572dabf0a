/* SPDX-License-Identifier: MIT */
/* Instructions of blocks, each looked up once. */
#include "tool/trace/trace.h"

static struct trace_block *
make_block(struct trace_out *o, const struct proc *p, uint32_t module, uint32_t block)
{
	struct trace_block *b = pool_alloc(o->run->pool, sizeof *b);
	struct binary *bin = traced_binary(o->process, module);
	struct walk w;

	b->insn = pool_array(o->run->pool, p->block[block].ninsn, sizeof *b->insn);
	for (walk_start(&w, p, NULL, block); walk_next(&w); b->n++) {
		/* After weaving, padding may be other instructions at other places. */
		b->insn[b->n].addr = w.kind == CHORD_INSN_PAD ? 0 : w.addr;
		b->insn[b->n].len = (uint32_t)(w.next_offset - w.offset);
		if (!w.addr || !image_place(bin->image, w.addr, &b->insn[b->n].at))
			b->insn[b->n].at = (struct image_place){0};
	}
	return b;
}

/* The key is the bytes of a block's record. They contain the address of its instructions, so no two are alike. */
const struct trace_block *
trace_block(struct trace_out *o, const struct proc *p, uint32_t module, uint32_t block)
{
	struct strmap *known = &o->blocks;
	struct str key = {(const char *)&p->block[block], sizeof p->block[block]};
	uint64_t at;

	if (!strmap_get(known, key, &at)) {
		at = (uint64_t)(uintptr_t)make_block(o, p, module, block);
		strmap_put(known, key, at);
	}
	return (const struct trace_block *)(uintptr_t)at;
}
