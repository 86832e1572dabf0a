/* SPDX-License-Identifier: MIT */
/* Bytes that a log has already: if a program reads a file again, the bytes are written once. Bytes are the same if their sums of
 * 128 bits are. The secret of the sums is drawn for each log, so nobody can make other bytes with the same sum. */
#include "log/log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

/* Sums with the same last bits share a set of WAYS places; a new one replaces the one that was not found for longest. */
enum { SETS = 1 << 14, WAYS = 4, SECRET = 192 };

struct repeats {
	struct repeat {
		XXH128_hash_t sum;
		uint64_t at;
		size_t n;            /* 0: the place is empty */
	} place[SETS][WAYS];     /* the one found last is first */
	unsigned char secret[SECRET];
};

struct repeats *
repeats_new(void)
{
	struct repeats *r = xcalloc(1, sizeof *r);

	if (getrandom(r->secret, sizeof r->secret, 0) == sizeof r->secret)
		return r;
	free(r);
	return NULL;
}

void
repeats_free(struct repeats *r)
{
	free(r);
}

static bool
is_repeat(const struct repeat *a, const struct repeat *b)
{
	return a->n == b->n && XXH128_isEqual(a->sum, b->sum);
}

bool
repeats_find(struct repeats *r, const void *bytes, size_t n, uint64_t *at)
{
	XXH128_hash_t sum = XXH3_128bits_withSecret(bytes, n, r->secret, sizeof r->secret);
	struct repeat *set = r->place[sum.low64 % SETS], found = {sum, *at, n};
	size_t way = 0;
	bool is_there;

	while (way + 1 < WAYS && !is_repeat(&set[way], &found))
		way++;
	is_there = is_repeat(&set[way], &found);
	if (is_there)
		found = set[way];
	memmove(&set[1], &set[0], way * sizeof *set);
	set[0] = found;
	*at = found.at;
	return is_there;
}
