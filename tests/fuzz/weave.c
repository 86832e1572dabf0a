/* SPDX-License-Identifier: MIT */
/* The procedure reader: text and an object that need not fit it. The input is the text, a byte 0xff, and
 * the object that an assembler would have made of the labelled text. */
#include "weave/weave.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct object_bytes {
	const uint8_t *at;
	size_t n;
};

static bool
give_object(void *ctx, const struct buf *text, struct buf *object)
{
	const struct object_bytes *o = ctx;

	(void)text;
	buf_add(object, o->at, o->n);
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const uint8_t *cut = memchr(data, 0xff, n);
	struct object_bytes o = {cut ? cut + 1 : data + n, cut ? (size_t)(data + n - cut - 1) : 0};
	struct buf out = {0};
	struct weave_stats stats;
	char *why = NULL;

	for (uint8_t measure = 0; measure < 3; measure++) {
		struct weave_options opt = {.measure = measure, .runtime = "", .assemble = give_object, .ctx = &o};

		weave((const char *)data, (size_t)(cut ? cut - data : (long)n), "fuzz.s", &opt, &out, &stats, &why);
		free(why);
		out.n = 0;
	}
	buf_free(&out);
	return 0;
}
