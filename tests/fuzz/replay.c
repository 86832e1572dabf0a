/* SPDX-License-Identifier: MIT */
/* replay MUTATIONS FILE...: runs a fuzz target without an engine, on each file given, and on that number of mutations of each.
 * The mutations are the same every time. */
#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static uint64_t state = 88172645463325252u;

static uint64_t
next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* Some bytes changed, some dropped, some said twice, or the rest cut off. */
static size_t
mutate(uint8_t *out, const uint8_t *in, size_t n)
{
	size_t m = n;

	memcpy(out, in, n);
	for (uint64_t k = 1 + next() % 4; k && m; k--) {
		size_t at = next() % m, len = 1 + next() % 16;

		if (len > m - at)
			len = m - at;
		switch (next() % 5) {
		case 0: out[at] = (uint8_t)next(); break;
		case 1: out[at] ^= (uint8_t)(1u << next() % 8); break;
		case 2: memmove(out + at, out + at + len, m - at - len); m -= len; break;
		case 3: memmove(out + at, out + next() % (m - len + 1), len); break;
		default: m = next() % 8 ? m : at; break;
		}
	}
	return m;
}

int
main(int argc, char **argv)
{
	unsigned long mutations = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	for (int i = 2; i < argc; i++) {
		struct buf b = {0};

		if (!file_read(argv[i], &b))
			die(argv[i], "%s", strerror(errno));
		LLVMFuzzerTestOneInput((const uint8_t *)(b.at ? b.at : ""), b.n);
		for (unsigned long k = 0; k < mutations; k++) {
			uint8_t *copy = xmalloc(b.n);
			size_t n = mutate(copy, (const uint8_t *)b.at, b.n);
			uint8_t *exact = memcpy(xmalloc(n), copy, n);

			LLVMFuzzerTestOneInput(exact, n);
			free(exact);
			free(copy);
		}
		buf_free(&b);
	}
	return 0;
}
