/* SPDX-License-Identifier: MIT */
/* Where signals struck: finds the instruction of the original for an address of woven code. And what calls and jumps name. */
#include "tool/trace/trace.h"

#include <string.h>

static struct where_index *
index_of(struct trace_out *o, uint32_t module)
{
	struct traced *t = o->process;

	if (!t->where)
		t->where = pool_array(o->run->pool, t->profile->module.n, sizeof *t->where);
	if (!t->where[module].binary) {
		where_open(&t->where[module], o->run->pool, t->binary[module]);
		t->where[module].traces = true;
	}
	return &t->where[module];
}

/* Finds where control is after an instruction of a block. False: no instruction of the block comes after it. */
static bool
behind(struct where_index *x, const struct proc *p, uint32_t block, uint32_t insn, struct where *w)
{
	struct walk walk;

	for (walk_start(&walk, p, NULL, block); walk_next(&walk);)
		if (walk.i == insn)
			break;
	*w = (struct where){0};
	return walk.addr && where_find(x, x->pool, walk.addr + walk.next_offset - walk.offset, w) && !w->why && !w->left &&
	       w->block == block && w->insn > insn;
}

/* Does control leave the block by one edge only? *falls: it falls through. */
static bool
goes_one_way(const struct proc *p, uint32_t block, bool *falls)
{
	const struct block *b = &p->block[block];
	uint32_t n = 0, last = b->ninsn;

	for (uint32_t e = 0; e < p->narc; e++)
		n += p->arc[e].from == block;
	while (last && b->insn[last - 1] >> 4 == CHORD_INSN_PAD)
		last--;
	switch (last ? b->insn[last - 1] >> 4 : CHORD_INSN_OTHER) {
	case CHORD_INSN_JUMP: case CHORD_INSN_IJUMP: case CHORD_INSN_RET:
		*falls = false;
		break;
	default:
		*falls = true;
		break;
	}
	return n == 1;
}

/* Looks where a path that ends with the block takes its slot: in the block or, if only one edge leaves it, perhaps just after
 * it. */
static void
look_around(struct where_index *x, struct replay_strike *s)
{
	bool inside = false, behind_it = false, falls;
	uint32_t n = s->proc->block[s->block].ninsn;
	struct where w;

	for (uint32_t i = 0; i < n; i = w.insn) {
		bool in = behind(x, s->proc, s->block, i, &w);

		if (!in) {
			behind_it = w.proc == s->proc && w.reserves;
			break;
		}
		s->more |= w.reserves && w.insn > s->insn;
		inside |= w.reserves && w.insn <= s->insn;
	}
	s->passed = goes_one_way(s->proc, s->block, &falls) && (!falls || inside || !behind_it);
	s->unclear = !s->passed && goes_one_way(s->proc, s->block, &falls);
}

/* May the strike be before the place where the procedure checks whether a signal called it? w: what is before the address. */
static bool
is_entry(struct where_index *x, const struct replay_strike *s, const struct where *w)
{
	struct where at;
	bool found = where_find(x, x->pool, s->proc->part[0].addr, &at) && !at.why && !at.left;

	while (found && !at.asks)
		found = behind(x, s->proc, at.block, at.insn, &at);
	/* After the check, the first slot may be taken before the same instruction. */
	return found && s->block == at.block && s->insn <= at.insn && (s->insn < at.insn || w->asks || w->reserves || !at.reserves);
}

bool
place_locate(struct replay *r, uint32_t module, uint64_t addr, struct replay_strike *s)
{
	struct trace_out *o = r->ctx;
	const struct profile *p = o->process->profile;
	struct where w;

	*s = (struct replay_strike){.module = module < p->number.n ? p->number.at[module] : UINT32_MAX};
	if (s->module == UINT32_MAX || !o->process->binary[s->module] ||
	    !where_find(index_of(o, s->module), o->run->pool, addr, &w) || w.why)
		return false;
	s->proc = w.proc;
	s->block = w.left ? UINT32_MAX : w.block;
	s->insn = w.insn;
	s->ahead = w.reserves;
	if (!w.left)
		look_around(index_of(o, s->module), s);
	s->entry = !w.left && is_entry(index_of(o, s->module), s, &w);
	return true;
}

/* If one of several edges follows, a path's slot is taken on that edge. Otherwise it is taken in the last block, perhaps at its
 * beginning if slots for registers are taken there, too. */
struct replay_point
place_written(struct replay *r, const struct replay_path *p)
{
	struct where_index *x = index_of(r->ctx, p->module);
	struct replay_point end = {p->n, 0}, at = {p->n ? p->n - 1 : 0, 0};
	struct where w = {0};
	bool falls;

	if (!p->n || ((p->end == REPLAY_CUT || p->end == REPLAY_TAIL) && !goes_one_way(p->proc, p->block[p->n - 1], &falls)))
		return end;
	while (!p->proc->data && behind(x, p->proc, p->block[p->n - 1], w.insn, &w))
		if (w.reserves) {
			at.insn = w.insn;
			break;
		}
	return at;
}

/* ---- what calls and jumps name ---- */

/* The address of a block's last instruction that is not padding; 0: not known. */
static uint64_t
last_insn(const struct proc *p, uint32_t block)
{
	uint64_t addr = 0;
	struct walk w;

	for (walk_start(&w, p, NULL, block); walk_next(&w);)
		if (w.kind != CHORD_INSN_PAD)
			addr = w.addr;
	return addr;
}

static bool
is_among(struct pool *pool, const struct callee *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(callee_name(pool, c, i), name))
			return true;
	return false;
}

bool
place_names(void *ctx, const struct replay_path *p, const struct proc *callee, uint32_t module)
{
	struct trace_out *o = ctx;
	struct binary *bin = traced_binary(o->process, p->module);
	uint64_t at = p->n && bin ? last_insn(p->proc, p->block[p->n - 1]) : 0;
	struct callee c;
	struct insn in;

	if (!at || !image_insn(bin->image, at, &in))
		return false;
	c = callee_of(bin, p->proc, &in, at);
	if (c.addr)
		return module == p->module && c.addr == callee->part[0].addr;
	return is_among(o->run->pool, &c, callee->name);
}
