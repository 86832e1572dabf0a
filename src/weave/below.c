/* SPDX-License-Identifier: MIT */
/* What the program keeps below the stack pointer. */
#include "weave/internal.h"

/* May inline assembly use memory below the stack pointer? It may do that in any procedure. */
static bool
inline_uses(const struct unit *u, const struct woven *w)
{
	for (uint32_t b = 0; b < w->proc->blocks.n; b++)
		for (uint32_t i = w->proc->block_text.at[b].first; i < w->proc->block_text.at[b].last; i++) {
			const struct insn *in = woven_insn(w, b, i);

			if (in->below && insn_is_inline(u, in))
				return true;
		}
	return false;
}

/* Does the procedure begin with the instruction, or with others before it that do nothing? A call there is for tracers (-mfentry),
 * and clang does not take it for one of the procedure's own. */
static bool
begins_with(const struct woven *w, uint32_t block, uint32_t insn)
{
	for (uint32_t i = w->proc->block_text.at[block].first; i < insn; i++)
		if (woven_insn(w, block, i)->regs_read | woven_insn(w, block, i)->regs_kill)
			return false;
	return !block;
}

/* Compilers keep nothing below the stack pointer in procedures that call. */
static bool
calls_something(const struct unit *u, const struct woven *w)
{
	for (uint32_t b = 0; b < w->proc->blocks.n; b++)
		for (uint32_t i = w->proc->block_text.at[b].first; i < w->proc->block_text.at[b].last; i++) {
			const struct insn *in = woven_insn(w, b, i);

			if (insn_is_call(in) && in->stmt != UINT32_MAX && !insn_is_inline(u, in) && !begins_with(w, b, i) &&
			    !(i + 1 == w->proc->block_text.at[b].last && calls_within(w, b)))
				return u->text->compiler;
		}
	return false;
}

/* Does the instruction compute an address from the stack pointer? What is accessed by such an address may be anywhere near. */
static bool
points_to_stack(const struct unit *u, const struct woven *w, uint32_t block, const struct insn *in)
{
	const struct part *t = &w->proc->parts.at[w->proc->blocks.at[block].part];
	struct move m;

	return in->regs_read >> u->machine->sp & 1 &&
	       u->machine->move(u->object->sections[t->code->section].data + in->off, in->len, &m) && m.address &&
	       (m.base == u->machine->sp || m.index == u->machine->sp);
}

/* Does a leaf have a free word below the stack pointer, or nothing there at all? The pushes of all blocks are added up, whatever
 * path they are on. */
static bool
leaf_has_room(const struct unit *u, const struct woven *w, bool *nothing)
{
	int lowest = 0, pushed = 0;
	bool moves = false, points = false;

	for (uint32_t b = 0; b < w->proc->blocks.n; b++)
		for (uint32_t i = w->proc->block_text.at[b].first; i < w->proc->block_text.at[b].last; i++) {
			const struct insn *in = woven_insn(w, b, i);

			if (in->stmt == UINT32_MAX || insn_is_inline(u, in))
				return false;
			lowest = in->below < lowest ? in->below : lowest;
			points |= points_to_stack(u, w, b, in);
			if (in->attr & INSN_PUSHES)
				pushed += 8;
			else
				moves |= in->regs_kill >> u->machine->sp & 1;
		}
	*nothing = u->text->compiler && !lowest && !points;
	return u->text->compiler && lowest > INT8_MIN && (!lowest || (!moves && lowest - pushed >= 8 - PATH_ROOM));
}

bool
below_room(const struct unit *u, const struct woven *w, bool *nothing)
{
	*nothing = calls_something(u, w) && !inline_uses(u, w);
	return *nothing || leaf_has_room(u, w, nothing);
}
