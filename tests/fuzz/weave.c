/* SPDX-License-Identifier: MIT */
/* The procedure reader, with a text and an object that need not fit it. The input is the text, a byte 0xff, and the object that
 * an assembler would have made of the labelled text. */
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
	struct event_list list = {0};
	struct pool *pool = pool_new();
	struct buf out = {0};
	struct weave_stats stats;
	const char *bad = NULL;
	char *why = NULL;

	if (!event_list_read(pool, "instructions,loads", &list, &bad))
		abort();
	for (uint32_t m = 0; m < CHORD_MEASURES; m++) {
		struct weave_options opt = {.machine = machine_of_host(), .measures = measures_complete(1u << m),
		                            .runtime = "", .assemble = give_object, .ctx = &o};

		if (measures_with(opt.measures, CHORD_OF_EVENTS))
			opt.events = list;

		weave((const char *)data, (size_t)(cut ? cut - data : (long)n), "fuzz.s", &opt, &out, &stats, &why);
		free(why);
		out.n = 0;
	}
	event_list_free(&list);
	pool_free(pool);
	buf_free(&out);
	return 0;
}
