/* SPDX-License-Identifier: MIT */
/* What commands print with, and the options that several have. */
#ifndef CHORD_PRINT_H
#define CHORD_PRINT_H

#include "tool/tool.h"
#include "view/view.h"

#include <argp.h>

/* Children of argp: --no-demangle; that and, for commands that use shown_name(), --full-names. */
extern const struct argp_child print_names[], print_names_in_rows[];
/* A symbol as people read it, in a row of a table: on a terminal long names are shortened, unless --full-names is given. */
const char *shown_name(const char *symbol);

/* A count, or its bounds: "5", "5 to 6", or "5 or more" where most is COUNT_NO_BOUND. */
enum { RANGE = 80 };
const char *range(char out[RANGE], uint64_t least, uint64_t most);
/* Paths below the current folder are shown relative to it. */
const char *shown_path(const char *path);
/* Is the text a number, in decimal, within bounds? */
bool number_read(const char *text, uint64_t least, uint64_t most, uint64_t *n);
/* The value of --top, a number of rows, paths ...; what is none ends the program with its usage. */
size_t option_top(const char *text, const char *of, struct argp_state *state);

/* Is all there that was written to it? False: reported, once. name NULL: standard output. */
bool print_whole(const char *name, FILE *to);
/* The same of standard output when the program ends: its status is EXIT_NO if something is missing that nobody has reported. */
void print_ends(void);

/* Writes a file, or with NULL standard output. False: reported. */
bool save_output(const char *file, const struct buf *out);

/* A line of source; what could do harm on a terminal becomes blank. */
void print_source(struct str text);

/* A name as Markdown has it: what would end a cell or begin something is none of that. */
void put_escaped(const char *s);

/* The program and the profiles that were summed or left out. */
void print_run_profiles(const struct run *run);
/* Procedures and objects that are in no sum, and what a reader has to know of how the runs ended. */
void print_run_unknown(const struct run *run);
void print_run_notes(const struct run *run);

#endif
