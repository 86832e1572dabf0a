/* SPDX-License-Identifier: MIT */
/* Reads a procedure's graph from the bytes that write.c makes. They come from outside: every number is checked. */
#include "cfg/cfg.h"

#include <stdlib.h>

static void
get_block(struct in *in, const struct proc *p, struct block *b)
{
	uint64_t end;

	b->part = in_below(in, p->npart, "a block in a part that is not there");
	b->offset = in_below(in, (uint64_t)UINT32_MAX + 1, "a block outside its part");
	b->counter = in_below(in, (uint64_t)p->ncounter + 1, "a counter that is not there");
	b->ninsn = in_number(in, 1);
	b->insn = in->at;
	in->at += b->ninsn;
	end = b->offset;
	for (uint32_t i = 0; i < b->ninsn; i++) {
		if (!(b->insn[i] & 15) || b->insn[i] >> 4 > CHORD_INSN_PAD)
			in_bad(in, "an instruction of no known kind");
		end += b->insn[i] & 15;
	}
	if (!in->bad && end > p->part[b->part].orig_size)
		in_bad(in, "a block outside its part");
}

static void
get_blocks(struct in *in, struct proc *p)
{
	p->nblock = in_number(in, 4);
	p->block = pool_array(in->pool, p->nblock, sizeof *p->block);
	for (uint32_t i = 0; i < p->nblock; i++)
		get_block(in, p, &p->block[i]);
}

static void
get_arcs(struct in *in, struct proc *p)
{
	uint32_t nclose = 0;

	p->nvert = in_below(in, UINT32_MAX / 2, "too many vertices");
	p->narc = in_number(in, 4);
	if (p->nvert < p->nblock + 2 || p->nvert > p->nblock + 2 + p->narc)
		in_bad(in, "a number of vertices that cannot be");
	p->arc = pool_array(in->pool, p->narc, sizeof *p->arc);
	for (uint32_t i = 0; i < p->narc; i++) {
		struct arc *a = &p->arc[i];

		a->from = in_below(in, p->nvert, "an edge from nowhere");
		a->to = in_below(in, p->nvert, "an edge to nowhere");
		a->kind = (uint8_t)in_below(in, CHORD_EDGE_KINDS, "an edge of no known kind");
		a->counter = in_below(in, (uint64_t)p->ncounter + 1, "a counter that is not there");
		if (a->kind != CHORD_EDGE_CLOSE)
			continue;
		nclose++;
		p->close = i;
		if (a->from != PROC_EXIT(p) || a->to != PROC_ENTRY(p))
			in_bad(in, "a closing edge that does not close");
	}
	if (nclose != 1)
		in_bad(in, "not one closing edge");
}

static void
get_calls(struct in *in, struct proc *p)
{
	p->ncall = in_number(in, 3);
	p->call = pool_array(in->pool, p->ncall, sizeof *p->call);
	for (uint32_t i = 0; i < p->ncall; i++) {
		struct call *c = &p->call[i];

		c->block = in_below(in, p->nblock, "a call in no block");
		c->insn = in_below(in, in->bad ? 1 : p->block[c->block].ninsn, "a call that is no instruction");
		c->flags = in_below(in, CHORD_CALL_NORETURN + CHORD_CALL_POINTER + CHORD_CALL_TWICE + 1, "a call of no known kind");
		if (p->summed)
			c->sum = in_below(in, (uint64_t)p->ncounter + 1, "a counter that is not there");
		c->callee = c->sum ? in_string(in) : NULL;
		if (c->flags & CHORD_CALL_POINTER && !c->sum && !in->bad)
			in_bad(in, "a call of no known kind");
	}
}

static void
get_segs(struct in *in, struct proc *p)
{
	p->nseg = in_number(in, 2);
	p->seg = pool_array(in->pool, p->nseg, sizeof *p->seg);
	for (uint32_t i = 0; i < p->nseg; i++) {
		struct seg *s = &p->seg[i];

		s->block = in_below(in, p->nblock, "a segment in no block");
		s->insn = in_below(in, in->bad ? 1 : (uint64_t)p->block[s->block].ninsn + 1, "a segment outside its block");
	}
}

static int
by_call(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return (x->insn > y->insn) - (x->insn < y->insn);
}

static int
by_seg(const void *a, const void *b)
{
	const struct seg *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return (x->insn > y->insn) - (x->insn < y->insn);
}

void
proc_index(struct in *in, struct proc *p)
{
	if (p->ncall)
		qsort(p->call, p->ncall, sizeof *p->call, by_call);
	if (p->nseg)
		qsort(p->seg, p->nseg, sizeof *p->seg, by_seg);
	for (uint32_t i = 0; i < p->ncall; i++) {
		struct block *b = &p->block[p->call[i].block];

		if (b->ncall++ == 0)
			b->call = i;
		else if (p->call[i].insn == p->call[i - 1].insn)
			in_bad(in, "a call listed twice");
	}
	for (uint32_t i = 0; i < p->nseg; i++) {
		struct block *b = &p->block[p->seg[i].block];

		if (b->nseg++ == 0)
			b->seg = i;
	}
}

bool
proc_leaves_unseen(const struct proc *p, uint32_t arc)
{
	return p->arc[arc].from > PROC_EXIT(p) && p->arc[arc].to == PROC_EXIT(p);
}

void
proc_read(struct in *in, struct proc *p, bool refused)
{
	const char *reason;

	in->name = p->name = in_string(in);
	p->file = in_string(in);
	reason = in_string(in);
	if (refused) {
		/* The rest has no meaning without blocks. */
		p->refused = *reason ? reason : "no reason given";
		in->at = in->bad ? in->at : in->end;
		return;
	}
	get_blocks(in, p);
	get_arcs(in, p);
	get_calls(in, p);
	get_segs(in, p);
}
