/* SPDX-License-Identifier: MIT */
/* Texts as XML, JSON and their like have them. Names are bytes, and these want UTF-8 without control characters: of what is none,
 * each byte that is not ASCII becomes a question mark, as do control characters. */
#ifndef CHORD_EXPORT_VALUE_H
#define CHORD_EXPORT_VALUE_H

#include "base/base.h"

#include <jansson.h>

/* In the pool. */
const char *value_utf8(struct pool *pool, const char *s);
/* Appends an attribute's value, without quotation marks. */
void value_xml(struct pool *pool, struct buf *out, const char *s);
json_t *value_text(struct pool *pool, const char *s);
/* null above 2^63 - 1, the library's largest number. */
json_t *value_number(uint64_t n);
/* Appends a value on one line, without a newline, and frees it. */
void value_put(struct buf *out, json_t *value);

#endif
