/* SPDX-License-Identifier: MIT */
/* Bytes being read. Once `bad` is set everything read is zero, so that checks can come late. Nothing is allocated by a number
 * before it was compared with the bytes that are left. */
#ifndef CHORD_CFG_IN_H
#define CHORD_CFG_IN_H

#include "base/base.h"

struct in {
	const unsigned char *at, *end;
	struct pool *pool;
	const char *bad;         /* the first error; NULL: none */
	const char *name;        /* of the procedure, once known; for messages */
};
size_t in_left(const struct in *in); /* bytes not read yet */
void in_bad(struct in *in, const char *why); /* sets bad, if it is not set */
void in_bytes(struct in *in, void *to, size_t n); /* bytes that are missing are zero */
uint64_t in_uleb(struct in *in); /* unsigned LEB128 */
int64_t in_signed(struct in *in); /* as buf_zigzag() writes it */
uint32_t in_below(struct in *in, uint64_t limit, const char *what); /* a number below a limit; else bad, and 0 */
uint32_t in_number(struct in *in, size_t min); /* a number of items that follow, each of at least min bytes */
const char *in_string(struct in *in);          /* in the pool; what could harm a terminal becomes a blank */

#endif
