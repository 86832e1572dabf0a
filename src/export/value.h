/* SPDX-License-Identifier: MIT */
/* Texts as XML and JSON have them. Names are bytes, and both want UTF-8: each byte of what is none becomes a question mark. */
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
