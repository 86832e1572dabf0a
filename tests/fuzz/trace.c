/* SPDX-License-Identifier: MIT */
/* The reader of traces: all streams of what it accepts can be read to their end, or to a fault that is named. */
#include "trace/trace.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { STREAMS = 8, SEGMENTS = 64 };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pool *pool = pool_new();
	const char *why = NULL;
	struct trace_file *f = trace_parse(pool, (struct str){(const char *)data, n}, &why);

	if (!f && !why)
		abort();
	for (size_t i = 0; f && i < f->stream.n && i < STREAMS; i++) {
		struct slots *r = slots_new(f, i);

		for (int k = 0; k < SEGMENTS && slots_next(r); k++)
			if (!r->n || r->n > CHORD_TRACE_SLOTS)
				abort();
		slots_seek(r, 3);
		slots_free(r);
	}
	trace_close(f);
	pool_free(pool);
	return 0;
}
