/* SPDX-License-Identifier: MIT */
/* Tables for programs: one thing a line, fields with blanks between them, a question mark for a count that is not known. */
#include "tool/report/report.h"

#include <inttypes.h>
#include <stdlib.h>

static void
count(const struct bounds *n, bool known)
{
	if (!known)
		printf(" ?");
	else if (bounds_exact(n))
		printf(" %" PRIu64, n->least);
	else if (n->most == COUNT_NO_BOUND)
		printf(" %" PRIu64 "..", n->least);
	else
		printf(" %" PRIu64 "..%" PRIu64, n->least, n->most);
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
			count(&(struct bounds){w.count, most.count}, !c->why);
			printf(" %s\n", profile_insn_name(w.kind));
		}
	}
}

static void
print_blocks(const struct proc *p, const struct counts *c)
{
	for (uint32_t b = 0; b < p->nblock; b++) {
		struct view_block row = view_block_of(p, c, b);

		printf("%s %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32, p->name, b, row.block->part, row.block->offset,
		       row.block->ninsn);
		count(&row.count, row.known);
		putchar('\n');
	}
}

static void
print_edges(const struct proc *p, const struct counts *c)
{
	char from[32], to[32];

	for (uint32_t i = 0; i < p->narc; i++) {
		struct view_edge row = view_edge_of(p, c, i);

		printf("%s %s %s %s", p->name, view_vertex_name(from, p, row.arc->from), view_vertex_name(to, p, row.arc->to),
		       profile_edge_name(row.arc->kind));
		count(&row.count, row.known);
		putchar('\n');
	}
}

static void
print_function(enum report_what what, const struct view_function *f)
{
	if (what == REPORT_INSNS)
		print_insns(f->proc, f->counts);
	else if (what == REPORT_BLOCKS)
		print_blocks(f->proc, f->counts);
	else
		print_edges(f->proc, f->counts);
}

/* Warns of what is not in the table. */
static void
warn(const struct run *run)
{
	for (size_t i = 0; i < run->binary.n; i++)
		if (run->binary.at[i].map.nrefused)
			say_warning(run->binary.at[i].path, "%" PRIu32 " procedures were refused and are not in the table",
			            run->binary.at[i].map.nrefused);
	for (size_t i = 0; i < run->unknown.n; i++)
		say_warning(image_readable(run->unknown.at[i].name), "not known: %s", run->unknown.at[i].reason);
	for (size_t i = 0; i < run->left_out.n; i++)
		say_warning(run->left_out.at[i].name, "left out: %s", run->left_out.at[i].reason);
	for (size_t i = 0; i < run->note.n; i++)
		say_warning(run->path, "%s", image_readable_text(run->note.at[i]));
}

void
report_raw(const struct report *r)
{
	struct view_functions all = {0};

	view_functions(&all, r->run);
	for (size_t i = 0; i < all.n; i++)
		if (!all.at[i].proc->refused && view_is_chosen(&r->opt.choice, &all.at[i]))
			print_function(r->opt.what, &all.at[i]);
	free(all.at);
	warn(r->run);
}
