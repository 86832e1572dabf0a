/* SPDX-License-Identifier: MIT */
/* Values for the commands that print JSON. */
#ifndef CHORD_JSON_H
#define CHORD_JSON_H

#include "view/view.h"

#include <jansson.h>

/* What a command prints (docs/schema/output.json): an object with its name and the version of its form. */
json_t *js_document(const char *command);
/* Names are bytes: what is no UTF-8 gets a question mark for each byte of it that is not ASCII. */
json_t *js_text(const char *s);
json_t *js_texts(const char *const *at, size_t n);
/* null for a count that is not known, or that does not fit the library's integers (2^63 and above). */
json_t *js_number(uint64_t n, bool known);
/* Under its name if it is exact; else that is null, and NAME_at_least and NAME_at_most (null: it has no bound) are set. */
void js_set_bounds(json_t *o, const char *name, uint64_t least, uint64_t most, bool known);
void js_set_total(json_t *o, const char *name, const struct bounds *t, bool known);
/* A function: its symbol under the key, and what its source calls it under KEY_demangled (of the key "name": demangled). */
void js_set_function(json_t *o, const char *key, const char *symbol);
/* A vertex of a procedure's graph: the number of a block, or "entry", "exit", "hub". */
json_t *js_vertex(const struct proc *p, uint32_t v);
/* Has that second name too, if it is a symbol that has one. */
json_t *js_named(const char *name, const char *reason);
json_t *js_named_list(const struct named *at, size_t n);
/* These take the value over. */
void js_set(json_t *o, const char *key, json_t *value);
void js_append(json_t *a, json_t *value);
/* Prints it and frees it. False: it could not be written whole. */
bool js_print(json_t *o, FILE *to);
/* The same to standard output. False: reported. */
bool js_print_whole(json_t *o);
/* On one line, which may wait for others before it is written. */
bool js_line(json_t *o, FILE *to);

#endif
