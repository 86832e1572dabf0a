/* SPDX-License-Identifier: MIT */
/* The map reader; then the solver, on what was read, with all counts 0. */
#include "profile/profile.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pool *pool = pool_new();
	const char *why = NULL;
	struct map map = {0};

	if (map_parse(pool, (struct str){(const char *)data, n}, &map, &why)) {
		struct profile *p = profile_new();

		profile_solve(pool, &map, p, NULL, NULL);
		profile_free(p);
	} else if (!why) {
		abort();
	}
	pool_free(pool);
	return 0;
}
