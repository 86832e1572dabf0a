/* SPDX-License-Identifier: MIT */
/* Values for the commands that print JSON. Without memory these functions end the process. */
#ifndef CHORD_JSON_H
#define CHORD_JSON_H

#include "view/view.h"

#include <jansson.h>

/* What a command prints (docs/schema/output.json): a new object with the command's name and the version of its form. */
json_t *js_document(const char *command);
/* A string. Names are bytes: in a name that is not UTF-8 each byte outside of ASCII becomes a question mark. */
json_t *js_text(const char *s);
json_t *js_texts(const char *const *at, size_t n);
/* A number; null if the count is not known, or does not fit in the library's integers (2^63 and above). */
json_t *js_number(uint64_t n, bool known);
/* Sets o.NAME if the number is exact. Otherwise that is null, and NAME_at_least and NAME_at_most (null: no bound) are set. */
void js_set_bounds(json_t *o, const char *name, uint64_t least, uint64_t most, bool known);
void js_set_total(json_t *o, const char *name, const struct bounds *t, bool known);
/* Sets a function's symbol as o.KEY, and its source name as o.KEY_demangled (o.demangled if the key is "name"). */
void js_set_function(json_t *o, const char *key, const char *symbol);
/* A vertex of a procedure's graph: the number of a block, or "entry", "exit", "hub". */
json_t *js_vertex(const struct proc *p, uint32_t v);
/* An object with name and reason, and the name's source name if it is a symbol that has one. */
json_t *js_named(const char *name, const char *reason);
json_t *js_named_list(const struct named *at, size_t n);
/* These take over the value. */
void js_set(json_t *o, const char *key, json_t *value);
void js_append(json_t *a, json_t *value);
/* Prints a value and frees it. False: it could not be written completely. */
bool js_print(json_t *o, FILE *to);
/* The same to standard output. False: reported. */
bool js_print_whole(json_t *o);
/* The same on one line, which may be buffered with others before it is written. */
bool js_line(json_t *o, FILE *to);

#endif
