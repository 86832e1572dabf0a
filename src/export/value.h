/* SPDX-License-Identifier: MIT */
/* Texts in XML, JSON and the like. Names are bytes, but these formats need UTF-8 without control characters. In a name that is not
 * such a text, each control character and each byte outside of ASCII becomes a question mark. */
#ifndef CHORD_EXPORT_VALUE_H
#define CHORD_EXPORT_VALUE_H

#include "base/base.h"

#include <jansson.h>

/* That text: s itself if it is fit, else a copy (pool). */
const char *value_utf8(struct pool *pool, const char *s);
/* Appends an attribute's value, without quotation marks. */
void value_xml(struct pool *pool, struct buf *out, const char *s);
/* A new JSON string. */
json_t *value_text(struct pool *pool, const char *s);
/* A new JSON number; null above 2^63 - 1, the library's largest number. */
json_t *value_number(uint64_t n);
/* Appends a value on one line, without a newline, and frees it. */
void value_put(struct buf *out, json_t *value);

#endif
