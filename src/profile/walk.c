/* SPDX-License-Identifier: MIT */
/* How often each instruction of a block ran. Calls that did not return and other ends inside the block change the count. */
#include "profile/profile.h"

void
walk_start(struct walk *w, const struct proc *proc, const struct counts *counts, uint32_t block)
{
	const struct block *b = &proc->block[block];

	*w = (struct walk){.proc = proc, .counts = counts && !counts->why ? counts : NULL, .block = b, .i = UINT32_MAX};
	w->call = b->call;
	w->seg = b->seg;
	w->next_offset = b->offset;
	w->next_count = w->counts ? w->counts->block[block] : 0;
}

/* An activation may end at a call and be resumed after it, or end where a signal strikes. Both change the count of what follows. */
static void
pass_cuts(struct walk *w)
{
	uint32_t block = (uint32_t)(w->block - w->proc->block);

	for (const struct cut *c = w->counts ? w->counts->cut : NULL; c; c = c->next)
		if (c->block == block && c->insn == w->i)
			w->next_count += c->back - c->left;
}

static void
pass_call(struct walk *w)
{
	if (w->call == w->block->call + w->block->ncall || w->proc->call[w->call].insn != w->i)
		return;
	if (w->counts && w->counts->left)
		w->next_count += w->counts->back[w->call] - w->counts->left[w->call];
	w->call++;
}

static void
enter_segment(struct walk *w)
{
	while (w->seg < w->block->seg + w->block->nseg && w->proc->seg[w->seg].insn == w->i) {
		w->has_seg = w->proc->seg[w->seg].addr;
		w->seg_delta = w->proc->seg[w->seg].addr - w->offset;
		w->seg++;
	}
}

/* Padding has other lengths in the woven program, and may be fewer instructions there. Only the address of the first one is known,
 * so all of them have it. */
bool
walk_next(struct walk *w)
{
	bool padded = w->i != UINT32_MAX && w->kind == CHORD_INSN_PAD;
	uint64_t pad = w->addr, delta = w->seg_delta;
	uint8_t insn;

	do {
		if (++w->i >= w->block->ninsn)
			return false;
		insn = w->block->insn[w->i];
		w->offset = w->next_offset;
		w->next_offset += insn & 15;
		w->kind = insn >> 4;
		pass_cuts(w);
		w->count = w->counts && w->counts->insn ? w->counts->insn[w->block - w->proc->block][w->i] : w->next_count;
		pass_call(w);
		enter_segment(w);
		w->addr = w->has_seg ? w->offset + w->seg_delta : 0;
	} while (!(insn & 15));
	if (padded && w->kind == CHORD_INSN_PAD && w->seg_delta == delta)
		w->addr = pad;
	return true;
}

const char *
profile_insn_name(unsigned kind)
{
	static const char *const name[] = {"other", "call", "icall", "rep", "branch", "jump", "ijump", "ret", "syscall",
	                                   "trap", "pad"};

	return kind < sizeof name / sizeof *name ? name[kind] : "?";
}

const char *
profile_edge_name(unsigned kind)
{
	static const char *const name[] = {"fall", "taken", "jump", "indirect", "exit", "entry", "land", "close", "away", "lost",
		"receive"};

	return kind < sizeof name / sizeof *name ? name[kind] : "?";
}
