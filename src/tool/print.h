/* SPDX-License-Identifier: MIT */
/* How commands print, and options that several of them have. */
#ifndef CHORD_PRINT_H
#define CHORD_PRINT_H

#include "tool/tool.h"
#include "view/view.h"

#include <argp.h>

/* Children of argp: --no-demangle; and for commands that use shown_name() also --full-names. */
extern const struct argp_child print_names[], print_names_in_rows[];
/* The text, or if it has control characters, which could harm a terminal and end a row, a copy with blanks in their place. */
const char *plain_text(const char *text);
/* A symbol in readable form without control characters, for a row of a table: on a terminal long names are shortened, unless
 * --full-names is given. */
const char *shown_name(const char *symbol);
/* The same at full length. */
const char *plain_name(const char *symbol);

/* Writes a count or its bounds to out: "5", "5 to 6", or "5 or more" if `most` is COUNT_NO_BOUND. Returns out. */
enum { RANGE = 80 };
const char *range(char out[RANGE], uint64_t least, uint64_t most);
/* The word for n things: `one` for one of them, else `more`. */
const char *of_many(uint64_t n, const char *one, const char *more);
/* The path relative to the current folder if it lies below, else the path itself. */
const char *path_from_here(const char *path);
/* The same to be printed, as plain_text(). */
const char *shown_path(const char *path);
/* Reads a decimal number from `least` to `most`. False: it is no such number. */
bool number_read(const char *text, uint64_t least, uint64_t most, uint64_t *n);
/* The value of --top, a number of rows, paths ... (`of`). If it is no number the program ends with its usage. */
size_t option_top(const char *text, const char *of, struct argp_state *state);

/* True if everything that was printed to the file has been written. False: reported, once. name NULL: standard output. */
bool print_whole(const char *name, FILE *to);
/* For atexit(): ends the process with EXIT_NO if part of standard output could not be written, which is reported unless it was
 * before. */
void print_ends(void);

/* May output replace the file of that name, or is it one that nobody can want to lose for it: a program, a library, or what a
 * process has left of its run? False: reported. */
bool may_replace(const char *file);
/* Writes a file that may be replaced, or with NULL standard output. False: reported. */
bool save_output(const char *file, const struct buf *out);

/* Warns if sources that were shown were changed after the program was built. */
void warn_of_newer_sources(const struct run *run);
/* Prints a line of source; what could harm a terminal becomes blank. */
void print_source(struct str text);

/* Prints a name so that Markdown takes nothing in it for markup or the end of a cell. */
void put_escaped(const char *s);

/* Prints the program, and the profiles that were summed or left out. */
void print_run_profiles(const struct run *run);
/* Of n names, at least one: how many follow each other with the reason of the first one. *shown: so many of them are named, to keep
 * a list short. */
size_t print_group(const struct named *at, size_t n, size_t *shown);
/* Print procedures and objects that are in no sum, and what a reader has to know of how the runs ended. */
void print_run_unknown(const struct run *run);
void print_run_notes(const struct run *run);

#endif
