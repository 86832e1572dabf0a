/* SPDX-License-Identifier: MIT */
/* What the files of `chord paths` share. */
#ifndef CHORD_PATHS_H
#define CHORD_PATHS_H

#include "tool/json.h"
#include "tool/print.h"
#include "view/paths.h"

struct paths_options {
	const char *function;    /* a pattern; NULL: all */
	size_t top;              /* 0: all */
	bool json, coverage, branches, def_use, source;
};

/* text.c, json.c: all paths of a run. False: it could not be written. */
void paths_print(const struct view_paths *r, const struct paths_options *opt);
bool paths_json(const struct view_paths *r, const struct paths_options *opt);
/* What of it is not known; `of` follows the titles. */
void paths_print_doubts(const struct view_paths *r, const char *of);
/* One of them. */
void paths_print_heading(bool share);
void paths_print_row(const struct view_path *row, uint64_t all, bool source);
/* What of it is not known, as fields of an object. */
void paths_json_doubts(json_t *o, const struct view_paths *r);
json_t *paths_json_row(const struct view_path *row);

/* def_use.c: pairs of definition and use, as text behind the totals, and as fields of an object. */
void paths_print_def_use(const struct view_paths *r, size_t top);
void paths_json_def_use(json_t *o, const struct view_paths *r, size_t top);
/* text.c: a list of procedures with reasons, if there are any. */
void paths_print_named(const char *title, const char *of, const struct named *at, size_t n);

/* source.c: the text of lines. */
void paths_print_source(const struct view_places *lines, int indent);

/* diff.c: of a program and two profiles. The exit status. */
int paths_diff(const struct paths_options *opt, char **name);

/* select.c, split.c, merge.c: subcommands. */
int cmd_paths_select(int argc, char **argv);
int cmd_paths_split(int argc, char **argv);
int cmd_paths_merge(int argc, char **argv);

#endif
