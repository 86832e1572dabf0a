/* SPDX-License-Identifier: MIT */
/* Bits that are counted and compressed, and not kept. */
#include "trace/internal.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { LEVEL = 3, ROOM = 1 << 17 };

struct sink {
	struct encoding_sum sum;
	ZSTD_CCtx *zstd;
	uint64_t bits;           /* bits that do not fill a byte yet, the first one lowest */
	unsigned nbit;
	size_t n;                /* bytes in at[] */
	uint8_t at[ROOM], out[ROOM];
};

struct sink *
sink_new(void)
{
	struct sink *s = xcalloc(1, sizeof *s);

	s->zstd = ZSTD_createCCtx();
	if (!s->zstd)
		die("zstd", "out of memory");
	ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, LEVEL);
	return s;
}

void
sink_free(struct sink *s)
{
	if (s)
		ZSTD_freeCCtx(s->zstd);
	free(s);
}

static void
compress(struct sink *s, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = {s->at, s->n, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {s->out, sizeof s->out, 0};

		left = ZSTD_compressStream2(s->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			bug("zstd: %s", ZSTD_getErrorName(left));
		s->sum.compressed += out.pos;
	} while (how == ZSTD_e_end ? left : in.pos < in.size);
	s->sum.bytes += s->n;
	s->n = 0;
}

static void
put_byte(struct sink *s, uint8_t byte)
{
	s->at[s->n++] = byte;
	if (s->n == ROOM)
		compress(s, ZSTD_e_continue);
}

static void
put_whole(struct sink *s, const uint8_t *at, size_t n)
{
	while (n) {
		size_t part = n < ROOM - s->n ? n : ROOM - s->n;

		memcpy(s->at + s->n, at, part);
		s->n += part;
		at += part;
		n -= part;
		if (s->n == ROOM)
			compress(s, ZSTD_e_continue);
	}
}

void
sink_put(struct sink *s, uint64_t writes, uint64_t bits, const uint8_t *at)
{
	s->sum.writes += writes;
	s->sum.bits += bits;
	if (!s->nbit && bits % 8 == 0) {
		put_whole(s, at, bits / 8);
		return;
	}
	for (; bits; at++) {
		unsigned n = bits < 8 ? (unsigned)bits : 8;

		s->bits |= (uint64_t)*at << s->nbit;
		s->nbit += n;
		bits -= n;
		if (s->nbit >= 8) {
			put_byte(s, (uint8_t)s->bits);
			s->bits >>= 8;
			s->nbit -= 8;
		}
	}
}

void
sink_end(struct sink *s)
{
	if (s->nbit)
		put_byte(s, (uint8_t)s->bits);
	s->bits = s->nbit = 0;
	if (s->n || s->sum.bytes)
		compress(s, ZSTD_e_end);
}

struct encoding_sum
sink_sum(const struct sink *s)
{
	return s->sum;
}
