/* SPDX-License-Identifier: MIT */
/* Tables for programs: one thing a line, fields with blanks between them, a
 * question mark for a count that is not known. */
#include "tool/report.h"

#include <inttypes.h>

static void
count(uint64_t n, uint64_t most, bool known)
{
	if (!known)
		printf(" ?");
	else if (n == most)
		printf(" %" PRIu64, n);
	else if (most == COUNT_NO_BOUND)
		printf(" %" PRIu64 "..", n);
	else
		printf(" %" PRIu64 "..%" PRIu64, n, most);
}

static const struct counts *
most_of(const struct counts *c)
{
	return c->most ? c->most : c;
}

static void
print_insns(const struct proc *p, const struct counts *c)
{
	struct walk w, most;

	for (uint32_t b = 0; b < p->nblock; b++) {
		walk_start(&most, p, most_of(c), b);
		for (walk_start(&w, p, c, b); walk_next(&w) && walk_next(&most);) {
			printf("%s %" PRIu32 " %" PRIu64, p->name, p->block[b].part, w.offset);
			count(w.count, most.count, !c->why);
			printf(" %s\n", profile_insn_name(w.kind));
		}
	}
}

static void
print_blocks(const struct proc *p, const struct counts *c)
{
	for (uint32_t b = 0; b < p->nblock; b++) {
		printf("%s %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32, p->name, b, p->block[b].part, p->block[b].offset,
		       p->block[b].ninsn);
		count(c->why ? 0 : c->block[b], c->why ? 0 : most_of(c)->block[b], !c->why);
		putchar('\n');
	}
}

static void
vertex(const struct proc *p, uint32_t v)
{
	if (v == PROC_ENTRY(p))
		printf(" ENTRY");
	else if (v == PROC_EXIT(p))
		printf(" EXIT");
	else
		printf(v < p->nblock ? " %" PRIu32 : " hub%" PRIu32, v);
}

static void
print_edges(const struct proc *p, const struct counts *c)
{
	for (uint32_t i = 0; i < p->narc; i++) {
		const struct arc *a = &p->arc[i];
		bool known = !c->why && c->arc_known[i];

		printf("%s", p->name);
		vertex(p, a->from);
		vertex(p, a->to);
		printf(" %s", profile_edge_name(a->kind));
		count(known ? c->arc[i] : 0, known ? most_of(c)->arc[i] : 0, known);
		putchar('\n');
	}
}

static void
print_proc(enum report_what what, const struct proc *p, const struct counts *c)
{
	if (what == REPORT_INSNS)
		print_insns(p, c);
	else if (what == REPORT_BLOCKS)
		print_blocks(p, c);
	else
		print_edges(p, c);
}

void
report_raw(const struct report *r)
{
	const struct run *run = r->run;

	for (size_t i = 0; i < run->unit.n; i++) {
		const struct unit *u = &run->unit.at[i];

		for (uint32_t k = 0; k < u->map.nproc; k++)
			if (!u->map.proc[k].refused)
				print_proc(r->opt.what, &u->map.proc[k], &u->counts[k]);
		if (u->map.nrefused)
			say_warning(u->path, "%" PRIu32 " procedures were refused and are not in the table", u->map.nrefused);
	}
	for (size_t i = 0; i < run->unknown.n; i++)
		say_warning(run->unknown.at[i].name, "not known: %s", run->unknown.at[i].reason);
	for (size_t i = 0; i < run->left_out.n; i++)
		say_warning(run->left_out.at[i].name, "left out: %s", run->left_out.at[i].reason);
	for (size_t i = 0; i < run->note.n; i++)
		say_warning(run->path, "%s", run->note.at[i]);
}
