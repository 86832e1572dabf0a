/* SPDX-License-Identifier: MIT */
/* What all passes ask of a unit: where instructions lead, and what is at a place. */
#include "asm/asm.h"
#include "asm/mention.h"

#include <stdlib.h>

/* ---- where instructions lead ---- */

const struct obj_reloc *
reloc_in(const struct object *o, uint32_t section, uint64_t lo, uint64_t hi)
{
	const struct obj_section *s = &o->sections[section];
	uint32_t a = 0, b = s->nreloc;

	while (a < b) {
		uint32_t mid = (a + b) / 2;

		if (o->relocs[s->reloc + mid].off < lo)
			a = mid + 1;
		else
			b = mid;
	}
	return a < s->nreloc && o->relocs[s->reloc + a].off < hi ? &o->relocs[s->reloc + a] : NULL;
}

struct dest
reloc_dest(const struct unit *u, const struct obj_reloc *r, uint64_t end)
{
	const struct obj_symbol *s = &u->object->symbols[r->sym < u->object->nsymbol ? r->sym : 0];
	uint64_t off = s->value + (uint64_t)r->addend + (r->pcrel ? end - r->off : 0);

	if (!s->section || !u->code[s->section] || off >= u->code[s->section]->nbyte)
		return (struct dest){0};
	return (struct dest){s->section, (uint32_t)off, !s->is_section};
}

struct dest
dest_of(const struct unit *u, const struct code *c, const struct insn *in)
{
	if (in->attr & INSN_RELOC)
		return reloc_dest(u, reloc_in(u->object, c->section, in->off, in->off + in->len), in->off + in->len);
	if (!(in->attr & (INSN_REL | INSN_MENTIONS)) || in->target >= c->nbyte)
		return (struct dest){0};
	return (struct dest){c->section, in->target, false};
}

/* ---- what is at a place ---- */

size_t
unit_range_after(const struct code *c, uint32_t off)
{
	size_t lo = 0, hi = c->ranges.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c->ranges.at[mid].lo <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool
unit_find(const struct unit *u, uint32_t section, uint32_t off, uint32_t *proc, uint32_t *part)
{
	const struct code *c = section < u->ncode ? u->code[section] : NULL;
	size_t lo = c ? unit_range_after(c, off) : 0;

	if (!lo)
		return false;
	*proc = c->ranges.at[lo - 1].proc;
	*part = c->ranges.at[lo - 1].part;
	return true;
}

bool
unit_makes_data(const struct unit *u)
{
	for (size_t i = 0; i < u->text->stmts.n; i++)
		if (u->text->stmts.at[i].kind == STMT_OPAQUE && u->text->stmts.at[i].flags & STMT_MIXED)
			return true;
	return false;
}

bool
unit_is_in_insn(const struct unit *u, uint32_t section, uint64_t off)
{
	const struct code *c = u->code[section];

	for (uint64_t lo = off + 1; c && lo-- > 0 && off - lo < 16;)
		if (c->at[lo] != UINT32_MAX)
			return lo + c->insns.at[c->at[lo]].len > off;
	return false;
}

void
unit_free(struct unit *u)
{
	for (uint32_t i = 0; i < u->ncode; i++)
		if (u->code[i]) {
			free(u->code[i]->insns.at);
			free(u->code[i]->stmts.at);
			free(u->code[i]->pads.at);
			free(u->code[i]->doubts.at);
			free(u->code[i]->bad.at);
			free(u->code[i]->ranges.at);
		}
	for (size_t i = 0; i < u->procs.n; i++) {
		struct proc_text *p = &u->procs.at[i];

		free(p->parts.at);
		free(p->blocks.at);
		free(p->arcs.at);
		free(p->block_text.at);
		free(p->arc_text.at);
		free(p->gates.at);
	}
	if (u->names)
		names_free(u->names);
	free(u->procs.at);
	free(u->ways.at);
}
