/* SPDX-License-Identifier: MIT */
/* The statement reader. Whatever the bytes are, statements are slices of them, in order. The text that is printed with no
 * change, or with the labels removed again, is the input. */
#include "weave/internal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void
check_slices(const struct text *t)
{
	uint32_t done = 0;

	for (size_t i = 0; i < t->stmts.n; i++) {
		const struct stmt *s = &t->stmts.at[i];

		if (s->at < done || s->len > t->n - s->at)
			abort();
		done = s->at + s->len;
		if (stmt_word(t, s).n > s->len || stmt_rest(t, s).n > s->len)
			abort();
	}
}

static void
check_print(const struct text *t)
{
	struct edits none = {0};
	struct buf out = {0};

	edit_apply(&none, t, &out);
	if (out.n != t->n || (t->n && memcmp(out.at, t->at, t->n)))
		abort();
	edit_free(&none);
	buf_free(&out);
}

/* The labelled text is the text with only labels put in: it is found again in order. */
static void
check_labels(const struct text *t)
{
	static const char mark[] = LABEL_PREFIX "S";
	struct buf out = {0};
	size_t i = 0;

	if (label_text(t, &out)) {
		for (size_t k = 0; k < out.n; k++) {
			bool label = out.n - k >= sizeof mark - 1 && !memcmp(out.at + k, mark, sizeof mark - 1);

			if (!label) {
				if (i == t->n || out.at[k] != t->at[i++])
					abort();
				continue;
			}
			while (k < out.n && out.at[k] != ':')
				k++;
		}
		if (i != t->n)
			abort();
	}
	buf_free(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pool *pool = pool_new();
	const char *why = NULL;
	struct text t;

	if (text_read(&t, pool, machine_of_host()->text, (const char *)data, n, "fuzz.s", &why)) {
		check_slices(&t);
		check_print(&t);
		if (!memmem(data, n, LABEL_PREFIX, sizeof LABEL_PREFIX - 1))
			check_labels(&t);
		cfi_read(&t, machine_of_host()->unwind, pool);
	} else if (!why) {
		abort();
	}
	text_free(&t);
	pool_free(pool);
	return 0;
}
