/* SPDX-License-Identifier: MIT */
/* Bytes being read. Once bad is set all that is read is zero, so that checks may come late; nothing is allocated from a
 * number before it was compared with the bytes that are left. */
#ifndef CHORD_CFG_IN_H
#define CHORD_CFG_IN_H

#include "base/base.h"

struct in {
	const unsigned char *at, *end;
	struct pool *pool;
	const char *bad;
	const char *name;        /* of the procedure, once known */
};
size_t in_left(const struct in *in);
void in_bad(struct in *in, const char *why);
void in_bytes(struct in *in, void *to, size_t n);
uint64_t in_uleb(struct in *in);
int64_t in_signed(struct in *in);
uint32_t in_below(struct in *in, uint64_t limit, const char *what); /* a number below a limit */
uint32_t in_number(struct in *in, size_t min); /* how many of something follow, each of at least min bytes */
const char *in_string(struct in *in);          /* what could do harm on a terminal becomes blank */

#endif
