/* SPDX-License-Identifier: MIT */
/* Insertions and deletions in a text, collected in any order and applied in one pass. */
#include "weave/internal.h"

#include <stdlib.h>

void
edit_add(struct edits *e, uint32_t at, uint32_t del, uint32_t rank, struct buf *b)
{
	bool quoted = false;

	for (size_t i = 0; i < b->n; i++) {
		quoted ^= b->at[i] == '"' && !(i && b->at[i - 1] == '\\');
		if (b->at[i] == '\n' && !quoted)
			b->at[i] = ';';
	}
	VEC_PUSH(e->list, (struct edit){at, del, rank, (uint32_t)e->list.n, (uint32_t)e->text.n, (uint32_t)b->n});
	buf_add(&e->text, b->at, b->n);
	b->n = 0;
}

static int
edits_by_place(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

void
edit_apply(struct edits *e, const struct text *t, struct buf *out)
{
	uint32_t done = 0;

	if (e->list.n)
		qsort(e->list.at, e->list.n, sizeof *e->list.at, edits_by_place);
	buf_reserve(out, t->n + e->text.n + 16);
	for (size_t i = 0; i < e->list.n; i++) {
		const struct edit *d = &e->list.at[i];

		if (d->at < done)
			bug("edits overlap at %u of %s", d->at, t->file);
		buf_add(out, t->at + done, d->at - done);
		buf_add(out, e->text.at + d->text, d->len);
		done = d->at + d->del;
	}
	buf_add(out, t->at + done, t->n - done);
}

void
edit_free(struct edits *e)
{
	free(e->list.at);
	buf_free(&e->text);
}
