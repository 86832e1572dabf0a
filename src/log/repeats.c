/* SPDX-License-Identifier: MIT */
/* Bytes that a log has already: a program that reads a file again has them written down once. They are the same if their sums of
 * 128 bits are; the sums' secret is drawn for each log, so that nobody can make others that have them. */
#include "log/log.h"

#include <stdlib.h>
#include <sys/random.h>
#include <xxhash.h>

/* PLACES: a later sum takes the place of an earlier one with the same last bits. */
enum { PLACES = 1 << 16, SECRET = 192 };

struct repeats {
	struct repeat {
		XXH128_hash_t sum;
		uint64_t at;
		size_t n;            /* 0: there are none here */
	} place[PLACES];
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

bool
repeats_find(struct repeats *r, const void *bytes, size_t n, uint64_t *at)
{
	XXH128_hash_t sum = XXH3_128bits_withSecret(bytes, n, r->secret, sizeof r->secret);
	struct repeat *there = &r->place[sum.low64 % PLACES];

	if (there->n == n && XXH128_isEqual(there->sum, sum)) {
		*at = there->at;
		return true;
	}
	*there = (struct repeat){sum, *at, n};
	return false;
}
