/* SPDX-License-Identifier: MIT */
/* A procedure's graph as bytes. Layout: format/format.h; read.c reads them. */
#include "cfg/cfg.h"

#include <string.h>

static void
put_text(struct buf *blob, const char *s)
{
	buf_uleb(blob, strlen(s));
	buf_str(blob, s);
}

static void
put_blocks(struct buf *blob, const struct proc *p)
{
	buf_uleb(blob, p->nblock);
	for (uint32_t i = 0; i < p->nblock; i++) {
		const struct block *b = &p->block[i];

		buf_uleb(blob, b->part);
		buf_uleb(blob, b->offset);
		buf_uleb(blob, b->counter);
		buf_uleb(blob, b->ninsn);
		buf_add(blob, b->insn, b->ninsn);
	}
}

static void
put_arcs(struct buf *blob, const struct proc *p)
{
	buf_uleb(blob, p->nvert);
	buf_uleb(blob, p->narc);
	for (uint32_t i = 0; i < p->narc; i++) {
		const struct arc *a = &p->arc[i];

		buf_uleb(blob, a->from);
		buf_uleb(blob, a->to);
		buf_uleb(blob, a->kind);
		buf_uleb(blob, a->counter);
	}
}

static void
put_calls(struct buf *blob, const struct proc *p)
{
	buf_uleb(blob, p->ncall);
	for (uint32_t i = 0; i < p->ncall; i++) {
		const struct call *c = &p->call[i];

		buf_uleb(blob, c->block);
		buf_uleb(blob, c->insn);
		buf_uleb(blob, c->flags);
		if (!p->summed)
			continue;
		buf_uleb(blob, c->sum);
		if (c->sum)
			put_text(blob, c->callee);
	}
}

static void
put_segs(struct buf *blob, const struct proc *p)
{
	buf_uleb(blob, p->nseg);
	for (uint32_t i = 0; i < p->nseg; i++) {
		buf_uleb(blob, p->seg[i].block);
		buf_uleb(blob, p->seg[i].insn);
	}
}

void
proc_write(struct buf *blob, const struct proc *p)
{
	put_text(blob, p->name);
	put_text(blob, p->file);
	put_text(blob, p->refused ? p->refused : "");
	if (p->refused)
		return;
	put_blocks(blob, p);
	put_arcs(blob, p);
	put_calls(blob, p);
	put_segs(blob, p);
}
