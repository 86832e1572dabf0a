/* SPDX-License-Identifier: MIT */
/* Bytes that a log has already: if a program reads a file again, the bytes are written once. Bytes are the same if their sums of
 * 128 bits are. The secret of the sums is drawn for each log, so nobody can make other bytes with the same sum. */
#include "log/log.h"

#include <stdlib.h>
#include <sys/random.h>
#include <xxhash.h>

/* PLACES: a later sum replaces an earlier one with the same last bits. */
enum { PLACES = 1 << 16, SECRET = 192 };

struct repeats {
	struct repeat {
		XXH128_hash_t sum;
		uint64_t at;
		size_t n;            /* 0: the place is empty */
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
