/* SPDX-License-Identifier: MIT */
/* Local procedures: only calls in this text, and jumps in place of calls, enter them. Their callers are known, so the counters of
 * events need not be right at these calls. It is enough that they lack the same at each of these calls (struct woven, lag). So the
 * code of the procedure up to its first call, or to its end, can have one more edge in the tree, where Ball 1994, section 4, has a
 * pair of updates. After calls of a local procedure the counters are right, as after all other calls. */
#include "asm/dest.h"
#include "weave/internal.h"

#include <stdlib.h>

/* The procedure at whose start a direct call, or a jump in place of one, arrives. */
static bool
is_called(const struct unit *u, const struct code *c, const struct insn *in, uint32_t *proc)
{
	struct dest d = in->attr & INSN_REL ? dest_of(u, c, in) : (struct dest){0};
	const struct part *first;
	uint32_t part, own;

	if (!d.section || !unit_find(u, d.section, d.off, proc, &part))
		return false;
	first = &u->procs.at[*proc].parts.at[0];
	if (first->code->section != d.section || first->lo != d.off)
		return false;
	return in->cls == CHORD_INSN_CALL || !unit_find(u, c->section, in->off, &own, &part) || own != *proc;
}

/* A procedure that code outside of measured procedures calls is not local: such a caller does not say what it has not counted. */
static void
look_at_call(const struct unit *u, struct woven *all, const struct code *c, const struct insn *in)
{
	uint32_t callee, caller, part;

	if (is_called(u, c, in, &callee) &&
	    (!unit_find(u, c->section, in->off, &caller, &part) || u->procs.at[caller].reason))
		all[callee].local = false;
}

void
local_find(const struct unit *u, struct woven *all)
{
	for (uint32_t i = 0; i < u->procs.n; i++) {
		const struct proc_text *p = &u->procs.at[i];

		all[i].local = !p->reason && !p->address_taken && p->called;
	}
	for (uint32_t i = 0; i < u->ncode; i++)
		for (size_t k = 0; u->code[i] && k < u->code[i]->insns.n; k++)
			look_at_call(u, all, u->code[i], &u->code[i]->insns.at[k]);
}

/* Counts the calls of each procedure and the jumps to it. Those from code outside of measured procedures count twice, because that
 * code may run for others, too. */
static void
count_entries(const struct unit *u, const struct code *c, const struct insn *in, uint32_t *entries)
{
	uint32_t callee, caller, part;

	if (!is_called(u, c, in, &callee))
		return;
	if (!unit_find(u, c->section, in->off, &caller, &part) || u->procs.at[caller].reason)
		entries[callee]++;
	entries[callee]++;
}

void
local_find_sole(const struct unit *u, struct woven *all)
{
	uint32_t *entries = pool_array(u->pool, u->procs.n + 1, sizeof *entries);

	for (uint32_t i = 0; i < u->ncode; i++)
		for (size_t k = 0; u->code[i] && k < u->code[i]->insns.n; k++)
			count_entries(u, u->code[i], &u->code[i]->insns.at[k], entries);
	for (uint32_t i = 0; i < u->procs.n; i++)
		all[i].sole = !u->procs.at[i].reason && !u->procs.at[i].address_taken && entries[i] == 1;
}

bool
local_enters(const struct unit *u, const struct code *c, const struct insn *in, uint32_t *proc)
{
	return is_called(u, c, in, proc) && !dest_of(u, c, in).named;
}

struct woven *
local_callee(const struct unit *u, struct woven *all, const struct code *c, const struct insn *in)
{
	uint32_t callee;

	return is_called(u, c, in, &callee) && all[callee].local ? &all[callee] : NULL;
}

/* ---- their order ---- */

/* A procedure in a depth-first walk over calls, and the instruction that the walk has reached in it. */
struct stand {
	uint32_t proc, block, insn;
};

struct walk {
	const struct unit *u;
	struct woven *all;
	bool *seen;
	VEC(struct stand) stack;
	uint32_t *order, n;
};

static void
enter(struct walk *k, uint32_t proc)
{
	const struct proc_text *p = &k->u->procs.at[proc];

	k->seen[proc] = true;
	VEC_PUSH(k->stack, (struct stand){proc, 0, p->blocks.n ? p->block_text.at[0].first : 0});
}

/* Enters the next callee that has not been seen. False: there is none left. */
static bool
go_on(struct walk *k)
{
	struct stand *s = &k->stack.at[k->stack.n - 1];
	const struct proc_text *p = &k->u->procs.at[s->proc];

	for (; !p->reason && s->block < p->blocks.n;) {
		const struct block_text *b = &p->block_text.at[s->block];
		const struct code *c = p->parts.at[b->part].code;
		const struct woven *callee = s->insn < b->last ? local_callee(k->u, k->all, c, &c->insns.at[s->insn]) : NULL;

		if (s->insn < b->last)
			s->insn++;
		else if (++s->block < p->blocks.n)
			s->insn = p->block_text.at[s->block].first;
		if (callee && !k->seen[callee->number]) {
			enter(k, callee->number);
			return true;
		}
	}
	return false;
}

uint32_t *
local_order(const struct unit *u, struct woven *all)
{
	struct walk k = {.u = u, .all = all, .seen = pool_array(u->pool, u->procs.n, sizeof *k.seen),
		.order = pool_array(u->pool, u->procs.n, sizeof *k.order)};

	for (uint32_t i = 0; i < u->procs.n; i++) {
		if (!k.seen[i])
			enter(&k, i);
		while (k.stack.n)
			if (!go_on(&k))
				k.order[k.n++] = k.stack.at[--k.stack.n].proc;
	}
	free(k.stack.at);
	return k.order;
}
