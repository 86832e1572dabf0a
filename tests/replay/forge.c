/* SPDX-License-Identifier: MIT */
/* Forges a log.
 * forge LOG FORGED FILE CONTENT: in the log, the mapped file that has this content becomes a mapping of the program FILE
 * forge LOG FORGED: as if the log was recorded on a processor that has one feature more, or less
 * forge LOG FORGED BYTES: the log is in chunks of BYTES bytes
 * forge LOG FORGED interrupted now: a signal that struck at the first instruction of another one's handler, which had interrupted
 *                                   a call, has interrupted the program there */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/user.h>
#include "log_file.h"

enum { MOST = 1 << 24 };

static size_t
put(unsigned char *to, unsigned long v)
{
	size_t n = 0;

	for (; v >= 128; v >>= 7)
		to[n++] = (unsigned char)(v | 128);
	to[n++] = (unsigned char)v;
	return n;
}

static unsigned char log_bytes[MOST], plain[MOST];

/* Status of the program. */
static int
write_log(const char *name, size_t n, size_t chunk)
{
	FILE *out = fopen(name, "wb");
	size_t len = log_pack(log_bytes, MOST, plain, n, chunk);

	return !out || !len || fwrite(log_bytes, 1, len, out) != len || fclose(out);
}

/* Behind the kind of the first event and no seed are bytes of the processor. */
static int
change_processor(const char *name, size_t n)
{
	if (plain[0] != 1 || plain[1] != 0 || plain[2] < 8)
		return 2;
	plain[6] ^= 1;
	return write_log(name, n, LOG_CHUNK);
}

/* From the log, a file by its number, its size, so many bytes, these. */
static int
change_file(const char *name, size_t n, const char *file, const char *content)
{
	size_t size = strlen(content), len = 0, rest;
	unsigned char *at = memmem(plain, n, content, size), new[4096];

	if (!at || size > 100 || at[-1] != size || at[-2] != size || at[-3] > 9 || at[-4] != 2)
		return 2;
	rest = (size_t)(plain + n - (at + size));
	len += put(new + len, 1);
	len += put(new + len, strlen(file));
	memcpy(new + len, file, strlen(file));
	len += strlen(file);
	len += put(new + len, size);
	len += put(new + len, XXH3_64bits(content, size));
	memmove(at - 4 + len, at + size, rest);
	memcpy(at - 4, new, len);
	return write_log(name, (size_t)(at - 4 - plain) + len + rest, LOG_CHUNK);
}

/* The check sum of registers as a log has it. */
static unsigned long
sum_of(struct user_regs_struct r)
{
	enum { SEEN = 0xcd5 };

	r.eflags &= SEEN;
	if ((long)r.orig_rax >= 0)
		r.r11 &= SEEN;
	return XXH3_64bits(&r, sizeof r);
}

/* Behind a handler's registers stands their sum again, of the next signal. Once the program has run, they have no call's number. */
static int
change_call(const char *name, size_t n)
{
	struct user_regs_struct r;
	unsigned char was[10], is[10], head[2], *at;

	put(head, sizeof r);
	for (size_t i = 0; i + sizeof head + sizeof r < n; i++) {
		size_t len, new;

		if (memcmp(plain + i, head, sizeof head))
			continue;
		memcpy(&r, plain + i + sizeof head, sizeof r);
		len = put(was, sum_of(r));
		at = (long)r.orig_rax < 0 ? NULL : memmem(plain + i, n - i, was, len);
		if (!at)
			continue;
		r.orig_rax = -1ul;
		new = put(is, sum_of(r));
		memmove(at + new, at + len, (size_t)(plain + n - at) - len);
		memcpy(at, is, new);
		return write_log(name, n - len + new, LOG_CHUNK);
	}
	return 2;
}

int
main(int argc, char **argv)
{
	FILE *in = fopen(argv[1], "rb");
	size_t n = in ? log_unpack(log_bytes, fread(log_bytes, 1, MOST, in), plain, MOST - 4096) : 0;

	if (!n)
		return 1;
	if (argc == 5 && !strcmp(argv[3], "interrupted"))
		return change_call(argv[2], n);
	if (argc == 4)
		return write_log(argv[2], n, strtoul(argv[3], NULL, 10));
	return argc == 3 ? change_processor(argv[2], n) : change_file(argv[2], n, argv[3], argv[4]);
}
