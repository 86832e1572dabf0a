/* SPDX-License-Identifier: MIT */
/* The instructions that ran most often. */
#include "view/view.h"

#include <stdlib.h>

static bool
is_wanted(const void *ctx, const struct proc *p)
{
	const struct view_choice *choice = ctx;

	return view_is_named(p, choice->function);
}

static const struct view_insn *sorted;

static int
hottest_first(const void *a, const void *b)
{
	const struct view_insn *x = &sorted[*(const uint32_t *)a], *y = &sorted[*(const uint32_t *)b];

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x < y ? -1 : x > y;
}

void
view_hottest(struct view_hottest *h, struct run *run, const struct view_choice *choice)
{
	view_listing(&h->list, run, is_wanted, choice);
	for (uint32_t i = 0; i < h->list.insn.n; i++) {
		const struct view_insn *in = &h->list.insn.at[i];
		const char *file = in->file == VIEW_NO_FILE ? in->proc->file : h->list.file.at[in->file].name;

		if (in->count && view_is_file(file, choice->file))
			VEC_PUSH(h->order, i);
	}
	sorted = h->list.insn.at;
	if (h->order.n)
		qsort(h->order.at, h->order.n, sizeof *h->order.at, hottest_first);
}

void
view_hottest_free(struct view_hottest *h)
{
	view_listing_free(&h->list);
	free(h->order.at);
}
