/* SPDX-License-Identifier: MIT */
/* additions PROFILE: the sum of all counters. Without events and paths that is how many additions were executed. */
#include "profile/profile.h"

#include <inttypes.h>

int
main(int argc, char **argv)
{
	struct pool *pool = pool_new();
	struct buf bytes = {0};
	const char *why = "which profile?";
	const struct profile *p;
	uint64_t sum = 0;
	FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
	char block[65536];

	for (size_t n; f && (n = fread(block, 1, sizeof block, f)) > 0;)
		buf_add(&bytes, block, n);
	p = f ? profile_parse(pool, (struct str){bytes.at, bytes.n}, &why) : NULL;
	if (!p) {
		fprintf(stderr, "additions: %s\n", why);
		return 1;
	}
	for (size_t i = 0; i < p->module.n; i++)
		for (uint64_t c = 0; p->module.at[i].count && c < p->module.at[i].ncount; c++)
			sum += p->module.at[i].count[c];
	printf("%" PRIu64 "\n", sum);
	return 0;
}
