/* SPDX-License-Identifier: MIT */
/* Forges a log: what it has of the mapped file with a known content becomes the mapping of a program by that name.
 * forge LOG FORGED FILE CONTENT
 * Or it was recorded on a processor that has one feature more, or less: forge LOG FORGED */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

enum { HEAD = 16, MOST = 1 << 24 };

static size_t
put(unsigned char *to, unsigned long v)
{
	size_t n = 0;

	for (; v >= 128; v >>= 7)
		to[n++] = (unsigned char)(v | 128);
	to[n++] = (unsigned char)v;
	return n;
}

int
main(int argc, char **argv)
{
	unsigned char *log = malloc(MOST), *plain = malloc(MOST), *packed = malloc(MOST), *at, new[4096];
	FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
	size_t n = fread(log, 1, MOST, in), size = argc > 4 ? strlen(argv[4]) : 0, len = 0, rest;
	ZSTD_inBuffer from = {log + HEAD, n - HEAD, 0};
	ZSTD_outBuffer to = {plain, MOST, 0};
	ZSTD_DCtx *expand = ZSTD_createDCtx();

	while (from.pos < from.size)
		if (ZSTD_isError(ZSTD_decompressStream(expand, &to, &from)))
			return 1;
	if (!size) {
		/* A start, no seed, bytes of the processor. */
		if (plain[0] != 1 || plain[1] != 0 || plain[2] < 8)
			return 2;
		plain[6] ^= 1;
		n = ZSTD_compress(packed, MOST, plain, to.pos, 1);
		fwrite(log, 1, HEAD, out);
		fwrite(packed, 1, n, out);
		return fclose(out) || ZSTD_isError(n);
	}
	/* From the log, a file by its number, its size, so many bytes, these. */
	at = memmem(plain, to.pos, argv[4], size);
	if (!at || size > 100 || at[-1] != size || at[-2] != size || at[-3] > 9 || at[-4] != 2)
		return 2;
	rest = (size_t)(plain + to.pos - (at + size));
	len += put(new + len, 1);
	len += put(new + len, strlen(argv[3]));
	memcpy(new + len, argv[3], strlen(argv[3]));
	len += strlen(argv[3]);
	len += put(new + len, size);
	len += put(new + len, XXH3_64bits(argv[4], size));
	memmove(at - 4 + len, at + size, rest);
	memcpy(at - 4, new, len);
	n = ZSTD_compress(packed, MOST, plain, (size_t)(at - 4 - plain) + len + rest, 1);
	fwrite(log, 1, HEAD, out);
	fwrite(packed, 1, n, out);
	return fclose(out) || ZSTD_isError(n);
}
