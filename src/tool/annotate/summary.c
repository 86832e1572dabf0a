/* SPDX-License-Identifier: MIT */
/* How large code is, and how much of it ran: the columns of Weinberger's lprint. */
#include "tool/annotate/annotate.h"

#include <stdlib.h>
#include <string.h>

struct row {
	const char *name;
	struct view_size size;
};

static void
put_heading(const char *of)
{
	printf("%12s %8s %9s %10s %16s %6s  %s\n", "instructions", "never", "blocks", "unentered", "executed", "block", of);
}

static void
put_row(const struct row *r)
{
	char code[32], never[32], blocks[32], unentered[32], insns[32];
	const struct view_size *s = &r->size;

	printf("%12s %8s %9s %10s %16s ", grouped(code, s->code), grouped(never, s->never), grouped(blocks, s->blocks),
	       grouped(unentered, s->unentered), grouped(insns, s->insns));
	if (s->entered)
		printf("%6.2f  %s\n", (double)s->insns / (double)s->entered, r->name);
	else
		printf("%6s  %s\n", "", r->name);
}

static int
largest_first(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->size.insns != y->size.insns)
		return x->size.insns > y->size.insns ? -1 : 1;
	return strcmp(x->name, y->name);
}

bool
annotate_summary(struct annotate *a)
{
	VEC(struct row) rows = {0};
	struct row all = {.name = "in all"};
	bool some;

	for (size_t k = 0; k < a->run->unit.n; k++) {
		const struct unit *u = &a->run->unit.at[k];

		for (uint32_t i = 0; i < u->map.nproc; i++)
			if (!u->counts[i].why && (!a->functions || annotate_wants_proc(a, &u->map.proc[i])))
				VEC_PUSH(rows, (struct row){u->map.proc[i].name, view_size_of(&u->map.proc[i], &u->counts[i])});
	}
	if (rows.n)
		qsort(rows.at, rows.n, sizeof *rows.at, largest_first);
	put_heading("function");
	for (size_t i = 0; i < rows.n; i++) {
		put_row(&rows.at[i]);
		view_size_add(&all.size, &rows.at[i].size);
	}
	put_row(&all);
	some = rows.n;
	free(rows.at);
	return some;
}

/* ---- mnemonics ---- */

bool
annotate_mnemonics(struct annotate *a)
{
	struct view_mnemonics all = {0};
	bool some;

	view_mnemonics(&all, &a->list);
	printf("%16s %8s %12s  %s\n", "executed", "share", "instructions", "mnemonic");
	for (size_t i = 0; i < all.n; i++) {
		char count[32], code[32];

		printf("%16s %7.2f%% %12s  %s\n", grouped(count, all.at[i].count),
		       a->insns ? 100.0 * (double)all.at[i].count / (double)a->insns : 0, grouped(code, all.at[i].code),
		       all.at[i].name);
	}
	some = all.n;
	free(all.at);
	return some;
}
