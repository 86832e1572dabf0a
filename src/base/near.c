/* SPDX-License-Identifier: MIT */
/* Finds the word that a mistyped one may have been meant to be. */
#include "base/base.h"

#include <string.h>

/* Words longer than this are not looked at. */
enum { LONGEST = 40 };

static unsigned
least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* The number of characters to change, insert, delete, or swap with a neighbour to turn one word into the other. */
static unsigned
distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned d[LONGEST + 1][LONGEST + 1];

	for (size_t i = 0; i <= na; i++)
		for (size_t k = 0; k <= nb; k++) {
			if (!i || !k) {
				d[i][k] = (unsigned)(i + k);
				continue;
			}
			d[i][k] = least(d[i - 1][k - 1] + (a[i - 1] != b[k - 1]), least(d[i - 1][k], d[i][k - 1]) + 1);
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
		}
	return d[na][nb];
}

const char *
name_nearest(const char *word, const char *(*name)(const void *ctx, size_t i), const void *ctx)
{
	size_t n = strlen(word);
	/* Allows no mistake in two letters, one in up to five, and two in longer words. */
	unsigned best = n < 3 ? 1 : n < 6 ? 2 : 3;
	const char *found = NULL, *one;

	for (size_t i = 0; n && n <= LONGEST && (one = name(ctx, i)); i++) {
		size_t k = strlen(one);
		unsigned far = k <= LONGEST ? distance(word, n, one, k) : best;

		if (far < best) {
			best = far;
			found = one;
		}
	}
	return found;
}
