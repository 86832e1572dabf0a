/* SPDX-License-Identifier: MIT */
/* Compression in gzip's format. The same input always gives the same output. */
#include "export/export.h"

#include <zlib.h>

enum { GZIP = 16 };

void
export_gzip(const struct buf *in, struct buf *out)
{
	z_stream z = {0};
	int status;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		die("memory", "out of memory");
	for (size_t at = 0;;) {
		uInt room = 1U << 16, some = in->n - at < room ? (uInt)(in->n - at) : room;

		z.next_in = (Bytef *)in->at + at;
		z.avail_in = some;
		at += some;
		do {
			buf_reserve(out, room);
			z.next_out = (Bytef *)out->at + out->n;
			z.avail_out = room;
			status = deflate(&z, at == in->n ? Z_FINISH : Z_NO_FLUSH);
			out->n += room - z.avail_out;
		} while (!z.avail_out);
		if (status == Z_STREAM_END)
			break;
	}
	deflateEnd(&z);
}
