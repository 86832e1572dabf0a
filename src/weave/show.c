/* SPDX-License-Identifier: MIT */
/* chord show: the state after a pass. */
#include "weave/internal.h"

#include <inttypes.h>

static const char *const kind_name[] = {"fall", "taken", "jump", "indirect", "exit", "entry", "land", "close", "away", "lost",
	"receive", "fault"};
static const char *const where_name[] = {"none", "block", "after", "stub", "split"};

static const char *
vertex_name(const struct proc_text *p, uint32_t v, char buf[16])
{
	if (v == p->entry)
		return "ENTRY";
	if (v == p->exit)
		return "EXIT";
	if (v < p->graph->nvert && proc_lands(p, v) != v) {
		snprintf(buf, 16, "gate%" PRIu32, v);
		return buf;
	}
	if (v == p->hub)
		return "HUB";
	snprintf(buf, 16, "%" PRIu32, v);
	return buf;
}

void
show_unit(const struct unit *u, FILE *f)
{
	for (uint32_t i = 0; i < u->ncode; i++) {
		const struct code *c = u->code[i];

		if (!c || !c->insns.n)
			continue;
		fprintf(f, "section %s: %zu instructions, %" PRIu32 " bytes\n", u->object->sections[i].name, c->insns.n, c->nbyte);
		for (size_t k = 0; k < c->insns.n; k++) {
			const struct insn *in = &c->insns.at[k];
			struct str s = in->stmt == UINT32_MAX ? STR("") : stmt_str(u->text, &u->text->stmts.at[in->stmt]);

			fprintf(f, "  %6" PRIx32 " len %2u class %2u lead %2u attr %2u  %.*s\n", in->off, in->len, in->cls,
			        in->leader, in->attr, (int)(s.n > 60 ? 60 : s.n), s.at);
		}
	}
}

void
show_proc(const struct unit *u, const struct proc_text *p, FILE *f)
{
	char a[16], b[16];

	(void)u;
	fprintf(f, "procedure %s: ", p->name);
	if (p->reason) {
		fprintf(f, "refused: %s\n", p->reason);
		return;
	}
	fprintf(f, "%zu parts, %zu blocks, %zu edges\n", p->parts.n, p->blocks.n, p->arcs.n);
	for (uint32_t i = 0; i < p->blocks.n; i++) {
		const struct block_text *k = &p->block_text.at[i];
		const struct part *t = &p->parts.at[k->part];

		fprintf(f, "  block %" PRIu32 ": part %" PRIu32 " +0x%" PRIx32 ", %" PRIu32 " instructions\n", i, k->part,
		        t->code->insns.at[k->first].off - t->lo, k->last - k->first);
	}
	for (uint32_t e = 0; e < p->arcs.n; e++)
		fprintf(f, "  edge %" PRIu32 ": %s -> %s %s%s\n", e, vertex_name(p, p->graph->edge[e].from, a),
		        vertex_name(p, p->graph->edge[e].to, b), kind_name[p->arcs.at[e].kind],
		        p->arc_text.at[e].stuck ? " (cannot be turned)" : "");
}

static void
show_place(int8_t reg, FILE *f)
{
	if (reg < 0)
		fputs("memory", f);
	else
		fprintf(f, "register %d", reg);
}

/* The operations of code for paths. */
static void
show_path(const struct path_op *op, FILE *f)
{
	if (op->strikes)
		fputs(", may be a handler", f);
	if (op->guard)
		fputs(", guard", f);
	if (op->record == PATH_RECORD_KNOWN)
		fprintf(f, ", path %" PRId64, op->sum);
	if (op->record == PATH_RECORD_HELD) {
		fprintf(f, ", path %+" PRId64 " of ", op->sum);
		show_place(op->from, f);
	}
	if (!op->next)
		return;
	fprintf(f, op->next == PATH_SET ? ", set %" PRId64 " in " : ", add %" PRId64 " to ", op->n);
	if (op->next == PATH_ADD && op->from != op->to) {
		show_place(op->from, f);
		fputs(" into ", f);
	}
	show_place(op->to, f);
}

static void
show_bases(const struct site *s, FILE *f)
{
	for (unsigned i = 0; i < BASES_OF; i++)
		if (s->base[i])
			fprintf(f, ", %s register %u", s->load >> i & 1 ? "loads" : "by", s->base[i] - 1u);
}

void
show_woven(const struct unit *u, const struct woven *w, FILE *f)
{
	const struct proc_text *p = w->proc;
	char a[16], b[16];

	(void)u;
	fprintf(f, "procedure %s: ", p->name);
	if (p->reason) {
		fprintf(f, "refused: %s\n", p->reason);
		return;
	}
	fprintf(f, "%" PRIu32 " counters\n", w->ncounter - w->spare);
	for (uint32_t e = 0; e < p->arcs.n; e++) {
		const struct site *s = &w->edge[e];

		fprintf(f, "  edge %" PRIu32 ": %s -> %s weight %g, site %s", e, vertex_name(p, p->graph->edge[e].from, a),
		        vertex_name(p, p->graph->edge[e].to, b), w->weight ? w->weight[e] : 0, where_name[s->where]);
		if (s->where != SITE_NONE)
			fprintf(f, " price %g", s->price);
		if (s->counter)
			fprintf(f, ", counter %" PRIu32, s->counter - 1);
		if (s->path)
			show_path(&s->path->op, f);
		show_bases(s, f);
		fputc('\n', f);
	}
	for (uint32_t i = 0; w->block && i < p->blocks.n; i++)
		if (w->block[i].counter)
			fprintf(f, "  block %" PRIu32 ": site %s, counter %" PRIu32 "\n", i, where_name[w->block[i].where],
			        w->block[i].counter - 1);
}
