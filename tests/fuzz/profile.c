/* SPDX-License-Identifier: MIT */
/* The profile reader: a profile that it accepts can be summed with itself and written, and then read again. */
#include "profile/profile.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void
round_trip(struct pool *pool, const struct profile *p)
{
	struct profile *sum = profile_new(), *again;
	const char *why = NULL;
	struct buf out = {0};

	if (profile_add(sum, p, pool, &why) && profile_add(sum, p, pool, &why)) {
		profile_write(sum, &out);
		again = profile_parse(pool, (struct str){out.at, out.n}, &why);
		if (!again)
			abort();
		profile_free(again);
	}
	profile_free(sum);
	buf_free(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pool *pool = pool_new();
	const char *why = NULL;
	struct profile *p = profile_parse(pool, (struct str){(const char *)data, n}, &why);

	if (p)
		round_trip(pool, p);
	else if (!why)
		abort();
	profile_free(p);
	pool_free(pool);
	return 0;
}
