/* SPDX-License-Identifier: MIT */
/* Source files as texts of lines. */
#ifndef CHORD_SOURCE_H
#define CHORD_SOURCE_H

#include "base/base.h"

/* The text of line `line` of a file, without its newline. False: it cannot be had. The file is read once; source_free()
 * forgets all. */
bool source_line(const char *file, unsigned line, struct str *text);
/* Lines in the file; 0: it cannot be read. */
size_t source_lines(const char *file);
/* Prints it; what could do harm on a terminal becomes blank. */
void source_put(struct str text);
void source_free(void);

#endif
