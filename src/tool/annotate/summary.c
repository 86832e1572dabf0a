/* SPDX-License-Identifier: MIT */
/* How large code is, and how much of it ran: the columns of Weinberger's lprint. */
#include "tool/annotate/annotate.h"

#include <stdlib.h>
#include <string.h>

struct row {
	const char *name;
	struct view_size size;
};

static const struct column columns[] = {
	{"instructions", 12, 0}, {"never", 8, 0}, {"blocks", 9, 0}, {"unentered", 10, 0}, {"executed", 16, 0}, {"block", 6, 0},
	{"function", 0, 0},
};

static void
put_row(struct table *t, const struct row *r)
{
	const struct view_size *s = &r->size;

	table_number(t, s->code);
	table_number(t, s->never);
	table_number(t, s->blocks);
	table_number(t, s->unentered);
	table_number(t, s->insns);
	if (s->entered)
		table_printf(t, "%.2f", (double)s->insns / (double)s->entered);
	else
		table_skip(t, 1);
	table_text(t, r->name);
	table_end(t);
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
	struct table t = TABLE(columns);
	bool some;

	for (size_t k = 0; k < a->run->binary.n; k++) {
		const struct binary *bin = &a->run->binary.at[k];

		for (uint32_t i = 0; i < bin->map.nproc; i++) {
			const struct proc *p = &bin->map.proc[i];

			if (!bin->counts[i].why && (!a->functions || annotate_wants_proc(a, p)))
				VEC_PUSH(rows, (struct row){image_readable(p->name), view_size_of(p, &bin->counts[i])});
		}
	}
	if (rows.n)
		qsort(rows.at, rows.n, sizeof *rows.at, largest_first);
	table_head(&t);
	for (size_t i = 0; i < rows.n; i++) {
		put_row(&t, &rows.at[i]);
		view_size_add(&all.size, &rows.at[i].size);
	}
	put_row(&t, &all);
	some = rows.n;
	free(rows.at);
	return some;
}

/* ---- mnemonics ---- */

bool
annotate_mnemonics(struct annotate *a)
{
	static const struct column mnemonics[] = {
		{"executed", 16, 0}, {"share", 8, 0}, {"instructions", 12, 0}, {"mnemonic", 0, 0},
	};
	struct table t = TABLE(mnemonics);
	struct view_mnemonics all = {0};
	bool some;

	view_mnemonics(&all, &a->list);
	table_head(&t);
	for (size_t i = 0; i < all.n; i++) {
		table_number(&t, all.at[i].count);
		table_share(&t, all.at[i].count, a->insns);
		table_number(&t, all.at[i].code);
		table_text(&t, all.at[i].name);
		table_end(&t);
	}
	some = all.n;
	free(all.at);
	return some;
}
