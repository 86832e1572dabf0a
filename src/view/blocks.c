/* SPDX-License-Identifier: MIT */
/* Blocks and edges of a procedure with their counts. */
#include "view/internal.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct counts *
most_of(const struct counts *c)
{
	return c->most ? c->most : c;
}

struct view_block
view_block_of(const struct proc *p, const struct counts *c, uint32_t block)
{
	const struct block *b = &p->block[block];
	struct view_block row = {.block = b, .number = block, .known = !c->why, .last = b->offset};

	if (row.known)
		row.count = (struct bounds){c->block[block], most_of(c)->block[block]};
	for (uint32_t i = 0; i + 1 < b->ninsn; i++)
		row.last += b->insn[i] & 15;
	return row;
}

struct view_edge
view_edge_of(const struct proc *p, const struct counts *c, uint32_t edge)
{
	const struct arc *a = &p->arc[edge];
	const struct block *from = a->from < p->nblock ? &p->block[a->from] : NULL;
	struct view_edge row = {.arc = a, .known = !c->why && c->arc_known[edge]};

	if (row.known)
		row.count = (struct bounds){c->arc[edge], most_of(c)->arc[edge]};
	row.choice = from && from->ninsn && from->insn[from->ninsn - 1] >> 4 == CHORD_INSN_BRANCH;
	return row;
}

const char *
view_vertex_name(char out[32], const struct proc *p, uint32_t v)
{
	if (v == PROC_ENTRY(p))
		return "ENTRY";
	if (v == PROC_EXIT(p))
		return "EXIT";
	snprintf(out, 32, v < p->nblock ? "%" PRIu32 : "hub%" PRIu32, v);
	return out;
}

uint64_t
view_block_addr(const struct proc *p, uint32_t block)
{
	struct walk w;

	walk_start(&w, p, NULL, block);
	return walk_next(&w) ? w.addr : 0;
}

void
leaving_of(struct leaving *l, const struct proc *p)
{
	if (l->proc == p)
		return;
	leaving_free(l);
	l->proc = p;
	l->first = xcalloc((size_t)p->nblock + 2, sizeof *l->first);
	l->arc = xcalloc((size_t)p->narc + 1, sizeof *l->arc);
	/* Counts go one place further than the index that they become, so that filling in moves each beginning to its place. */
	for (uint32_t a = 0; a < p->narc; a++)
		if (p->arc[a].from < p->nblock)
			l->first[p->arc[a].from + 2]++;
	for (uint32_t b = 2; b < p->nblock + 2; b++)
		l->first[b] += l->first[b - 1];
	for (uint32_t a = 0; a < p->narc; a++)
		if (p->arc[a].from < p->nblock)
			l->arc[l->first[p->arc[a].from + 1]++] = a;
}

void
leaving_free(struct leaving *l)
{
	free(l->first);
	free(l->arc);
	*l = (struct leaving){0};
}
