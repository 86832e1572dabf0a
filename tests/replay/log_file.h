/* SPDX-License-Identifier: MIT */
/* The file of a log, as docs/replay.md has it: a head, chunks (each is its sizes and a frame of zstd), two zeros, a check sum. */
#ifndef LOG_FILE_H
#define LOG_FILE_H

#include <stdint.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

enum { LOG_HEAD = 16, LOG_CHUNK = 1 << 20 };

/* What is in it; its size, 0: it is none, or does not fit. */
static size_t
log_unpack(const unsigned char *log, size_t n, unsigned char *plain, size_t room)
{
	size_t done = 0, at = LOG_HEAD;
	uint32_t sizes[2];

	for (;; at += sizes[0]) {
		size_t got;

		if (n < at + sizeof sizes)
			return 0;
		memcpy(sizes, log + at, sizeof sizes);
		at += sizeof sizes;
		if (!sizes[0])
			return done;
		if (sizes[0] > n - at)
			return 0;
		got = ZSTD_decompress(plain + done, room - done, log + at, sizes[0]);
		if (ZSTD_isError(got) || got != sizes[1])
			return 0;
		done += got;
	}
}

/* The sum of all that is before the file's last 8 bytes. */
static void
log_seal(unsigned char *log, size_t n)
{
	uint64_t sum = XXH3_64bits(log, n - sizeof sum);

	memcpy(log + n - sizeof sum, &sum, sizeof sum);
}

/* Packs anew, behind the head that is there, in chunks of so many bytes. The file's size; 0: it does not fit. */
static size_t
log_pack(unsigned char *log, size_t room, const unsigned char *plain, size_t n, size_t chunk)
{
	size_t at = LOG_HEAD;

	while (n) {
		uint32_t sizes[2] = {0, (uint32_t)(n < chunk ? n : chunk)};
		size_t got;

		if (at + sizeof sizes > room)
			return 0;
		got = ZSTD_compress(log + at + sizeof sizes, room - at - sizeof sizes, plain, sizes[1], 1);
		if (ZSTD_isError(got))
			return 0;
		sizes[0] = (uint32_t)got;
		memcpy(log + at, sizes, sizeof sizes);
		at += sizeof sizes + got;
		plain += sizes[1];
		n -= sizes[1];
	}
	if (at + 16 > room)
		return 0;
	memset(log + at, 0, 8);
	log_seal(log, at + 16);
	return at + 16;
}

#endif
