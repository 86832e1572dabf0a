/* SPDX-License-Identifier: MIT */
/* Executions by mnemonic. */
#include "view/view.h"

#include <stdlib.h>
#include <string.h>

static int
most_first(const void *a, const void *b)
{
	const struct view_mnemonic *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The row of a mnemonic; added if there is none. */
static struct view_mnemonic *
row_of(struct view_mnemonics *list, struct strmap *number, const char *name)
{
	uint64_t n;

	if (!strmap_get(number, str_of(name), &n)) {
		n = list->n;
		strmap_put(number, str_of(name), n);
		VEC_PUSH(*list, (struct view_mnemonic){.name = name});
	}
	return &list->at[n];
}

void
view_mnemonics(struct view_mnemonics *list, const struct view_listing *l)
{
	struct strmap number = {0};

	for (size_t i = 0; i < l->insn.n; i++) {
		const struct view_insn *in = &l->insn.at[i];
		const char *name = in->known ? view_insn_mnemonic(in) : NULL;
		struct view_mnemonic *row;

		if (!in->known)
			continue;
		row = row_of(list, &number, name ? name : "(not known)");
		row->code++;
		row->count += in->count;
	}
	if (list->n)
		qsort(list->at, list->n, sizeof *list->at, most_first);
	strmap_free(&number);
}
