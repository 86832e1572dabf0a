/* SPDX-License-Identifier: MIT */
/* chord report --inclusive: functions with all that they called. */
#include "tool/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reason {
	const char *why;
	size_t n;
};

/* Prints for how many functions this is not known, and why. */
static void
print_reasons(const struct report *r)
{
	VEC(struct reason) list = {0};

	for (size_t i = 0; i < r->table.function.n; i++) {
		const struct view_inclusive *in = &r->table.function.at[i].inclusive;
		size_t k = 0;

		while (k < list.n && (in->known || strcmp(list.at[k].why, in->why)))
			k++;
		if (!in->known && k == list.n)
			VEC_PUSH(list, (struct reason){in->why, 0});
		if (!in->known)
			list.at[k].n++;
	}
	if (list.n)
		printf("\nNot known of functions:\n");
	for (size_t k = 0; k < list.n; k++)
		printf("%18zu  %s\n", list.at[k].n, list.at[k].why);
	free(list.at);
}

void
report_inclusive(const struct report *r)
{
	static const struct column columns[] = {
		{"with callees", 18, 0}, {"share", 7, 0}, {"instructions", 18, 0}, {"activations", 15, 0}, {"function", 0, 0},
	};
	size_t n = table_rows(r->opt.top, r->table.function.n);
	struct table t = TABLE(columns);

	for (size_t i = 0; i < n; i++) {
		table_widen_for(&t, r->table.function.at[i].inclusive.insns);
		table_widen(&t, &r->table.function.at[i].insns);
	}
	putchar('\n');
	table_head(&t);
	for (size_t i = 0; i < n; i++) {
		const struct view_function *f = &r->table.function.at[i];

		table_bounds(&t, &(struct bounds){f->inclusive.insns, f->inclusive.insns}, f->inclusive.known);
		if (f->inclusive.known && f->inclusive.insns <= r->table.totals.insns.least)
			table_share(&t, f->inclusive.insns, r->table.totals.insns.least);
		else
			table_skip(&t, 1);
		table_bounds(&t, &f->insns, true);
		table_bounds(&t, &f->calls, f->counts->activations_known);
		table_text(&t, shown_name(f->proc->name));
		if (*f->file && f->line)
			printf("  %s:%u", shown_path(f->file), f->line);
		if (f->binary != &r->run->binary.at[0])
			printf("  [%s]", shown_path(base_name(f->binary->path)));
		table_end(&t);
	}
	table_more(&t, n, r->table.function.n, "functions");
	print_reasons(r);
}
