/* SPDX-License-Identifier: MIT */
/* Reads bytes; every number is checked before use. */
#include "cfg/in.h"

#include <string.h>

size_t
in_left(const struct in *in)
{
	return in->bad ? 0 : (size_t)(in->end - in->at);
}

void
in_bad(struct in *in, const char *why)
{
	if (!in->bad)
		in->bad = why;
}

void
in_bytes(struct in *in, void *to, size_t n)
{
	if (in_left(in) < n) {
		in_bad(in, "it ends too early");
		memset(to, 0, n);
		return;
	}
	memcpy(to, in->at, n);
	in->at += n;
}

uint64_t
in_uleb(struct in *in)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		unsigned char c;

		in_bytes(in, &c, 1);
		if (shift == 63 && c > 1)
			break;
		v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return v;
	}
	in_bad(in, "a number does not fit 64 bits");
	return 0;
}

/* A number below a limit. */
uint32_t
in_below(struct in *in, uint64_t limit, const char *what)
{
	uint64_t v = in_uleb(in);

	if (v >= limit) {
		in_bad(in, what);
		return 0;
	}
	return (uint32_t)v;
}

/* The number of items that follow, each of at least min bytes. */
uint32_t
in_number(struct in *in, size_t min)
{
	uint64_t v = in_uleb(in);

	if (v > in_left(in) / min || v > UINT32_MAX / 2) {
		in_bad(in, "it announces more than it holds");
		return 0;
	}
	return (uint32_t)v;
}

/* A text; characters that could do harm on a terminal become blanks. */
const char *
in_string(struct in *in)
{
	uint32_t n = in_number(in, 1);
	char *s = pool_strndup(in->pool, (const char *)in->at, n);

	in->at += n;
	for (uint32_t i = 0; i < n; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
			s[i] = ' ';
	return s;
}

int64_t
in_signed(struct in *in)
{
	uint64_t v = in_uleb(in);

	return (int64_t)(v >> 1 ^ -(v & 1));
}
